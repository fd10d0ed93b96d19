"""FetchURL: fetches a web page as Markdown."""

from pydantic import Field

from kimi_tui.base.errors import WebProblem
from kimi_tui.permission.subject import WebSubject
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.result_messages import format_size
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.tools.web.page_fetcher import FetchedPage, PageFetcher
from kimi_tui.tools.web.untrusted_text import WARNING, mark_untrusted, neutralize
from kimi_tui.tools.web.url import format_url, reject_secret_url, require_domain
from kimi_tui.wire.display_blocks import BriefBlock
from kimi_tui.wire.events import ToolReturn

MAX_CHARACTERS = 50_000


class FetchURLParams(ToolParams):
    """Parameters of FetchURL."""

    url: str = Field(description="The URL of the page, including http:// or https://.")


class FetchURL(Tool[FetchURLParams]):
    """Fetches a page with the user's approval. The result is marked as untrusted data and limited in size."""

    name = "FetchURL"
    Params = FetchURLParams

    def __init__(self, fetcher: PageFetcher, approval: Approval) -> None:
        self._fetcher = fetcher
        self._approval = approval

    async def run(self, params: FetchURLParams, call: CallContext) -> ToolReturn:
        """Return the page's text within tags that mark it as untrusted."""
        try:
            reject_secret_url(params.url)
            domain = require_domain(params.url)
            await self._approval.request(
                call,
                action="fetch a page",
                description=f"Fetch {format_url(params.url)}",
                subject=WebSubject(domain),
                display=(BriefBlock(neutralize(params.url)),),
            )
            page = await self._fetcher.fetch(params.url, domain=domain)
        except WebProblem as problem:
            return failure(str(problem), brief=problem.what)
        text = format_page(page, limit=MAX_CHARACTERS)
        size = format_size(len(page.text.encode("utf-8", "replace")))
        title = f"“{neutralize(page.title)[:200]}”" if page.title else page.media_type
        if not page.text.strip():
            return success(
                message=f"{neutralize(page.url)} ({title}) has no text; it may need JavaScript.",
                brief="no text",
            )
        return success(
            mark_untrusted(text, url=page.url),
            message=f"The page {title} ({size} of text) follows. {WARNING}",
            brief=f"{title}, {size}",
        )


def format_page(page: FetchedPage, *, limit: int) -> str:
    """Return at most `limit` characters of the text of `page`, followed by a notice if it is truncated."""
    if len(page.text) > limit:
        return f"{page.text[:limit]}\n[Truncated: the text has {len(page.text):,} characters.]"
    if page.is_truncated:
        return f"{page.text}\n[Truncated: the page exceeds the size limit.]"
    return page.text
