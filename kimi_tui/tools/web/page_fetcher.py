"""Fetches pages as text: few redirects, limited size, public addresses only."""

import asyncio
from dataclasses import field

from kimi_tui.base.errors import WebProblem
from kimi_tui.base.frozen import frozen
from kimi_tui.tools.web.charset import decode_page
from kimi_tui.tools.web.html_markdown import extract_text
from kimi_tui.tools.web.page_response import PageResponse
from kimi_tui.tools.web.public_address import AddressFilter
from kimi_tui.tools.web.url import format_url


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
class PageFetcher:
    """Fetches pages from the addresses that the filter lets through."""

    address_filter: AddressFilter = field(default_factory=AddressFilter)
    limits: FetchLimits = field(default_factory=FetchLimits)

    async def fetch(self, url: str, *, domain: str | None = None) -> FetchedPage:
        """Return the page at `url`. Raises WebProblem. If canceled, the connection is closed.

        With `domain`, which the user has approved, a redirect to another one is an error that names it.
        """
        try:
            async with asyncio.timeout(self.limits.seconds):
                response = await self._request(url, domain)
        except TimeoutError as error:
            raise WebProblem(
                f"{format_url(url)} timed out after {self.limits.seconds:g} s.",
                hint="Try another page, or try again later.",
            ) from error
        return await self._to_page(response)

    async def _request(self, url: str, domain: str | None) -> PageResponse:
        from kimi_tui.tools.web.page_request import PageRequest  # slow to import, with the HTTP client

        request = PageRequest(self.address_filter, max_bytes=self.limits.body_bytes, domain=domain)
        return await request.follow_redirects(url, max_redirects=self.limits.redirects)

    async def _to_page(self, response: PageResponse) -> FetchedPage:
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
