"""Which service searches the web, and what may be fetched, by the settings."""

from ipaddress import ip_address

import pytest

from kimi_tui.config.settings import Settings, Web
from kimi_tui.engine.web import new_fetcher, search_service
from kimi_tui.tools.web.engines import PublicEngines
from kimi_tui.tools.web.moonshot import MoonshotSearch


def with_key(key: str) -> Settings:
    service = {"base_url": "https://search.test/v1/search", "api_key": key}
    return Settings.model_validate({"services": {"moonshot_search": service}})


@pytest.mark.parametrize("key", ["sk-1", "env:SEARCH_KEY"])
def test_moonshot_searches_when_there_is_a_key_for_it(key: str) -> None:
    assert isinstance(search_service(with_key(key), environ={"SEARCH_KEY": "sk-2"}), MoonshotSearch)


@pytest.mark.parametrize("settings", [Settings(), with_key(""), with_key("env:SEARCH_KEY")])
def test_public_engines_search_otherwise(settings: Settings) -> None:
    assert isinstance(search_service(settings, environ={}), PublicEngines)


def test_this_machine_is_fetched_from_only_where_the_settings_say_so() -> None:
    loopback = ip_address("127.0.0.1")
    assert not new_fetcher(Web()).may_reach(loopback)
    assert new_fetcher(Web(allow_private_addresses=True)).may_reach(loopback)
