import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.llm.endpoint import DEFAULT_BASE_URLS, Endpoint
from kimi_tui.llm.provider import ProviderKind, ProviderSettings


def endpoint(kind: ProviderKind = "openai", **settings) -> Endpoint:
    return Endpoint.of(ProviderSettings(kind=kind, model="m", **settings))


@pytest.mark.parametrize("kind", DEFAULT_BASE_URLS)
def test_without_a_base_url_the_vendor_s_own_is_used(kind: ProviderKind):
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
def test_what_is_copied_along_with_a_base_url_is_dropped(kind: ProviderKind, copied: str, base_url: str):
    assert endpoint(kind, base_url=copied).base_url == base_url


@pytest.mark.parametrize(
    "base_url", ["localhost:11434", "ftp://h/v1", "http://", "http://a b/", "http://h:99999/"]
)
def test_what_is_no_address_is_refused_with_an_example(base_url: str):
    with pytest.raises(ConfigError) as caught:
        endpoint(base_url=base_url)
    assert "https://api.openai.com/v1" in caught.value.hint


@pytest.mark.parametrize("api_key", ["sk-ключ", "sk-two\nlines", "sk-\x1b[31m"])
def test_a_key_that_can_t_be_sent_is_refused_and_not_shown(api_key: str):
    with pytest.raises(ConfigError) as caught:
        endpoint(api_key=api_key)
    assert api_key not in str(caught.value)
    assert "OPENAI_API_KEY" in caught.value.hint


def test_a_key_may_have_white_space_around_it():
    assert endpoint(api_key=" sk-key\n").api_key == "sk-key"


@pytest.mark.parametrize(("name", "value"), [("X-A", "a\nb"), ("X-A", "é"), ("", "a")])
def test_a_header_that_can_t_be_sent_is_refused(name: str, value: str):
    with pytest.raises(ConfigError, match="header"):
        endpoint(headers={name: value})


def test_an_ipv6_address_is_shown_in_brackets():
    assert endpoint(base_url="http://[::1]:11434/v1").address == "http://[::1]:11434/v1"


def test_neither_key_nor_headers_show_in_its_representation():
    shown = repr(endpoint(api_key="sk-secret-key", headers={"X-Token": "header-secret"}))
    assert "sk-secret-key" not in shown
    assert "header-secret" not in shown
