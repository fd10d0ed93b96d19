"""Fetching a page: a few redirects, a few megabytes, from public addresses alone, as text."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import field
from ipaddress import ip_address
from typing import TYPE_CHECKING

from kimi_tui.base.errors import WebProblem
from kimi_tui.base.value import value
from kimi_tui.tools.web.address import Address, is_public, system_addresses
from kimi_tui.tools.web.body import ACCEPTED_ENCODINGS, Body, read_body
from kimi_tui.tools.web.charset import decoded
from kimi_tui.tools.web.connection import new_client, proxy_for
from kimi_tui.tools.web.kind import Kind, kind_of
from kimi_tui.tools.web.link import no_url, parsed, shown
from kimi_tui.tools.web.markup import extract
from kimi_tui.tools.web.untrusted import harmless

if TYPE_CHECKING:
    import httpx

_ACCEPT = "text/html, application/xhtml+xml, text/markdown, text/plain, application/json, */*;q=0.5"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LOCAL_HINT = "Use a shell command (curl) for what runs on this machine or in its network."


@value(kw_only=True)
class FetchLimits:
    """How far a fetch goes."""

    body_bytes: int = 5_000_000
    """Unpacked; what follows is left out."""
    redirects: int = 5
    seconds: float = 30.0
    """For all hops and the whole body together."""
    extraction_seconds: float = 20.0


@value(kw_only=True)
class Page:
    """A page as text. All of it is somebody else's words."""

    url: str
    """Where it was in the end."""
    title: str
    """Empty when it has none."""
    media_type: str
    text: str
    """Markdown when it was HTML."""
    is_cut: bool
    """Whether limits on size left some of it out."""


@value
class _Answer:
    url: str
    kind: Kind
    body: Body


@value
class Fetcher:
    """Fetches pages. `may_reach` says which addresses are allowed; `resolve` gives a host's."""

    may_reach: Callable[[Address], bool] = is_public
    resolve: Callable[[str, int], Awaitable[Sequence[Address]]] = system_addresses
    limits: FetchLimits = field(default_factory=FetchLimits)

    async def fetch(self, url: str) -> Page:
        """The page at `url`. Raises WebProblem. Cancelled, it closes the connection."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                answer = await self._get(url)
        except TimeoutError as error:
            raise WebProblem(
                f"{shown(url)} took longer than {self.limits.seconds:g} s.",
                hint="Try another page, or again later.",
            ) from error
        return await self._page(answer)

    async def _get(self, url: str) -> _Answer:
        import httpx

        target = parsed(url)
        for _ in range(self.limits.redirects + 1):
            try:
                async with self._opened(target) as response:
                    if response.status_code not in _REDIRECTS or "location" not in response.headers:
                        return await self._read(target, response)
                    target = parsed(str(target.join(response.headers["location"])))
            except httpx.InvalidURL as error:
                raise no_url(str(target)) from error
            except httpx.HTTPError as error:
                raise _unreachable(target, error) from error
        raise WebProblem(
            f"{shown(url)} leads on more than {self.limits.redirects} times.", hint="Try another address."
        )

    async def _read(self, target: "httpx.URL", response: "httpx.Response") -> _Answer:
        _require_content(target, response)
        kind = kind_of(response.headers.get("content-type", ""))
        body = await read_body(
            response.aiter_raw(),
            encoding=response.headers.get("content-encoding", ""),
            limit=self.limits.body_bytes,
        )
        return _Answer(str(target), kind.sniffed(body.data), body)

    async def _page(self, answer: _Answer) -> Page:
        kind, body = answer.kind, answer.body
        text = decoded(body.data, declared=kind.charset, is_markup=kind.is_markup)
        title, is_cut = "", body.is_cut
        if kind.is_html:
            extracted = await extract(text, url=answer.url, seconds=self.limits.extraction_seconds)
            title, text, is_cut = extracted.title, extracted.text, is_cut or extracted.is_cut
        return Page(url=answer.url, title=title, media_type=kind.media_type, text=text, is_cut=is_cut)

    @asynccontextmanager
    async def _opened(self, target: "httpx.URL") -> AsyncIterator["httpx.Response"]:
        """The answer to a request for `target`, its body not yet read."""
        host = target.raw_host.decode("ascii")
        proxy = proxy_for(target.scheme, host)
        addresses = await self._allowed_addresses(target, through_proxy=proxy is not None)
        async with await new_client(proxy) as client:
            response = await _send(client, target, addresses)
            try:
                yield response
            finally:
                await response.aclose()

    async def _allowed_addresses(
        self, target: "httpx.URL", *, through_proxy: bool
    ) -> Sequence[Address | None]:
        """Where to connect to, so that the address that was checked is the one that is used.

        None stands for the name itself: a proxy looks it up anew. It gets no name that leads to a forbidden
        address from here, and may know names that don't exist here.
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
                f"{harmless(host)} is no public address, so nothing is fetched from it.", hint=_LOCAL_HINT
            )
        return (None,) if through_proxy else addresses


async def _send(
    client: "httpx.AsyncClient", target: "httpx.URL", addresses: Sequence[Address | None]
) -> "httpx.Response":
    """The answer from the first of `addresses` that can be connected to."""
    import httpx

    headers = {
        "Host": target.netloc.decode("ascii"),
        "Accept": _ACCEPT,
        "Accept-Encoding": ACCEPTED_ENCODINGS,
    }
    *others, last = [target if place is None else target.copy_with(host=str(place)) for place in addresses]
    extensions = {"sni_hostname": target.raw_host.decode("ascii")}
    for place in others:
        try:
            request = client.build_request("GET", place, headers=headers, extensions=extensions)
            return await client.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            continue
    request = client.build_request("GET", last, headers=headers, extensions=extensions)
    return await client.send(request, stream=True)


def _require_content(target: "httpx.URL", response: "httpx.Response") -> None:
    status = response.status_code
    named = f"{status} {harmless(response.reason_phrase)}".strip()
    match status:
        case 204 | 205 | 304:
            raise WebProblem(f"{shown(str(target))} has no content ({named}).", hint="Try another page.")
        case 401 | 403 | 407:
            hint = "It wants a login or keeps programs out: try another page, or ask the user."
        case 404 | 410:
            hint = "Check the address, or search for where the page is now."
        case 429 | 500 | 502 | 503 | 504:
            hint = "Try again later, or another page."
        case _:
            hint = "Try another page."
    if not 200 <= status < 300:
        raise WebProblem(f"{shown(str(target))} answers {named}.", hint=hint)


def _unreachable(target: "httpx.URL", error: "httpx.HTTPError") -> WebProblem:
    reason = harmless(str(error))[:200] or type(error).__name__
    return WebProblem(
        f"{shown(str(target))} can't be fetched: {reason}.",
        hint="Check the address; without a network, work with what is on this machine.",
    )
