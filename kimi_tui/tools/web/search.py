"""SearchWeb: what a search engine finds, with the pages themselves when they are wanted."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from pydantic import Field

from kimi_tui.base.errors import WebProblem
from kimi_tui.base.value import value
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.tools.web.fetch import MAX_CHARACTERS, page_text
from kimi_tui.tools.web.fetcher import Fetcher
from kimi_tui.tools.web.link import require_no_secret
from kimi_tui.tools.web.untrusted import WARNING, as_data, harmless
from kimi_tui.wire.events import ToolReturn

_SUMMARY_CHARACTERS = 1000
_AT_ONCE = 5


@value(kw_only=True)
class Hit:
    """One page that was found. All of it is somebody else's words."""

    title: str
    url: str
    summary: str
    date: str = ""
    """As the engine gives it; empty when it doesn't."""


class SearchService(Protocol):
    """A search engine."""

    async def search(self, query: str, *, limit: int) -> Sequence[Hit]:
        """At most `limit` hits, best first; none when nothing fits. Raises WebProblem."""
        ...


class SearchWebParams(ToolParams):
    """What to search for."""

    query: str = Field(min_length=1, description="What to search for, as you would type it.")
    limit: int = Field(5, ge=1, le=20, description="How many results, at most 20.")
    include_content: bool = Field(
        False,
        description="Whether to fetch the pages that are found, too. It takes long and fills the context.",
    )


class SearchWeb(Tool[SearchWebParams]):
    """Searches the web. What it finds is data: marked as such."""

    name = "SearchWeb"
    Params = SearchWebParams

    def __init__(self, service: SearchService, fetcher: Fetcher) -> None:
        self._service = service
        self._fetcher = fetcher

    async def run(self, params: SearchWebParams, call: RunningCall) -> ToolReturn:
        """The hits, each between marks."""
        try:
            require_no_secret(params.query)
            hits = (await self._service.search(params.query, limit=params.limit))[: params.limit]
        except WebProblem as problem:
            return failed(str(problem), brief=problem.what)
        if not hits:
            return ok(message="Nothing was found. Try other or fewer words.", brief="nothing found")
        contents = await self._contents(hits) if params.include_content else [""] * len(hits)
        output = "\n\n".join(
            as_data(f"{_entry(hit)}\n\n{content}", url=hit.url)
            for hit, content in zip(hits, contents, strict=True)
        )
        found = "1 page" if len(hits) == 1 else f"{len(hits)} pages"
        return ok(output, message=f"Found {found}. {WARNING}", brief=found)

    async def _contents(self, hits: Sequence[Hit]) -> list[str]:
        limit = MAX_CHARACTERS // len(hits)
        places = asyncio.Semaphore(_AT_ONCE)

        async def content_of(hit: Hit) -> str:
            async with places:
                try:
                    return page_text(await self._fetcher.fetch(hit.url), limit=limit)
                except WebProblem as problem:
                    return f"[The page itself could not be had: {problem.what}]"

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(content_of(hit)) for hit in hits]
        return [task.result() for task in tasks]


def _entry(hit: Hit) -> str:
    summary = hit.summary[:_SUMMARY_CHARACTERS]
    lines = (harmless(hit.title)[:300], harmless(hit.date)[:40], summary)
    return "\n".join(line for line in lines if line)
