"""Search service and page fetcher, built from the settings."""

from ipaddress import ip_address

import pytest

from kimi_tui.config.settings import Settings, WebSettings
from kimi_tui.engine.build.web import build_fetcher, build_search_service
from kimi_tui.tools.web.moonshot_search import MoonshotSearch
from kimi_tui.tools.web.public_search import PublicSearch


def with_key(key: str) -> Settings:
    service = {"base_url": "https://search.test/v1/search", "api_key": key}
    return Settings.model_validate({"services": {"moonshot_search": service}})


@pytest.mark.parametrize("key", ["sk-1", "env:SEARCH_KEY"])
def test_moonshot_search_is_used_if_it_has_a_key(key: str) -> None:
    assert isinstance(build_search_service(with_key(key), environ={"SEARCH_KEY": "sk-2"}), MoonshotSearch)


@pytest.mark.parametrize("settings", [Settings(), with_key(""), with_key("env:SEARCH_KEY")])
def test_public_search_is_used_otherwise(settings: Settings) -> None:
    assert isinstance(build_search_service(settings, environ={}), PublicSearch)


def test_fetching_from_private_addresses_requires_a_setting() -> None:
    loopback = ip_address("127.0.0.1")
    assert not build_fetcher(WebSettings()).address_filter.may_reach(loopback)
    assert build_fetcher(WebSettings(allow_private_addresses=True)).address_filter.may_reach(loopback)
