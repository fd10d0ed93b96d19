"""One server for many prompts: nothing is left behind but the conversation.

KIMI_TUI_PROMPTS=10000 makes it the long run, in which memory is looked at too.
"""

import os
from collections.abc import Callable
from pathlib import Path

from tests.e2e.program import Program, script, tool_call
from tests.wireserver.client import WireClient

PROMPTS = int(os.environ.get("KIMI_TUI_PROMPTS", "40"))
SETTLED = PROMPTS // 10
"""After so many prompts everything that is made once has been made."""
COMMAND_EVERY = 10
WORKERS = min(32, (os.cpu_count() or 1) + 4)
"""Threads that the event loop may keep for what blocks."""


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


def test_prompts_leave_no_file_thread_or_process_behind(
    program: Program, connect: Callable[..., WireClient]
) -> None:
    scripts = []
    for number in range(PROMPTS):
        if number % COMMAND_EVERY == 0:
            scripts.append(script(tool_call(f"b{number}", "Bash", command="echo hello")))
        scripts.append("text: fine")
    program.script(*scripts)
    client = connect("--yolo")
    pid = client.process.pid
    early: tuple[list[str], int] = ([], 0)
    early_bytes = early_journal = 0
    for number in range(PROMPTS):
        assert client.prompt(f"prompt {number}")["result"] == {"status": "finished"}
        client.seen.clear()
        if number == SETTLED:
            early, early_bytes = files_and_threads(pid), resident_bytes(pid)
            early_journal = program.context_files[0].stat().st_size

    files, threads = files_and_threads(pid)
    assert len(files) <= len(early[0]) + 1, (early, files)
    assert threads <= early[1] + WORKERS
    assert children(pid) == []
    if PROMPTS >= 1000:  # the conversation itself is kept; four times its journal is what its objects take
        said = program.context_files[0].stat().st_size - early_journal
        assert resident_bytes(pid) - early_bytes < 0.05 * early_bytes + 4 * said
    assert client.leave() == 0
