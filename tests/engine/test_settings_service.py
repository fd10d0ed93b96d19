"""Settings over the Wire: listing, changes, and validation errors."""

import pytest

from kimi_tui.wire.commands import SetModel
from kimi_tui.wire.events import SessionInfo
from kimi_tui.wire.settings import ChangeSetting, ListSettings, Setting, SettingChanged, SettingsList
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv

MODEL = """\
[providers.p] # of the tests
type = "demo"
[models.other]
provider = "p"
model = "demo"
max_context_size = 1000
"""


@pytest.fixture
def configured_env(home: SessionEnv, monkeypatch: pytest.MonkeyPatch) -> SessionEnv:
    for name in ("KIMI", "OPENAI", "ANTHROPIC"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    home.data_dir.mkdir()
    (home.data_dir / "config.toml").write_text(MODEL)
    return home


async def list_settings(front: FakeFrontEnd) -> dict[str, Setting]:
    settings_list = await front.wait_for(SettingsList)
    return {it.key: it for it in settings_list.settings}


async def test_a_change_is_written_listed_and_applied_to_models(configured_env: SessionEnv) -> None:
    async with configured_env.open_session() as front:
        front.send(ListSettings())
        before = await list_settings(front)
        assert before["ui.mouse"].origin == "default"
        assert before["models.other.max_context_size"].origin == "user"
        front.send(ChangeSetting("models.other.max_context_size", "2000"))
        assert await front.wait_for(SettingChanged) == SettingChanged("models.other.max_context_size")
        assert (await list_settings(front))["models.other.max_context_size"].value == "2000"
        front.send(SetModel("other"))
        await front.wait_for(SessionInfo, where=lambda info: info.model == "other")
    assert (configured_env.data_dir / "config.toml").read_text() == MODEL.replace("1000", "2000")


async def test_an_invalid_change_is_reported_and_not_written(configured_env: SessionEnv) -> None:
    async with configured_env.open_session() as front:
        front.send(ChangeSetting("models.other.max_context_size", "-1"))
        response = await front.wait_for(SettingChanged)
        assert "should be greater than 0" in response.problem
        front.send(ChangeSetting("no.such", "1"))
        assert "Unknown setting no.such." in (await front.wait_for(SettingChanged)).problem
    assert (configured_env.data_dir / "config.toml").read_text() == MODEL
