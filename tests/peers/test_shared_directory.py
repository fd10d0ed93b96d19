"""The real Kimi CLI and kimi-tui on one data directory, and an import: each still opens its own sessions."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.program import Program, script, tool_call
from tests.peers.peer_programs import KimiCliProgram, find_kimi_cli
from tests.peers.scenarios import config

pytestmark = pytest.mark.skipif(
    find_kimi_cli() is None, reason="Kimi CLI isn't installed here; `make peers` installs it"
)

LIST_SESSIONS = """
import asyncio, sys
from kaos.path import KaosPath
from kimi_cli.session import Session

for session in asyncio.run(Session.list(KaosPath(sys.argv[1]))):
    print(session.title)
"""
WRITE = script("text: I write.", tool_call("w1", "WriteFile", path="a.txt", content="one"))


class Both:
    """Both programs with one home and working directory."""

    def __init__(self, home: Path, *, theirs: str) -> None:
        command = find_kimi_cli()
        assert command is not None
        self.kimi_tui = Program(home)
        self.folder = home / theirs
        """Kimi CLI's data directory."""
        env = {"KIMI_CLI_NO_AUTO_UPDATE": "1", "KIMI_SHARE_DIR": str(self.folder)}
        self.kimi_cli = KimiCliProgram(home, command=command, env=env)
        self.folder.mkdir()
        self.work_dir = self.kimi_tui.work_dir

    def run_theirs(self, *arguments: str, plays: tuple[str, ...]) -> None:
        """Run a prompt in Kimi CLI, whose model plays scripts."""
        scripts = self.kimi_tui.home / "theirs.json"
        scripts.write_text(json.dumps(plays))
        (self.folder / "config.json").unlink(missing_ok=True)
        (self.folder / "config.toml").unlink(missing_ok=True)
        (self.folder / "config.json").write_text(json.dumps(config(scripts)))
        done = self.kimi_cli.run("--print", "--yolo", *arguments, timeout=180)
        assert done.exit_code == 0, done.stdout + done.stderr

    def run_ours(self, *arguments: str) -> str:
        done = self.kimi_tui.run(*arguments)
        assert done.exit_code == 0, done.stdout + done.stderr
        return done.stdout

    def list_theirs(self) -> list[str]:
        """Return the titles that Kimi CLI lists."""
        python = Path(self.kimi_cli.command).with_name("python")
        lister = KimiCliProgram(self.kimi_tui.home, command=str(python), env=self.kimi_cli.env)
        done = lister.run("-c", LIST_SESSIONS, str(self.work_dir), timeout=180)
        assert done.exit_code == 0, done.stderr
        return done.stdout.splitlines()

    def their_session(self) -> Path:
        (folder,) = self.folder.glob("sessions/*/*-*")
        return folder

    def their_files(self) -> dict[str, bytes]:
        files = (path for path in self.their_session().rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files}


@pytest.fixture
def both(tmp_path: Path) -> Callable[[str], Both]:
    return lambda theirs: Both(tmp_path, theirs=theirs)


def test_one_directory_serves_both_programs(both: Callable[[str], Both]) -> None:
    pair = both("share")
    pair.run_theirs("-p", "write a file", plays=(WRITE, "text: done"))
    before = pair.their_files()
    session = pair.their_session().name

    assert "write a file" in pair.run_ours("sessions", "list")
    checkpoints = pair.run_ours("--demo", "--session", session, "-p", "/checkpoints")
    assert "WriteFile a.txt" in checkpoints
    assert "write a file" in checkpoints
    assert "1970" not in checkpoints
    pair.run_ours("--demo", "--session", session, "-p", "/revert 1 conversation")
    assert "step        WriteFile" not in pair.run_ours("--demo", "--session", session, "-p", "/checkpoints")
    pair.run_ours("--demo", "--session", session, "-p", "/undo")
    assert "step        WriteFile" in pair.run_ours("--demo", "--session", session, "-p", "/checkpoints")
    pair.run_ours("--demo", "-p", "our own session")
    assert pair.their_files() == before

    assert pair.list_theirs() == ["write a file"]
    pair.run_theirs("--continue", "-p", "and again", plays=("text: again done",))
    assert "again done" in (pair.their_session() / "context.jsonl").read_text()


def test_an_imported_directory_is_still_kimi_clis(both: Callable[[str], Both]) -> None:
    pair = both(".kimi")
    pair.run_theirs("-p", "write a file", plays=(WRITE, "text: done"))
    (pair.folder / "mcp.json").write_text('{"mcpServers": {"time": {"command": "time-server"}}}')
    before = pair.their_files()

    pair.run_ours("import")
    assert "write a file" in pair.run_ours("sessions", "list")
    assert "time (stdio): time-server" in pair.run_ours("mcp", "list")
    session = pair.their_session().name
    assert "WriteFile a.txt" in pair.run_ours("--demo", "--session", session, "-p", "/checkpoints")
    pair.run_ours("--demo", "--session", session, "-p", "/revert 1 conversation")
    assert pair.their_files() == before

    (pair.folder / "mcp.json").unlink()  # Kimi CLI fails if a server can't start
    pair.run_theirs("--continue", "-p", "and again", plays=("text: again done",))
    assert "again done" in (pair.their_session() / "context.jsonl").read_text()
