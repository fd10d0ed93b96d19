"""Toad, an ACP client in the terminal, with the real program."""

import os
from pathlib import Path

import pexpect
import pytest

from tests.e2e.program import KIMI_TUI, Program, script, tool_call
from tests.peers.peer_programs import find_toad
from tests.timeouts import TEST_TIMEOUT_S

pytestmark = pytest.mark.skipif(
    find_toad() is None, reason="Toad isn't installed here; `make peers` installs it with Python 3.14"
)


def test_a_prompt_is_answered_and_its_permission_request_approved(tmp_path: Path) -> None:
    toad = find_toad()
    assert toad is not None
    program = Program(tmp_path)
    program.script(
        script("text: I write it.", tool_call("c1", "WriteFile", path="made.txt", content="by the agent")),
        "text: It's written.",
    )
    child: pexpect.spawn[str] = pexpect.spawn(
        toad,
        ["acp", f"{KIMI_TUI} acp", "--project-dir", str(program.work_dir)],
        cwd=str(program.work_dir),
        env={**program.environment(), "PATH": os.environ["PATH"], "TERM": "xterm-256color"},
        dimensions=(36, 110),
        encoding="utf-8",
        timeout=TEST_TIMEOUT_S,
    )
    try:
        child.expect_exact("ow can I help")  # the cursor is on the first letter
        child.expect_exact("Ask")  # the mode, which kimi-tui reports with its session
        child.send("write a file")
        while child.expect_exact(["for this session", pexpect.TIMEOUT], timeout=3):
            child.send("\r")  # until Toad has handled the typed text
        child.send("a")
        child.expect_exact("It's written.")
        assert (program.work_dir / "made.txt").read_text() == "by the agent"
    finally:
        child.close(force=True)
