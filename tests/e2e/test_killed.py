"""SIGKILL at random moments: a session always resumes, and nothing that was reported as done is lost.

The suite runs a few rounds; `make faults` runs 200.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from kimi_tui.history.context import Context
from tests.e2e.program import Program, script, tool_call

ROUNDS = int(os.environ.get("KIMI_TUI_KILL_ROUNDS", "6"))
EMPTY = "empty"
"""Name of an empty directory: its listing stays short, so that no number of rounds triggers a compaction."""
SEED = int(os.environ.get("KIMI_TUI_KILL_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)


def turns(tag: str) -> list[str]:
    """Return scripts for two turns: text and tools, then text that streams for a while."""
    return [
        script(
            f"text: {tag} starts",
            tool_call(f"{tag}-a", "Bash", command=f"echo {tag}; sleep 0.05"),
            tool_call(f"{tag}-b", "LS", path=EMPTY),
            tool_call(f"{tag}-c", "WriteFile", path=f"{tag}.txt", content=tag),
        ),
        script(f"think: {tag} thinks", f"text: {tag} is done"),
        script("chunk: 200", f"text: {tag} says " + "many words " * 12),
    ]


def shown_until_killed(program: Program, tag: str, delay: float) -> list[dict[str, Any]]:
    """Run two turns and kill the program `delay` seconds after its first line. Return its messages."""
    prompts = [json.dumps({"role": "user", "content": f"{tag} prompt {number}"}) for number in (1, 2)]
    process = program.start(
        "--print", "--continue", "--yolo", "--input-format", "stream-json", "--output-format", "stream-json",
        stdin=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(("\n".join(prompts) + "\n").encode())
    process.stdin.close()
    first_line = process.stdout.readline()
    killer = threading.Timer(delay, kill, [process.pid])
    killer.start()
    data = first_line + process.stdout.read()
    errors = process.stderr.read().decode()
    process.wait()
    killer.cancel()
    process.stdout.close()
    process.stderr.close()
    assert "Traceback" not in errors, errors
    complete = data[: data.rfind(b"\n") + 1]
    return [json.loads(line) for line in complete.split(b"\n") if line]


def kill(pid: int) -> None:
    """Kill a process that may have exited. Unlike `ForkedProcess.kill`, it doesn't wait for the process."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def restored(journal: Path) -> Context:
    context = Context(journal)
    asyncio.run(context.restore())
    return context


def assert_nothing_shown_is_lost(context: Context, shown: list[dict[str, Any]]) -> None:
    responses = Counter(message.text for message in context.history if message.role == "assistant")
    results = {message.tool_call_id for message in context.history if message.role == "tool"}
    for line in shown:
        if line.get("role") == "assistant":
            content = line["content"]
            text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
            assert responses[text], f"lost (seed {SEED}): {text!r}"
        elif line.get("role") == "tool":
            assert line["tool_call_id"] in results, f"lost (seed {SEED}): {line}"


def assert_every_call_has_one_result(context: Context) -> None:
    called = [call.id for message in context.history for call in message.tool_calls or ()]
    answered = [message.tool_call_id for message in context.history if message.role == "tool"]
    assert called == answered


def test_a_session_that_is_killed_repeatedly_resumes_with_everything_it_has_shown(program: Program) -> None:
    rng = random.Random(SEED)
    (program.work_dir / EMPTY).mkdir()
    shown: list[dict[str, Any]] = []
    for number in range(ROUNDS):
        tag = f"round{number}"
        program.script(*turns(tag))
        shown += shown_until_killed(program, tag, delay=rng.uniform(0, 0.9))
        journals = program.context_files
        if not journals:
            continue
        assert len(journals) == 1
        context = restored(journals[0])
        assert_nothing_shown_is_lost(context, shown)
        assert_every_call_has_one_result(context)

    program.script("text: still here")
    last = program.run("--print", "--continue", "-p", "are you there?")
    assert last.exit_code == 0, last.stderr
    assert last.stdout.strip() == "still here"
