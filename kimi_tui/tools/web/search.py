"""SearchWeb: searches the web and optionally fetches the pages found."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from pydantic import Field

from kimi_tui.base.errors import WebProblem
from kimi_tui.base.frozen import frozen
from kimi_tui.permission.subject import SearchSubject
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.tools.web.fetch import MAX_CHARACTERS, format_page
from kimi_tui.tools.web.page_fetcher import PageFetcher
from kimi_tui.tools.web.untrusted_text import WARNING, mark_untrusted, neutralize
from kimi_tui.tools.web.url import reject_secret_url
from kimi_tui.wire.display_blocks import BriefBlock
from kimi_tui.wire.events import ToolReturn

_MAX_SUMMARY_CHARS = 1000
_MAX_CONCURRENT = 5


@frozen(kw_only=True)
class SearchHit:
    """A page found by a search. All of it is untrusted."""

    title: str
    url: str
    summary: str
    date: str = ""
    """As the engine returns it; may be empty."""


class SearchService(Protocol):
    """A search engine."""

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        """Return at most `limit` hits, best first. Raises WebProblem."""
        ...


class SearchWebParams(ToolParams):
    """Parameters of SearchWeb."""

    query: str = Field(min_length=1, description="The query, as you would type it into a search engine.")
    limit: int = Field(5, ge=1, le=20, description="Number of results, at most 20.")
    include_content: bool = Field(
        False,
        description="Whether to fetch the pages as well. This is slow and fills the context.",
    )


class SearchWeb(Tool[SearchWebParams]):
    """Searches the web. The results are marked as untrusted data."""

    name = "SearchWeb"
    Params = SearchWebParams

    def __init__(self, service: SearchService, fetcher: PageFetcher, approval: Approval) -> None:
        self._service = service
        self._fetcher = fetcher
        self._approval = approval

    async def run(self, params: SearchWebParams, call: CallContext) -> ToolReturn:
        """Return the hits, each within tags that mark it as untrusted."""
        try:
            reject_secret_url(params.query)
            await self._approval.request(
                call,
                action="search the web",
                description=f"Search for {neutralize(params.query)}",
                subject=SearchSubject(),
                display=(BriefBlock(neutralize(params.query)),),
            )
            hits = (await self._service.search(params.query, limit=params.limit))[: params.limit]
        except WebProblem as problem:
            return failure(str(problem), brief=problem.what)
        if not hits:
            return success(message="No results. Try different or fewer words.", brief="no results")
        contents = await self._fetch_contents(hits) if params.include_content else [""] * len(hits)
        output = "\n\n".join(
            mark_untrusted(f"{_format_hit(hit)}\n\n{content}", url=hit.url)
            for hit, content in zip(hits, contents, strict=True)
        )
        count = "1 page" if len(hits) == 1 else f"{len(hits)} pages"
        return success(output, message=f"Found {count}. {WARNING}", brief=count)

    async def _fetch_contents(self, hits: Sequence[SearchHit]) -> list[str]:
        limit = MAX_CHARACTERS // len(hits)
        semaphore = asyncio.Semaphore(_MAX_CONCURRENT)

        async def fetch_content(hit: SearchHit) -> str:
            async with semaphore:
                try:
                    return format_page(await self._fetcher.fetch(hit.url), limit=limit)
                except WebProblem as problem:
                    return f"[The page could not be fetched: {problem.what}]"

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(fetch_content(hit)) for hit in hits]
        return [task.result() for task in tasks]


def _format_hit(hit: SearchHit) -> str:
    summary = hit.summary[:_MAX_SUMMARY_CHARS]
    lines = (neutralize(hit.title)[:300], neutralize(hit.date)[:40], summary)
    return "\n".join(line for line in lines if line)
