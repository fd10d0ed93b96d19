"""One process for many prompts: nothing is left behind but what is on disk.

KIMI_TUI_PROMPTS=10000 makes it the long run, in which memory is looked at too.
"""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from tests.e2e.moments import wait_for
from tests.e2e.program import Program, script, tool_call
from tests.patience import PATIENCE_S
from tests.wireserver.client import WireClient

PROMPTS = int(os.environ.get("KIMI_TUI_PROMPTS", "30"))
SETTLED = PROMPTS // 10
"""After so many prompts everything that is made once has been made."""
COMMAND_EVERY = FAILURE_EVERY = 10
WORKERS = min(32, (os.cpu_count() or 1) + 4)
"""Threads that the event loop may keep for what blocks."""
PLAYED_SCRIPT = 150
"""Bytes that the scripted model gives back with each script, and other growth could hide in."""
COMPACTS_EARLY = json.dumps({"loop_control": {"compaction_trigger_ratio": 0.05}})
"""A long run compacts, as it does at work; each time a line of some hundred prompts is left."""


class Door(Protocol):
    """A process that is given one prompt after another."""

    pid: int

    def ask(self, text: str) -> bool:
        """Whether its turn ended well."""
        ...

    def leave(self) -> int: ...


class WireDoor:
    def __init__(self, program: Program) -> None:
        self._client = WireClient(program, "--yolo", "--config", COMPACTS_EARLY)
        self.pid = self._client.process.pid

    def ask(self, text: str) -> bool:
        answer = self._client.prompt(text)
        self._client.seen.clear()
        return "result" in answer

    def leave(self) -> int:
        try:
            return self._client.leave()
        finally:
            self._client.close()


class DaemonDoor:
    def __init__(self, program: Program) -> None:
        self._process = program.start(
            *("--daemon", "--output-format", "json", "--yolo", "--config", COMPACTS_EARLY),
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.pid = self._process.pid

    def ask(self, text: str) -> bool:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(text.encode() + b"\n")
        self._process.stdin.flush()
        result = json.loads(self._process.stdout.readline())
        return result["exit_code"] == 0

    def leave(self) -> int:
        self._process.communicate(timeout=PATIENCE_S)
        return self._process.returncode


def files_and_threads(pid: int) -> tuple[list[str], int]:
    """What is open, by what it is, and how many threads there are."""
    kinds = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            kinds.append(str(entry.readlink()).split(":")[0].split("/")[-1])
        except FileNotFoundError:
            continue
    return sorted(kinds), len(list(Path(f"/proc/{pid}/task").iterdir()))


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.timeout(max(300, PROMPTS))
@pytest.mark.parametrize("open_door", [WireDoor, DaemonDoor])
def test_prompts_leave_no_memory_file_thread_or_process_behind(
    program: Program, open_door: Callable[[Program], Door]
) -> None:
    scripts = ["for: <conversation>\ntext: They said hello."] * (PROMPTS // 10)
    for number in range(PROMPTS):
        if number % COMMAND_EVERY == 0:
            scripts.append(script(tool_call(f"b{number}", "Bash", command="echo hello")))
        scripts.append("error: 401 no" if number % FAILURE_EVERY == 5 else "text: fine")
    program.script(*scripts)
    door = open_door(program)
    early: tuple[list[str], int] = ([], 0)
    early_bytes = 0
    for number in range(PROMPTS):
        assert door.ask(f"prompt {number}") == (number % FAILURE_EVERY != 5)
        if number == SETTLED:
            early, early_bytes = files_and_threads(door.pid), resident_bytes(door.pid)

    def is_as_early() -> bool:
        files, threads = files_and_threads(door.pid)
        return len(files) <= len(early[0]) + 1 and threads <= early[1] + WORKERS and not children(door.pid)

    print(f"then {early}, now {files_and_threads(door.pid)}")
    wait_for(is_as_early)  # what is written after a turn is open for a moment
    grown = resident_bytes(door.pid) - early_bytes
    print(f"{early_bytes:,} bytes, {grown:+,} since")
    if PROMPTS >= 1000:
        assert grown + PLAYED_SCRIPT * (PROMPTS - SETTLED) < 0.05 * early_bytes
    assert door.leave() == 0
