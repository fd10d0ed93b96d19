"""Moonshot's search service.

A request is `POST` with a bearer key and
`{"text_query", "limit", "enable_page_crawling", "timeout_seconds"}`; the answer is
`{"search_results": [{"title", "url", "snippet", "date", "site_name", ...}]}`. This is what
kimi-cli sends to the address in its `services.moonshot_search.base_url`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from kimi_tui.base.errors import WebProblem
from kimi_tui.tools.web.body import ACCEPTED_ENCODINGS, read_body
from kimi_tui.tools.web.connection import new_client, proxy_for
from kimi_tui.tools.web.search import Hit
from kimi_tui.tools.web.untrusted import harmless

if TYPE_CHECKING:
    import httpx

_SECONDS = 30
_MOST_BYTES = 4_000_000


class _Result(BaseModel):
    title: str | None = None
    url: str
    snippet: str | None = None
    date: str | None = None


class _Answer(BaseModel):
    search_results: list[_Result] | None


class MoonshotSearch:
    """Searches with Moonshot's service at `base_url`."""

    def __init__(self, *, base_url: str, api_key: str, headers: Mapping[str, str]) -> None:
        self._base_url = base_url
        self._headers = {"Authorization": f"Bearer {api_key}", **headers}

    async def search(self, query: str, *, limit: int) -> Sequence[Hit]:
        """At most `limit` hits. Raises WebProblem."""
        import httpx

        try:
            results = _Answer.model_validate_json(await self._ask(query, limit)).search_results or []
        except ValidationError as error:
            raise _failed("its answer isn't understood") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _failed(harmless(str(error))[:200] or type(error).__name__) from error
        return [
            Hit(
                title=found.title or found.url,
                url=found.url,
                summary=found.snippet or "",
                date=found.date or "",
            )
            for found in results[:limit]
        ]

    async def _ask(self, query: str, limit: int) -> bytes:
        import httpx

        target = httpx.URL(self._base_url)
        async with await new_client(proxy_for(target.scheme, target.host)) as client:
            question = {
                "text_query": query,
                "limit": limit,
                "enable_page_crawling": False,
                "timeout_seconds": _SECONDS,
            }
            headers = {"Accept-Encoding": ACCEPTED_ENCODINGS, **self._headers}
            async with client.stream(
                "POST", target, json=question, headers=headers, timeout=_SECONDS + 5
            ) as response:
                _require_success(response)
                encoding = response.headers.get("content-encoding", "")
                body = await read_body(response.aiter_raw(), encoding=encoding, limit=_MOST_BYTES)
        return body.data


def _require_success(response: "httpx.Response") -> None:
    match response.status_code:
        case 200:
            return
        case 401 | 403:
            raise WebProblem(
                "Moonshot's search service refuses the key.",
                hint="Tell the user to check api_key in [services.moonshot_search].",
            )
        case status:
            raise _failed(f"it answers {status}")


def _failed(reason: str) -> WebProblem:
    return WebProblem(
        f"Moonshot's search service can't be used: {reason}.",
        hint="Try again later, fetch an address that you know, or work with what is on this machine.",
    )
