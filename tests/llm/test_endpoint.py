import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.llm.provider import ProviderKind, ProviderSettings
from kimi_tui.llm.transport.endpoint import DEFAULT_BASE_URLS, Endpoint


def endpoint(kind: ProviderKind = "openai", **settings) -> Endpoint:
    return Endpoint.from_settings(ProviderSettings(kind=kind, model="m", **settings))


@pytest.mark.parametrize("kind", DEFAULT_BASE_URLS)
def test_the_default_base_url_is_the_vendor_s(kind: ProviderKind):
    assert endpoint(kind).base_url == DEFAULT_BASE_URLS[kind]


@pytest.mark.parametrize(
    ("kind", "copied", "base_url"),
    [
        ("openai", "http://localhost:11434/v1/", "http://localhost:11434/v1"),
        ("openai", " https://h/v1/chat/completions", "https://h/v1"),
        ("anthropic", "https://h/anthropic/v1", "https://h/anthropic"),
        ("anthropic", "https://h/v1/messages", "https://h"),
    ],
)
def test_a_path_copied_with_the_base_url_is_removed(kind: ProviderKind, copied: str, base_url: str):
    assert endpoint(kind, base_url=copied).base_url == base_url


@pytest.mark.parametrize(
    "base_url", ["localhost:11434", "ftp://h/v1", "http://", "http://a b/", "http://h:99999/"]
)
def test_an_invalid_url_is_rejected_with_an_example(base_url: str):
    with pytest.raises(ConfigError) as caught:
        endpoint(base_url=base_url)
    assert "https://api.openai.com/v1" in caught.value.hint


@pytest.mark.parametrize("api_key", ["sk-ключ", "sk-two\nlines", "sk-\x1b[31m"])
def test_an_invalid_key_is_rejected_and_not_shown(api_key: str):
    with pytest.raises(ConfigError) as caught:
        endpoint(api_key=api_key)
    assert api_key not in str(caught.value)
    assert "OPENAI_API_KEY" in caught.value.hint


def test_a_key_may_have_white_space_around_it():
    assert endpoint(api_key=" sk-key\n").api_key == "sk-key"


@pytest.mark.parametrize(("name", "value"), [("X-A", "a\nb"), ("X-A", "é"), ("", "a")])
def test_an_invalid_header_is_rejected(name: str, value: str):
    with pytest.raises(ConfigError, match="header"):
        endpoint(headers={name: value})


def test_an_ipv6_address_is_shown_in_brackets():
    assert endpoint(base_url="http://[::1]:11434/v1").address == "http://[::1]:11434/v1"


def test_repr_shows_neither_key_nor_headers():
    shown = repr(endpoint(api_key="sk-secret-key", headers={"X-Token": "header-secret"}))
    assert "sk-secret-key" not in shown
    assert "header-secret" not in shown
