import subprocess
import sys

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.llm.factory import create_provider
from kimi_tui.llm.provider import ProviderKind, ProviderSettings

SDKS = ("openai", "anthropic", "httpx", "httpx2")


@pytest.mark.parametrize("kind", ["kimi", "openai", "anthropic", "scripted", "demo"])
def test_every_kind_of_provider_can_be_created_and_supports_a_thinking_effort(kind: ProviderKind):
    provider = create_provider(ProviderSettings(kind=kind, model="m", api_key="k"))
    assert provider.model_name == "m"
    assert provider.with_thinking("high").model_name == "m"


@pytest.mark.parametrize("kind", ["kimi", "openai", "anthropic", "scripted", "demo"])
def test_creating_a_provider_imports_no_sdk(kind: ProviderKind):
    program = f"""
import sys
from kimi_tui.llm.factory import create_provider
from kimi_tui.llm.provider import ProviderSettings
create_provider(ProviderSettings(kind={kind!r}, model="m", api_key="k")).with_thinking("high")
print([name for name in {SDKS!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("kind", "imported"),
    [("kimi", ["httpx2"]), ("openai", ["httpx2"]), ("anthropic", ["anthropic", "httpx2"])],
)
def test_a_provider_imports_its_client_and_no_other_ahead_of_the_first_request(
    kind: ProviderKind, imported: list[str]
):
    program = f"""
import asyncio, sys
from kimi_tui.llm.factory import create_provider
from kimi_tui.llm.provider import ProviderSettings
asyncio.run(create_provider(ProviderSettings(kind={kind!r}, model="m", api_key="k")).prepare("", ()))
print([name for name in {SDKS!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(imported)


def test_an_invalid_base_url_is_a_config_error():
    with pytest.raises(ConfigError):
        create_provider(ProviderSettings(kind="anthropic", model="m", base_url="nowhere"))
