"""acpx, an ACP client for the command line, with the real program."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import KIMI_TUI, Program, script, tool_call
from tests.peers.peer_programs import find_acpx
from tests.timeouts import TEST_TIMEOUT_S

pytestmark = pytest.mark.skipif(
    find_acpx() is None, reason="acpx isn't installed here; `make peers` installs it with npm"
)
WRITE = script(
    "text: I write a file.",
    tool_call("c1", "WriteFile", path="made.txt", content="by the agent"),
    tool_call("c2", "Bash", command="cat made.txt"),
)


def run_acpx(program: Program, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run acpx with kimi-tui as its agent."""
    command = find_acpx()
    assert command is not None
    return subprocess.run(
        [command, "--agent", f"{KIMI_TUI} acp", *arguments],
        cwd=program.work_dir,
        env={**program.environment(), "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )


@pytest.fixture
def program(tmp_path: Path) -> Program:
    program = Program(tmp_path)
    program.script(WRITE, "text: It's written.")
    return program


def updates(output: str, kind: str) -> list[dict[str, Any]]:
    """Return the session updates of one kind in JSON lines."""
    messages = (json.loads(line) for line in output.splitlines() if line.startswith("{"))
    found = (it["params"]["update"] for it in messages if it.get("method") == "session/update")
    return [update for update in found if update["sessionUpdate"] == kind]


def test_a_prompt_runs_with_its_permission_requests_approved(program: Program) -> None:
    done = run_acpx(program, "--approve-all", "--format", "json", "exec", "write a file")
    assert done.returncode == 0, done.stderr
    assert (program.work_dir / "made.txt").read_text() == "by the agent"
    text = "".join(update["content"]["text"] for update in updates(done.stdout, "agent_message_chunk"))
    assert "It's written." in text
    changes = updates(done.stdout, "tool_call_update")
    last_status = {change["toolCallId"]: change["status"] for change in changes if "status" in change}
    assert list(last_status.values()) == ["completed", "completed"]


def test_denied_permission_requests_change_nothing(program: Program) -> None:
    done = run_acpx(program, "--deny-all", "exec", "write a file")
    assert not (program.work_dir / "made.txt").exists()
    assert "I write a file." in done.stdout


def test_a_session_continues_in_a_later_call(program: Program) -> None:
    program.script("text: hello", "text: hello")
    assert run_acpx(program, "sessions", "new").returncode == 0
    try:
        for prompt in ("first", "second"):
            # The agent must not be ending when the second call connects to it.
            done = run_acpx(program, "--approve-all", "--ttl", "600", prompt)
            assert done.returncode == 0, done.stdout + done.stderr
            assert "hello" in done.stdout
    finally:
        assert run_acpx(program, "sessions", "close").returncode == 0
    (journal,) = program.context_files
    assert "first" in journal.read_text()
    assert "second" in journal.read_text()
