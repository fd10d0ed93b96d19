"""Commands of a session in the sandbox, and what is told of it."""

import shutil
from pathlib import Path

import pytest

from kimi_tui.wire.events import Notification, SessionInfo
from tests.engine.front import Home, bash


@pytest.fixture
def path_without_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH with a shell, and nothing that makes a sandbox."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "sh", "touch"):
        found = shutil.which(name)
        assert found
        (programs / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(programs))


@pytest.mark.usefixtures("path_without_sandbox")
async def test_a_sandbox_that_is_not_there_costs_the_commands_not_the_session(home: Home) -> None:
    home.script(bash("b1", "touch created"), "text: done")
    settings = home.settings(sandbox={"enabled": True})
    async with home.opened(settings=settings, yolo=True) as front:
        assert "sandbox" in front.of(Notification)[0].title
        await front.turn("go")
        assert front.of(SessionInfo)[-1].sandbox
        assert front.results["b1"].return_value.is_error
        assert "--no-sandbox" in front.results["b1"].return_value.message
    assert not home.file("created").exists()


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap isn't installed")
async def test_commands_of_the_model_run_in_the_sandbox(home: Home) -> None:
    home.script(bash("b1", f"touch here; echo {home.share_dir}/*; touch /usr/x"), "text: done")
    async with home.opened(settings=home.settings(sandbox={"enabled": True}), yolo=True) as front:
        if told := front.of(Notification):
            pytest.skip(told[0].title)
        await front.turn("go")
        result = front.results["b1"].return_value
    assert str(home.share_dir / "*") in result.output
    assert "It ran in the sandbox." in result.message
    assert home.file("here").exists()
