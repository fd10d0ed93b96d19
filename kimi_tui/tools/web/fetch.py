"""FetchURL: a page of the web as Markdown text."""

from pydantic import Field

from kimi_tui.base.errors import WebProblem
from kimi_tui.tools.file.size import readable_size
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.tools.web.fetcher import Fetcher, Page
from kimi_tui.tools.web.link import require_no_secret
from kimi_tui.tools.web.untrusted import WARNING, as_data, harmless
from kimi_tui.wire.events import ToolReturn

MAX_CHARACTERS = 50_000


class FetchURLParams(ToolParams):
    """What to fetch."""

    url: str = Field(description="The page's address, with http:// or https://.")


class FetchURL(Tool[FetchURLParams]):
    """Fetches a page. It is data: marked as such, and never more than the model can hold."""

    name = "FetchURL"
    Params = FetchURLParams

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    async def run(self, params: FetchURLParams, call: RunningCall) -> ToolReturn:
        """The page's text between marks; the message says what it is."""
        try:
            require_no_secret(params.url)
            page = await self._fetcher.fetch(params.url)
        except WebProblem as problem:
            return failed(str(problem), brief=problem.what)
        text = page_text(page, limit=MAX_CHARACTERS)
        size = readable_size(len(page.text.encode("utf-8", "replace")))
        title = f"“{harmless(page.title)[:200]}”" if page.title else page.media_type
        if not page.text.strip():
            return ok(
                message=f"{harmless(page.url)} ({title}) has no text; it may be built by a script.",
                brief="no text",
            )
        return ok(
            as_data(text, url=page.url),
            message=f"The page {title}, {size} of text, follows. {WARNING}",
            brief=f"{title}, {size}",
        )


def page_text(page: Page, *, limit: int) -> str:
    """The text of `page`, at most `limit` characters of it, with a last line that says what is missing."""
    if len(page.text) > limit:
        return f"{page.text[:limit]}\n[Cut here: the text has {len(page.text):,} characters.]"
    if page.is_cut:
        return f"{page.text}\n[Cut here: the page is larger than what is read of one.]"
    return page.text
