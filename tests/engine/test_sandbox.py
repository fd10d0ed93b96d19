"""Sandboxed commands in whole sessions."""

import shutil
from pathlib import Path

import pytest

from kimi_tui.wire.events import Notification, SessionInfo
from tests.engine.fake_front_end import SessionEnv, bash


@pytest.fixture
def path_without_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set PATH to a directory with a shell but no sandbox program."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "sh", "touch"):
        program = shutil.which(name)
        assert program
        (programs / name).symlink_to(program)
    monkeypatch.setenv("PATH", str(programs))


@pytest.mark.usefixtures("path_without_sandbox")
async def test_without_a_sandbox_program_only_commands_fail(home: SessionEnv) -> None:
    home.script(bash("b1", "touch created"), "text: done")
    settings = home.settings(sandbox={"enabled": True})
    async with home.open_session(settings=settings, yolo=True) as front:
        assert "sandbox" in front.of(Notification)[0].title
        await front.turn("go")
        assert front.of(SessionInfo)[-1].sandbox
        assert front.results["b1"].return_value.is_error
        assert "--no-sandbox" in front.results["b1"].return_value.message
    assert not home.file("created").exists()


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap isn't installed")
async def test_the_models_commands_run_in_the_sandbox(home: SessionEnv) -> None:
    home.script(bash("b1", f"touch here; echo {home.data_dir}/*; touch /usr/x"), "text: done")
    async with home.open_session(settings=home.settings(sandbox={"enabled": True}), yolo=True) as front:
        if notices := front.of(Notification):
            pytest.skip(notices[0].title)
        await front.turn("go")
        result = front.results["b1"].return_value
    assert str(home.data_dir / "*") in result.output
    assert "It ran in the sandbox." in result.message
    assert home.file("here").exists()
