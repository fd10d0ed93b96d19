"""The settings over the Wire: told with their origin, changed in the file, refused in sentences."""

import pytest

from kimi_tui.wire.commands import SetModel
from kimi_tui.wire.events import SessionInfo
from kimi_tui.wire.settings import ChangeSetting, ListSettings, Setting, SettingChanged, SettingsList
from tests.engine.front import Front, Home

MODEL = """\
[providers.p] # of the tests
type = "demo"
[models.other]
provider = "p"
model = "demo"
max_context_size = 1000
"""


@pytest.fixture
def settled(home: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    for name in ("KIMI", "OPENAI", "ANTHROPIC"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    home.share_dir.mkdir()
    (home.share_dir / "config.toml").write_text(MODEL)
    return home


async def listed(front: Front) -> dict[str, Setting]:
    told = await front.until(SettingsList)
    return {it.key: it for it in told.settings}


async def test_a_change_is_written_told_and_counts_for_the_models(settled: Home) -> None:
    async with settled.opened() as front:
        front.give(ListSettings())
        before = await listed(front)
        assert before["ui.mouse"].origin == "default"
        assert before["models.other.max_context_size"].origin == "user"
        front.give(ChangeSetting("models.other.max_context_size", "2000"))
        assert await front.until(SettingChanged) == SettingChanged("models.other.max_context_size")
        assert (await listed(front))["models.other.max_context_size"].value == "2000"
        front.give(SetModel("other"))
        await front.until(SessionInfo, where=lambda info: info.model == "other")
    assert (settled.share_dir / "config.toml").read_text() == MODEL.replace("1000", "2000")


async def test_what_is_wrong_is_told_and_nothing_is_written(settled: Home) -> None:
    async with settled.opened() as front:
        front.give(ChangeSetting("models.other.max_context_size", "-1"))
        refused = await front.until(SettingChanged)
        assert "should be greater than 0" in refused.problem
        front.give(ChangeSetting("no.such", "1"))
        assert "There is no setting no.such." in (await front.until(SettingChanged)).problem
    assert (settled.share_dir / "config.toml").read_text() == MODEL
