"""Fetches pages as text: few redirects, limited size, public addresses only."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import field
from ipaddress import ip_address
from typing import TYPE_CHECKING

from kimi_tui.base.errors import WebProblem
from kimi_tui.base.frozen import frozen
from kimi_tui.tools.web.charset import decode_page
from kimi_tui.tools.web.content_type import ContentType, parse_content_type
from kimi_tui.tools.web.html_markdown import extract_text
from kimi_tui.tools.web.http_client import build_client, find_proxy
from kimi_tui.tools.web.limited_body import ACCEPTED_ENCODINGS, LimitedBody, read_body
from kimi_tui.tools.web.public_address import Address, is_public, resolve_host
from kimi_tui.tools.web.untrusted_text import neutralize
from kimi_tui.tools.web.url import format_url, invalid_url, parse_url

if TYPE_CHECKING:
    import httpx

_ACCEPT_HEADER = "text/html, application/xhtml+xml, text/markdown, text/plain, application/json, */*;q=0.5"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LOCAL_HINT = "Use a shell command (curl) for addresses of this machine and its network."


@frozen(kw_only=True)
class FetchLimits:
    """Limits of a fetch."""

    body_bytes: int = 5_000_000
    """After decompression; the rest is dropped."""
    redirects: int = 5
    seconds: float = 30.0
    """For all redirects and the whole body together."""
    extraction_seconds: float = 20.0


@frozen(kw_only=True)
class FetchedPage:
    """A page as text. All of it is untrusted."""

    url: str
    """After redirects."""
    title: str
    """Empty if the page has none."""
    media_type: str
    text: str
    """Markdown if the page was HTML."""
    is_truncated: bool
    """Whether size limits cut the text."""


@frozen
class _PageResponse:
    url: str
    content_type: ContentType
    body: LimitedBody


@frozen
class PageFetcher:
    """Fetches pages. `may_reach` returns whether an address is allowed; `resolve` looks up a host."""

    may_reach: Callable[[Address], bool] = is_public
    resolve: Callable[[str, int], Awaitable[Sequence[Address]]] = resolve_host
    limits: FetchLimits = field(default_factory=FetchLimits)

    async def fetch(self, url: str) -> FetchedPage:
        """Return the page at `url`. Raises WebProblem. If canceled, the connection is closed."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                response = await self._follow_redirects(url)
        except TimeoutError as error:
            raise WebProblem(
                f"{format_url(url)} timed out after {self.limits.seconds:g} s.",
                hint="Try another page, or try again later.",
            ) from error
        return await self._to_page(response)

    async def _follow_redirects(self, url: str) -> _PageResponse:
        import httpx

        target = parse_url(url)
        for _ in range(self.limits.redirects + 1):
            try:
                async with self._open_response(target) as response:
                    if response.status_code not in _REDIRECTS or "location" not in response.headers:
                        return await self._read_response(target, response)
                    target = parse_url(str(target.join(response.headers["location"])))
            except httpx.InvalidURL as error:
                raise invalid_url(str(target)) from error
            except httpx.HTTPError as error:
                raise _to_fetch_error(target, error) from error
        raise WebProblem(
            f"{format_url(url)} redirects more than {self.limits.redirects} times.",
            hint="Try another URL.",
        )

    async def _read_response(self, target: "httpx.URL", response: "httpx.Response") -> _PageResponse:
        _require_content(target, response)
        content_type = parse_content_type(response.headers.get("content-type", ""))
        body = await read_body(
            response.aiter_raw(),
            encoding=response.headers.get("content-encoding", ""),
            limit=self.limits.body_bytes,
        )
        return _PageResponse(str(target), content_type.sniff(body.data), body)

    async def _to_page(self, response: _PageResponse) -> FetchedPage:
        content_type, body = response.content_type, response.body
        text = decode_page(body.data, declared=content_type.charset, is_markup=content_type.is_markup)
        title, is_truncated = "", body.is_truncated
        if content_type.is_html:
            extracted = await extract_text(text, url=response.url, timeout_s=self.limits.extraction_seconds)
            title, text = extracted.title, extracted.text
            is_truncated = is_truncated or extracted.is_truncated
        return FetchedPage(
            url=response.url,
            title=title,
            media_type=content_type.media_type,
            text=text,
            is_truncated=is_truncated,
        )

    @asynccontextmanager
    async def _open_response(self, target: "httpx.URL") -> AsyncIterator["httpx.Response"]:
        """Request `target` and return the response with its body unread."""
        host = target.raw_host.decode("ascii")
        proxy = find_proxy(target.scheme, host)
        addresses = await self._allowed_addresses(target, through_proxy=proxy is not None)
        async with await build_client(proxy) as client:
            response = await _send(client, target, addresses)
            try:
                yield response
            finally:
                await response.aclose()

    async def _allowed_addresses(
        self, target: "httpx.URL", *, through_proxy: bool
    ) -> Sequence[Address | None]:
        """Return the addresses to connect to, so that exactly the checked addresses are used.

        None means the host name: a proxy resolves it again. The proxy never gets a name that resolves to a
        forbidden address here, but it may know names that can't be resolved here.
        """
        host, port = target.raw_host.decode("ascii"), target.port or (443 if target.scheme == "https" else 80)
        try:
            addresses: Sequence[Address] = (ip_address(host),)
        except ValueError:
            try:
                addresses = await self.resolve(host, port)
            except WebProblem:
                if through_proxy:
                    return (None,)
                raise
        if not all(map(self.may_reach, addresses)):
            raise WebProblem(
                f"{neutralize(host)} is not a public address, so it can't be fetched.", hint=_LOCAL_HINT
            )
        return (None,) if through_proxy else addresses


async def _send(
    client: "httpx.AsyncClient", target: "httpx.URL", addresses: Sequence[Address | None]
) -> "httpx.Response":
    """Return the response of the first of `addresses` that accepts a connection."""
    import httpx

    headers = {
        "Host": target.netloc.decode("ascii"),
        "Accept": _ACCEPT_HEADER,
        "Accept-Encoding": ACCEPTED_ENCODINGS,
    }
    *others, last = [
        target if address is None else target.copy_with(host=str(address)) for address in addresses
    ]
    extensions = {"sni_hostname": target.raw_host.decode("ascii")}
    for url in others:
        try:
            request = client.build_request("GET", url, headers=headers, extensions=extensions)
            return await client.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            continue
    request = client.build_request("GET", last, headers=headers, extensions=extensions)
    return await client.send(request, stream=True)


def _require_content(target: "httpx.URL", response: "httpx.Response") -> None:
    status = response.status_code
    status_text = f"{status} {neutralize(response.reason_phrase)}".strip()
    match status:
        case 204 | 205 | 304:
            raise WebProblem(
                f"{format_url(str(target))} has no content ({status_text}).", hint="Try another page."
            )
        case 401 | 403 | 407:
            hint = "It requires a login or blocks automated access: try another page, or ask the user."
        case 404 | 410:
            hint = "Check the URL, or search for the page's new location."
        case 429 | 500 | 502 | 503 | 504:
            hint = "Try again later, or try another page."
        case _:
            hint = "Try another page."
    if not 200 <= status < 300:
        raise WebProblem(f"{format_url(str(target))} returned {status_text}.", hint=hint)


def _to_fetch_error(target: "httpx.URL", error: "httpx.HTTPError") -> WebProblem:
    reason = neutralize(str(error))[:200] or type(error).__name__
    return WebProblem(
        f"{format_url(str(target))} can't be fetched: {reason}.",
        hint="Check the URL. Without network access, use the local files.",
    )
