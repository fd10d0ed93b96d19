"""A local site, and a fetcher that may reach it and public addresses, but no other local address."""

from collections.abc import AsyncIterator
from ipaddress import ip_address

import pytest

from kimi_tui.tools.web.page_fetcher import PageFetcher
from kimi_tui.tools.web.public_address import Address, AddressFilter
from tests.tools.web.fake_site import FakeSite, serve_site


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
async def site() -> AsyncIterator[FakeSite]:
    async with serve_site() as running:
        yield running


class SiteAddressFilter(AddressFilter):
    """Lets the local site through, and public addresses."""

    def may_reach(self, address: Address) -> bool:
        return address == ip_address("127.0.0.1") or super().may_reach(address)


@pytest.fixture
def fetcher() -> PageFetcher:
    return PageFetcher(SiteAddressFilter())
