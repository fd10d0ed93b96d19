"""One process that runs many prompts: no memory, files, threads or processes leak.

With KIMI_TUI_PROMPTS=10000 it's a long run that also checks memory.
"""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from tests.e2e.program import Program, script, tool_call
from tests.e2e.scenarios import wait_for
from tests.timeouts import TEST_TIMEOUT_S
from tests.wireserver.client import WireTestClient

PROMPTS = int(os.environ.get("KIMI_TUI_PROMPTS", "30"))
SETTLED = PROMPTS // 10
"""Number of prompts after which everything that is created once exists."""
COMMAND_EVERY = FAILURE_EVERY = 10
MAX_HELPERS = 2
"""Where commands run in workspaces: the process that creates them, and the view for the next command."""
WORKERS = min(32, (os.cpu_count() or 1) + 4)
"""Maximum number of threads in the event loop's pool for blocking calls."""
PLAYED_SCRIPT = 150
"""Bytes that the scripted model frees with each script. They could hide a leak elsewhere."""
COMPACTS_EARLY = json.dumps({"loop_control": {"compaction_trigger_ratio": 0.05}})
"""Config that makes a long run compact every few hundred prompts, as real sessions do."""


class ProgramClient(Protocol):
    """Client of a running program."""

    pid: int

    def ask(self, text: str) -> bool:
        """Send a prompt. Return whether its turn succeeded."""
        ...

    def close(self) -> int: ...


class WireProgramClient:
    def __init__(self, program: Program) -> None:
        self._client = WireTestClient(program, "--yolo", "--config", COMPACTS_EARLY)
        self.pid = self._client.process.pid

    def ask(self, text: str) -> bool:
        response = self._client.prompt(text)
        self._client.seen.clear()
        return "result" in response

    def close(self) -> int:
        try:
            return self._client.close_stdin()
        finally:
            self._client.close()


class DaemonProgramClient:
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

    def close(self) -> int:
        self._process.communicate(timeout=TEST_TIMEOUT_S)
        return self._process.returncode


def files_and_threads(pid: int) -> tuple[list[str], int]:
    """Return the kinds of the open files, and the number of threads."""
    kinds = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            kinds.append(str(entry.readlink()).split(":")[0].split("/")[-1])
        except FileNotFoundError:
            continue
    return sorted(kinds), len(list(Path(f"/proc/{pid}/task").iterdir()))


def descendants(pid: int) -> set[int]:
    found: set[int] = set()
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return found
    for child in map(int, children):
        found |= {child} | descendants(child)
    return found


def count_files(pids: set[int]) -> int:
    return sum(len(files_and_threads(pid)[0]) for pid in pids)


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.timeout(max(300, PROMPTS))
@pytest.mark.parametrize("open_client", [WireProgramClient, DaemonProgramClient])
def test_prompts_leak_no_memory_files_threads_or_processes(
    program: Program, open_client: Callable[[Program], ProgramClient]
) -> None:
    scripts = ["for: <conversation>\ntext: They said hello."] * (PROMPTS // 10)
    for number in range(PROMPTS):
        if number % COMMAND_EVERY == 0:
            scripts.append(script(tool_call(f"b{number}", "Bash", command="echo hello")))
        scripts.append("error: 401 no" if number % FAILURE_EVERY == 5 else "text: fine")
    program.script(*scripts)
    client = open_client(program)
    early: tuple[list[str], int] = ([], 0)
    early_bytes = 0
    helper_files = 0
    for number in range(PROMPTS):
        assert client.ask(f"prompt {number}") == (number % FAILURE_EVERY != 5)
        if number == SETTLED:
            wait_for(lambda: len(descendants(client.pid)) in {0, MAX_HELPERS})
            early, early_bytes = files_and_threads(client.pid), resident_bytes(client.pid)
            helper_files = count_files(descendants(client.pid))

    def is_as_early() -> bool:
        files, threads = files_and_threads(client.pid)
        return (
            len(files) <= len(early[0]) + 1
            and threads <= early[1] + WORKERS
            and len(helpers := descendants(client.pid)) <= MAX_HELPERS
            and count_files(helpers) <= helper_files
        )

    print(f"then {early}, now {files_and_threads(client.pid)}")
    wait_for(is_as_early)  # files that are written after a turn are open for a moment
    growth = resident_bytes(client.pid) - early_bytes
    print(f"{early_bytes:,} bytes, {growth:+,} since")
    if PROMPTS >= 1000:
        assert growth + PLAYED_SCRIPT * (PROMPTS - SETTLED) < 0.05 * early_bytes
    assert client.close() == 0
