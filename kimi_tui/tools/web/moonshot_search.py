"""Client for Moonshot's search service.

A request is a `POST` with a bearer token and
`{"text_query", "limit", "enable_page_crawling", "timeout_seconds"}`. The response is
`{"search_results": [{"title", "url", "snippet", "date", "site_name", ...}]}`. kimi-cli sends the same to its
`services.moonshot_search.base_url`.
"""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ValidationError

from kimi_tui.base.errors import WebProblem
from kimi_tui.tools.web.limited_body import ACCEPTED_ENCODINGS, read_body
from kimi_tui.tools.web.proxy import find_proxy
from kimi_tui.tools.web.search import SearchHit
from kimi_tui.tools.web.untrusted_text import neutralize

_TIMEOUT_S = 30
_MAX_BYTES = 4_000_000


class _Result(BaseModel):
    title: str | None = None
    url: str
    snippet: str | None = None
    date: str | None = None


class _SearchResponse(BaseModel):
    search_results: list[_Result] | None


class MoonshotSearch:
    """Searches with Moonshot's service at `base_url`."""

    def __init__(self, *, base_url: str, api_key: str, headers: Mapping[str, str]) -> None:
        self._base_url = base_url
        self._headers = {"Authorization": f"Bearer {api_key}", **headers}

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        """Return at most `limit` hits. Raises WebProblem."""
        import httpx

        try:
            results = (
                _SearchResponse.model_validate_json(await self._post_query(query, limit)).search_results or []
            )
        except ValidationError as error:
            raise _to_search_error("invalid response") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _to_search_error(neutralize(str(error))[:200] or type(error).__name__) from error
        return [
            SearchHit(
                title=result.title or result.url,
                url=result.url,
                summary=result.snippet or "",
                date=result.date or "",
            )
            for result in results[:limit]
        ]

    async def _post_query(self, query: str, limit: int) -> bytes:
        import httpx

        from kimi_tui.tools.web.http_client import build_client

        target = httpx.URL(self._base_url)
        async with await build_client(find_proxy(target.scheme, target.host)) as client:
            request = {
                "text_query": query,
                "limit": limit,
                "enable_page_crawling": False,
                "timeout_seconds": _TIMEOUT_S,
            }
            headers = {"Accept-Encoding": ACCEPTED_ENCODINGS, **self._headers}
            async with client.stream(
                "POST", target, json=request, headers=headers, timeout=_TIMEOUT_S + 5
            ) as response:
                _require_success(response.status_code)
                encoding = response.headers.get("content-encoding", "")
                body = await read_body(response.aiter_raw(), encoding=encoding, limit=_MAX_BYTES)
        return body.data


def _require_success(status: int) -> None:
    match status:
        case 200:
            return
        case 401 | 403:
            raise WebProblem(
                "Moonshot's search service rejected the API key.",
                hint="Tell the user to check api_key in [services.moonshot_search].",
            )
        case _:
            raise _to_search_error(f"status {status}")


def _to_search_error(reason: str) -> WebProblem:
    return WebProblem(
        f"Moonshot's search service failed: {reason}.",
        hint="Try again later, fetch a URL that you know, or use the local files.",
    )
