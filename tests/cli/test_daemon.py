"""--daemon with the real program: signals, sockets, combinations, and many prompts.

KIMI_TUI_PROMPTS=10000 makes it the long run, in which memory is looked at too.
"""

import json
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program, script, tool_call

PROMPTS = int(os.environ.get("KIMI_TUI_PROMPTS", "40"))
SETTLED = PROMPTS // 10
COMMAND_EVERY = 10
WORKERS = min(32, (os.cpu_count() or 1) + 4)
"""Threads that the event loop may keep for what blocks."""


class Dialogue:
    """A daemon that is asked over its pipes."""

    def __init__(self, program: Program, *arguments: str) -> None:
        self.process = program.start("--daemon", *arguments, stdin=-1)

    def ask(self, prompt: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{prompt}\n".encode())
        self.process.stdin.flush()
        result: dict[str, Any] = json.loads(self.process.stdout.readline())
        return result

    def end(self) -> int:
        self.process.communicate(timeout=30)
        return self.process.returncode


def open_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_many_prompts_leave_nothing_behind_but_the_conversation(program: Program) -> None:
    scripts = []
    for number in range(PROMPTS):
        if number % COMMAND_EVERY == 0:
            scripts.append(script(tool_call(f"b{number}", "Bash", command="echo hello")))
        scripts.append("error: 401 no" if number % COMMAND_EVERY == 5 else "text: fine")
    program.script(*scripts)
    daemon = Dialogue(program, "--yolo")
    pid = daemon.process.pid
    early = (0, 0, 0, 0)
    for number in range(PROMPTS):
        result = daemon.ask(f"prompt {number}")
        assert result["exit_code"] == (1 if number % COMMAND_EVERY == 5 else 0)
        if number == SETTLED:
            journal = program.context_files[0].stat().st_size
            early = (open_files(pid), threads(pid), resident_bytes(pid), journal)
    files, running, resident, journal = early
    assert open_files(pid) <= files + 1
    assert threads(pid) <= running + WORKERS
    assert children(pid) == []
    if PROMPTS >= 1000:  # the conversation itself is kept; four times its journal is what its objects take
        said = program.context_files[0].stat().st_size - journal
        assert resident_bytes(pid) - resident < 0.05 * resident + 4 * said
    assert daemon.end() == 0


def test_sigterm_ends_the_turn_and_what_it_started(program: Program) -> None:
    program.script(script(tool_call("b", "Bash", command="touch begun; sleep 60")))
    process = program.start("-d", "--yolo", stdin=-1)
    assert process.stdin is not None
    process.stdin.write(b"wait\n")
    process.stdin.flush()
    deadline = time.monotonic() + 30
    while not (program.work_dir / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    stdout, _ = process.communicate(timeout=30)
    assert process.returncode == 143
    (line,) = stdout.splitlines()
    assert json.loads(line)["outcome"] == "terminated"


def test_a_socket_is_answered_and_gone_afterwards(program: Program) -> None:
    program.script("text: hello there")
    path = program.home / "s"
    process = program.start("-d", "--socket", str(path))
    assert process.stderr is not None
    assert process.stderr.readline().startswith(b"Listening at ")
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(path))
        caller.sendall(b"hello\n")
        with caller.makefile("r") as lines:
            assert json.loads(lines.readline())["result"] == "hello there"
            process.terminate()
            assert lines.readline() == ""
    process.communicate(timeout=30)
    assert process.returncode == 143
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["-d", "hello"], ["--daemon", "PROMPT"]),
        (["-d", "-p", "hello"], ["--daemon", "--prompt"]),
        (["-d", "-o", "x"], ["--daemon", "--output"]),
        (["--socket", "x", "-p", "hello"], ["--socket", "--daemon"]),
        (["-d", "--socket", "x", "--input", "y"], ["--socket", "--input"]),
        (["-d", "--socket", "x", "--output-format", "text"], ["--socket", "--output-format"]),
        (["--wire", "-d"], ["--daemon", "--wire"]),
    ],
)
def test_what_makes_no_sense_together_is_told(
    program: Program, arguments: list[str], named: list[str]
) -> None:
    finished = program.run(*arguments)
    assert finished.exit_code == 2
    assert all(name in finished.stderr for name in named), finished.stderr
