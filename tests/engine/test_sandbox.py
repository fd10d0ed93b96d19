"""Sandboxed commands in whole sessions."""

import shutil
from pathlib import Path

import pytest

from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import Notification, SessionInfo
from tests.engine.fake_front_end import SessionEnv, bash, call, write


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


@pytest.fixture
def folders(home: SessionEnv) -> Path:
    """Create a credential in the home directory, and a file and a git repository for the session."""
    files = {"home/.ssh/id": "KEY=1\n", "home/notes": "KEY=0\n", "outside/notes": "old\n"}
    for name, text in files.items():
        path = home.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (home.work_dir / ".git/hooks").mkdir(parents=True)
    (home.work_dir / ".git/config").write_text("[core]\n")
    (home.work_dir / "link").symlink_to(home.path / "outside")
    return home.path


async def test_file_tools_change_only_what_commands_may_change(home: SessionEnv, folders: Path) -> None:
    home.script(
        write("inside", "inside.txt"),
        write("outside", str(folders / "outside/new")),
        call("edit", "EditFile", path=str(folders / "outside/notes"), edit={"old": "old", "new": "new"}),
        write("link", "link/new"),
        write("git's settings", ".git/config"),
        write("a git hook", ".git/hooks/pre-commit"),
        write("servers", ".mcp.json", "{}"),
        write("servers of VS Code", ".vscode/mcp.json", "{}"),
        write("other settings of VS Code", ".vscode/settings.json", "{}"),
        call("move", "Bash", command="mv .vscode .code"),
        "text: done",
    )
    (home.work_dir / ".mcp.json").write_text("{ }")
    (home.work_dir / ".vscode").mkdir()
    (home.work_dir / ".vscode/mcp.json").write_text("{ }")
    async with home.open_session(settings=home.settings(sandbox={"enabled": True}), yolo=True) as front:
        await front.turn("go")
        results = {name: result.return_value for name, result in front.results.items()}
    allowed = ["inside", "other settings of VS Code"]
    assert [name for name, result in results.items() if not result.is_error] == allowed
    refused = set(results) - {*allowed, "move"}
    assert all("sandbox" in results[name].message for name in refused)
    assert (home.work_dir / ".vscode/mcp.json").read_text() == "{ }"
    assert (folders / "outside/notes").read_text() == "old\n"
    assert not (folders / "outside/new").exists()
    assert (home.work_dir / ".git/config").read_text() == "[core]\n"


async def test_file_tools_read_only_what_commands_may_read(home: SessionEnv, folders: Path) -> None:
    home.script(
        call("named", "ReadFile", path=str(folders / "home/.ssh/id")),
        call("its folder", "Grep", pattern="KEY", path=str(folders / "home/.ssh")),
        call("grep", "Grep", pattern="KEY", path=str(folders / "home"), output_mode="content"),
        call("glob", "Glob", pattern="**/*", directory=str(folders / "home")),
        call("tree", "LS", path=str(folders / "home"), depth=3),
        "text: done",
    )
    async with home.open_session(settings=home.settings(sandbox={"enabled": True}), yolo=True) as front:
        await front.turn("go")
        results = {name: result.return_value for name, result in front.results.items()}
    assert {name for name, result in results.items() if result.is_error} == {"named", "its folder"}
    assert "KEY=0" in results["grep"].output
    for result in results.values():
        assert "KEY=1" not in str(result.output)
        assert "id" not in str(result.output).split()


async def test_the_settings_open_the_sandbox_for_file_tools(home: SessionEnv, folders: Path) -> None:
    home.script(
        write("w", str(folders / "outside/new")),
        call("r", "ReadFile", path=str(folders / "home/.ssh/id")),
        "text: done",
    )
    sandbox = {
        "enabled": True,
        "write": [str(folders / "outside")],
        "read": [str(folders / "home/.ssh")],
    }
    async with home.open_session(settings=home.settings(sandbox=sandbox), yolo=True) as front:
        await front.turn("go")
        assert not any(result.return_value.is_error for result in front.results.values())
    assert (folders / "outside/new").read_text() == "text\n"


async def test_a_directory_added_to_the_session_can_be_changed_in_the_sandbox(
    home: SessionEnv, folders: Path
) -> None:
    home.script(
        write("before", str(folders / "outside/new")),
        "text: no",
        write("after", str(folders / "outside/new")),
        bash("command", f"echo x > {folders}/outside/other"),
        "text: yes",
    )
    async with home.open_session(settings=home.settings(sandbox={"enabled": True}), yolo=True) as front:
        await front.turn("go")
        front.send(RunSlash(f"add-dir {folders / 'outside'}"))
        await front.wait_for(Notification)
        await front.turn("again")
        assert front.results["before"].return_value.is_error
        assert not front.results["after"].return_value.is_error
        if shutil.which("bwrap") is None:
            return
        assert not front.results["command"].return_value.is_error
    assert (folders / "outside/other").read_text() == "x\n"
