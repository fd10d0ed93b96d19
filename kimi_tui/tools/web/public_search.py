"""Search with public search engines, which need no API key."""

from collections.abc import Sequence

from kimi_tui.base.errors import WebProblem
from kimi_tui.tools.web.proxy import find_proxy
from kimi_tui.tools.web.search import SearchHit
from kimi_tui.tools.web.untrusted_text import neutralize
from kimi_tui.tools.web.worker_process import WorkerFailed, run_worker

_TIMEOUT_S = 25.0
_HINT = (
    "Try again later, fetch a URL that you know, or use the local files. The user can set up Moonshot's"
    " search service in [services.moonshot_search]."
)


class PublicSearch:
    """Searches with DuckDuckGo and similar engines. If one rejects the query, the next one is used."""

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        """Return at most `limit` hits. Raises WebProblem."""
        request = {"query": query, "limit": limit, "proxy": find_proxy("https", "duckduckgo.com")}
        try:
            response = await run_worker(
                "kimi_tui.tools.web.public_search_worker", request, timeout_s=_TIMEOUT_S
            )
        except TimeoutError as error:
            raise WebProblem(f"No search engine responded within {_TIMEOUT_S:g} s.", hint=_HINT) from error
        except WorkerFailed as error:
            raise WebProblem(f"The web search failed: {error}.", hint=_HINT) from error
        if response["problem"]:
            # The text after the first parenthesis or colon contains internal details.
            reason = neutralize(response["problem"]).partition("(")[0].partition(":")[0]
            raise WebProblem(f"No search engine could be reached: {reason}.", hint=_HINT)
        return [
            SearchHit(title=hit["title"], url=hit["href"], summary=hit["body"]) for hit in response["hits"]
        ]
