"""A server on this machine, and a fetcher that may reach it and nothing else here."""

from collections.abc import AsyncIterator
from ipaddress import ip_address

import pytest

from kimi_tui.tools.web.address import Address, is_public
from kimi_tui.tools.web.fetcher import Fetcher
from tests.tools.web.sites import Site, serving


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving() as running:
        yield running


def may_reach(address: Address) -> bool:
    return address == ip_address("127.0.0.1") or is_public(address)


@pytest.fixture
def fetcher() -> Fetcher:
    return Fetcher(may_reach=may_reach)
