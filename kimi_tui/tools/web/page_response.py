"""Response of a server with a page."""

from kimi_tui.base.frozen import frozen
from kimi_tui.tools.web.content_type import ContentType
from kimi_tui.tools.web.limited_body import LimitedBody


@frozen
class PageResponse:
    """A response, whose body may be truncated."""

    url: str
    """After redirects."""
    content_type: ContentType
    body: LimitedBody
