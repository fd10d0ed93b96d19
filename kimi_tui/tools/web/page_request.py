"""Request for a page, which may be redirected. Slow to import, so it is loaded with the first request."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address

import httpx

from kimi_tui.base.errors import WebProblem
from kimi_tui.permission.web_domain import is_same_site, normalize_domain
from kimi_tui.tools.web.content_type import parse_content_type
from kimi_tui.tools.web.http_client import build_client
from kimi_tui.tools.web.limited_body import ACCEPTED_ENCODINGS, read_body
from kimi_tui.tools.web.page_response import PageResponse
from kimi_tui.tools.web.proxy import find_proxy
from kimi_tui.tools.web.public_address import Address, AddressFilter
from kimi_tui.tools.web.untrusted_text import neutralize
from kimi_tui.tools.web.url import format_url, invalid_url

_ACCEPT_HEADER = "text/html, application/xhtml+xml, text/markdown, text/plain, application/json, */*;q=0.5"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LOCAL_HINT = "Use a shell command (curl) for addresses of this machine and its network."


class PageRequest:
    """Requests one page from an address that the filter lets through."""

    def __init__(self, address_filter: AddressFilter, *, max_bytes: int, domain: str | None = None) -> None:
        self._domain = domain
        """The only domain to request pages from; None for any."""
        self._address_filter = address_filter
        self._max_bytes = max_bytes
        """Maximum size of the body after decompression; the rest is dropped."""

    async def follow_redirects(self, url: str, *, max_redirects: int) -> PageResponse:
        """Return the response of the last redirect. Raises WebProblem."""
        target = _parse_url(url)
        for _ in range(max_redirects + 1):
            try:
                async with self._open_response(target) as response:
                    if response.status_code not in _REDIRECTS or "location" not in response.headers:
                        return await self._read_response(target, response)
                    target = _parse_url(str(target.join(response.headers["location"])))
            except httpx.InvalidURL as error:
                raise invalid_url(str(target)) from error
            except httpx.HTTPError as error:
                raise _to_fetch_error(target, error) from error
        raise WebProblem(
            f"{format_url(url)} redirects more than {max_redirects} times.",
            hint="Try another URL.",
        )

    async def _read_response(self, target: httpx.URL, response: httpx.Response) -> PageResponse:
        _require_content(target, response)
        content_type = parse_content_type(response.headers.get("content-type", ""))
        body = await read_body(
            response.aiter_raw(),
            encoding=response.headers.get("content-encoding", ""),
            limit=self._max_bytes,
        )
        return PageResponse(str(target), content_type.sniff(body.data), body)

    @asynccontextmanager
    async def _open_response(self, target: httpx.URL) -> AsyncIterator[httpx.Response]:
        """Request `target` and return the response with its body unread."""
        host = target.raw_host.decode("ascii")
        proxy = find_proxy(target.scheme, host)
        addresses = await self._allowed_addresses(target, through_proxy=proxy is not None)
        if self._domain is not None and not is_same_site(normalize_domain(host), self._domain):
            raise WebProblem(
                f"The page redirects to another domain: {format_url(str(target))}",
                hint="Fetch that address if you need it. The user may be asked about its domain.",
            )
        async with await build_client(proxy) as client:
            response = await _send(client, target, addresses)
            try:
                yield response
            finally:
                await response.aclose()

    async def _allowed_addresses(self, target: httpx.URL, *, through_proxy: bool) -> Sequence[Address | None]:
        """Return the addresses to connect to, so that exactly the checked addresses are used.

        None means the host name: a proxy resolves it again. The proxy never gets a name that resolves to a
        forbidden address here, but it may know names that can't be resolved here.
        """
        host, port = target.raw_host.decode("ascii"), target.port or (443 if target.scheme == "https" else 80)
        try:
            addresses: Sequence[Address] = (ip_address(host),)
        except ValueError:
            try:
                addresses = await self._address_filter.resolve(host, port)
            except WebProblem:
                if through_proxy:
                    return (None,)
                raise
        if not all(map(self._address_filter.may_reach, addresses)):
            raise WebProblem(
                f"{neutralize(host)} is not a public address, so it can't be fetched.", hint=_LOCAL_HINT
            )
        return (None,) if through_proxy else addresses


async def _send(
    client: httpx.AsyncClient, target: httpx.URL, addresses: Sequence[Address | None]
) -> httpx.Response:
    """Return the response of the first of `addresses` that accepts a connection."""
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


def _require_content(target: httpx.URL, response: httpx.Response) -> None:
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


def _to_fetch_error(target: httpx.URL, error: httpx.HTTPError) -> WebProblem:
    reason = neutralize(str(error))[:200] or type(error).__name__
    return WebProblem(
        f"{format_url(str(target))} can't be fetched: {reason}.",
        hint="Check the URL. Without network access, use the local files.",
    )


def _parse_url(url: str) -> httpx.URL:
    """Return `url` without its fragment. Raises WebProblem unless it is a complete http or https URL."""
    try:
        target = httpx.URL(url.strip())
    except (httpx.InvalidURL, ValueError) as error:
        raise invalid_url(url) from error
    if target.scheme not in ("http", "https"):
        raise WebProblem(
            f"{format_url(url)} is not a web address.", hint="It must begin with http:// or https://."
        )
    if not target.host:
        raise invalid_url(url)
    if target.userinfo:
        raise WebProblem("The URL contains a user name or password, which isn't sent.", hint="Leave it out.")
    return target.copy_with(fragment=None)
