"""Rounds with the resident engine: many clients, raced answers, cut connections and killed engines.

    python -m tests.resident.rounds [--events N] [--answers N] [--cuts N] [--killed-clients N] [--kills N]
                                   [--stalled-events N]

Prints one line of figures per part, and fails if a message is lost or out of order, a request is answered
more than once, or a process is left.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.cli.options import CliOptions
from kimi_tui.cli.resident_client import ensure_engine, stop_engine
from kimi_tui.cli.resident_options import to_engine_options
from kimi_tui.cli.run_paths import RunPaths
from kimi_tui.resident.connection import connect
from kimi_tui.resident.frames import Hello
from kimi_tui.resident.remote_engine import RemoteEngine
from kimi_tui.version import __version__
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Prompt
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.events import (
    ApprovalResponse,
    SessionInfo,
    StepBegin,
    TodoUpdate,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest
from tests.resident.conftest import VERSION, Client, start_engine

CLIENTS = 8
PACED_EVENTS = 5000
"""Events whose delay is measured. They are sent at 500 per second, a few times faster than a model writes."""
BURST = 10
EVENT_BYTES = 20_000
MAX_GROWTH_MB = 400
"""Limit of the growth of a process with a client that doesn't read: its backlog, encoded and as objects."""


async def measure_events(count: int) -> str:
    """Send `count` events to eight clients, and measure how long each takes to arrive."""
    with tempfile.TemporaryDirectory() as folder:
        async with start_engine(Path(folder)) as engine:
            clients = [(await engine.open())[0], *[await engine.attach() for _ in range(CLIENTS - 1)]]
            session = engine.opener.sessions["s-1"]
            sent_at: list[float] = []
            delays: list[float] = []

            async def receive(client: Client) -> None:
                subscription, expected = client.wire.subscribe(merges=False), 0
                while expected < count:
                    now_batch = await subscription.drain()
                    now = time.perf_counter()
                    for message in now_batch:
                        if isinstance(message, StepBegin):
                            assert message.n == expected, "out of order"
                            if expected < PACED_EVENTS:
                                delays.append(now - sent_at[expected])
                            expected += 1

            async with asyncio.TaskGroup() as group:
                for client in clients:
                    group.create_task(receive(client))
                await asyncio.sleep(0.5)
                session.wire.send(TurnBegin("go"))
                started = time.perf_counter()
                for number in range(count):
                    sent_at.append(time.perf_counter())
                    session.wire.send(StepBegin(number))
                    if number % BURST == 0:
                        await asyncio.sleep(BURST / 500 if number < PACED_EVENTS else 0)
                paced = min(count, PACED_EVENTS)
            seconds = time.perf_counter() - started
    delays.sort()
    p50, p95 = (delays[int(len(delays) * share)] * 1000 for share in (0.5, 0.95))
    return (
        f"{count} events to {CLIENTS} clients in one order: {seconds:.1f} s. Delay of the first {paced}: "
        f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"
    )


async def race_answers(count: int) -> str:
    """Let four clients answer each request at the same time."""
    chance = random.Random(3)
    with tempfile.TemporaryDirectory() as folder:
        async with start_engine(Path(folder)) as engine:
            clients = [(await engine.open())[0], *[await engine.attach() for _ in range(3)]]
            session = engine.opener.sessions["s-1"]
            closed = [0] * len(clients)

            async def answer(index: int, client: Client) -> None:
                subscription = client.wire.subscribe(merges=False)
                while closed[index] < count:
                    for message in await subscription.drain():
                        if isinstance(message, ApprovalRequest):
                            for _ in range(chance.randrange(3)):
                                await asyncio.sleep(0)
                            client.answer(ApprovalResponse(message.id, "reject", str(index)))
                        elif isinstance(message, ApprovalResponse):
                            assert message.request_id == f"r-{closed[index]}", "answered twice or never"
                            closed[index] += 1

            winners: set[str] = set()
            async with asyncio.TaskGroup() as group:
                for index, client in enumerate(clients):
                    group.create_task(answer(index, client))
                await asyncio.sleep(0.5)
                session.wire.send(TurnBegin("go"))
                for number in range(count):
                    request = ApprovalRequest(f"r-{number}", "c", "Bash", "run command", "ls")
                    response = await session.wire.ask(request)
                    session.wire.send(response)  # type: ignore[arg-type]
                    winners.add(response.feedback)  # type: ignore[union-attr]
    return f"{count} raced answers: each counted once, {len(winners)} clients won some"


async def cut_clients(count: int) -> str:
    """Cut connections at random while a turn streams, and check what the next client gets."""
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        async with start_engine(Path(folder)) as engine:
            steady, session = await engine.open()
            session.wire.send(TurnBegin("go"))
            expected = ""
            for number in range(count):
                client = await engine.attach()
                for _ in range(chance.randrange(20)):
                    expected += (text := f"{number} ")
                    session.wire.send(TextPart(text))
                    if chance.random() < 0.5:
                        await asyncio.sleep(0)
                await asyncio.sleep(chance.random() * 0.01)
                client.cut()
                engine.clients.remove(client)
            last = await engine.attach()
            session.wire.send(TurnEnd())
            for client in (steady, last):
                received = await client.wait_for(TurnEnd())
                texts = "".join(it.text for it in received if isinstance(it, TextPart))
                assert texts == expected, "a message was lost"
            hosted = len(engine.opener.sessions)
    return f"{count} connections cut: nothing lost, {hosted} session"


async def kill_clients(count: int) -> str:
    """Kill client processes at random while a session streams and asks, and check what the others get."""
    with tempfile.TemporaryDirectory() as folder:
        async with start_engine(Path(folder)) as engine:
            steady, session = await engine.open()
            session.wire.send(TurnBegin("go"))
            files = _open_files()
            program = [sys.executable, "-m", "tests.resident.killed_clients", folder, str(count)]
            process = await asyncio.create_subprocess_exec(*program)
            ended = asyncio.ensure_future(process.wait())
            steps = asked = 0
            while not ended.done():
                session.wire.send(StepBegin(steps))
                steps += 1
                if steps % 20 == 0:
                    request = ApprovalRequest(f"r-{asked}", "c", "Bash", "run command", "ls")
                    answering = asyncio.ensure_future(session.wire.ask(request))
                    await asyncio.wait([answering], timeout=0.02)
                    if not answering.done():  # no client that lived long enough answered
                        await steady.wait_for(request)
                        assert steady.answer(ApprovalResponse(request.id, "reject"))
                    session.wire.send(await answering)  # type: ignore[arg-type]
                    asked += 1
                await asyncio.sleep(0.002)
            assert ended.result() == 0, "a client ended before it was killed"
            session.wire.send(TurnEnd())
            received = await steady.wait_for(TurnEnd())
            order = [it.n for it in received if isinstance(it, StepBegin)]
            assert order == list(range(steps)), "a message was lost or out of order"
            answers = [it.request_id for it in received if isinstance(it, ApprovalResponse)]
            assert answers == [f"r-{number}" for number in range(asked)], "answered twice or never"
            async with asyncio.timeout(20):
                while _open_files() > files:
                    await asyncio.sleep(0.05)
            last = await engine.attach()
            await last.wait_for(TurnEnd())
    return f"{count} client processes killed during {steps} events and {asked} requests: nothing lost or left"


async def stall_client(count: int) -> str:
    """Send `count` large events to a client that reads, while another one doesn't."""
    with tempfile.TemporaryDirectory() as folder:
        async with start_engine(Path(folder)) as engine:
            steady, session = await engine.open()
            hello = Hello(version=VERSION, request="open", options={"session": "s-1"})
            async with connect(Path(folder), hello) as ((reader, _), _):
                reader._transport.pause_reading()  # type: ignore[attr-defined]
                before, longest, delays = _memory_mb(), 0.0, []
                for number in range(count):
                    event = TodoUpdate((TodoItem(f"{number} {'x' * EVENT_BYTES}", "pending"),))
                    began = time.perf_counter()
                    session.wire.send(event)
                    while event not in await steady.drain():
                        pass
                    delays.append(time.perf_counter() - began)
                    longest = max(longest, _memory_mb() - before)
                reader._transport.resume_reading()  # type: ignore[attr-defined]
                async with asyncio.timeout(20):
                    line = b""
                    while new := await reader.readline():
                        line = new
                    assert b"couldn't keep up" in line, "the client wasn't told"
    assert longest < MAX_GROWTH_MB, f"grew by {longest:.0f} MB"
    p95 = sorted(delays)[int(len(delays) * 0.95)] * 1000
    sent_mb = count * EVENT_BYTES / 1e6
    return (
        f"{sent_mb:.0f} MB past a client that doesn't read: p95 {p95:.1f} ms, memory grew by {longest:.0f} MB"
    )


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _memory_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def kill_engines(count: int) -> str:
    """Kill the real engine at random during prompts. Every turn that ended is in the journal."""
    chance = random.Random(2)
    done: list[str] = []
    session_id = ""
    with tempfile.TemporaryDirectory() as folder:
        data_dir, work_dir = Path(folder) / "share", Path(folder) / "work"
        work_dir.mkdir()
        data_dir.mkdir(mode=0o700)
        paths = RunPaths(data_dir=data_dir, work_dir=work_dir)
        for number in range(count):
            await ensure_engine(data_dir)
            options = to_engine_options(CliOptions(demo=True, session=session_id or None), paths)
            session_id = (
                await _prompt_and_kill(data_dir, options, f"round {number}", done, chance) or session_id
            )
        await ensure_engine(data_dir)
        await stop_engine(data_dir)
        journals = [*data_dir.glob("tui-sessions/*/*/context.jsonl")]
        lines = [json.loads(line) for path in journals for line in path.read_text().splitlines()]
        prompts = {str(line.get("content")) for line in lines if line.get("role") == "user"}
        missing = [text for text in done if not any(text in prompt for prompt in prompts)]
        for _ in range(100):  # the interpreter ends after the lock is released
            if not (left := _engines_of(data_dir)):
                break
            await asyncio.sleep(0.1)
    assert not missing, f"lost: {missing}"
    assert not left, f"left processes: {left}"
    kept = f"{len(done)} turns that ended are in the journal"
    return f"{count} engines killed: {kept}, no process left"


async def _prompt_and_kill(
    data_dir: Path, options: dict[str, Any], prompt: str, done: list[str], chance: random.Random
) -> str:
    """Send a prompt, kill the engine at a random moment, and return the session's id."""
    wire, session_id, opened = Wire(), "", asyncio.Event()
    subscription = wire.subscribe()
    engine = RemoteEngine(data_dir=data_dir, version=__version__, options=options)
    serving = asyncio.ensure_future(engine.serve(wire))
    wire.command(Prompt(prompt))

    async def kill() -> None:
        await opened.wait()
        await asyncio.sleep(chance.random() * 5)
        for pid in _engines_of(data_dir):
            os.kill(pid, signal.SIGKILL)

    killing = asyncio.ensure_future(kill())
    async for message in subscription:
        match message:
            case SessionInfo():
                session_id = message.session_id
                opened.set()
            case TurnBegin(user_input=str(text)):
                running = text
            case TurnEnd(outcome="finished") if running == prompt and prompt not in done:
                done.append(prompt)
            case _:
                continue
    await killing
    with suppress(KimiTuiError):
        await serving
    return session_id


def _engines_of(data_dir: Path) -> list[int]:
    """Return the ids of the processes that have the engine's lock open."""
    listed = subprocess.run(["pgrep", "-f", "kimi_tui serve"], capture_output=True, text=True, check=False)
    pids = [int(pid) for pid in listed.stdout.split()]
    marker = f"KIMI_SHARE_DIR={data_dir}".encode()
    found = []
    for pid in pids:
        with suppress(OSError):
            if marker in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(pid)
    return found


async def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--cuts", type=int, default=1000)
    parser.add_argument("--killed-clients", type=int, default=1000)
    parser.add_argument("--stalled-events", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=200)
    arguments = parser.parse_args()
    parts = (
        (measure_events, arguments.events),
        (race_answers, arguments.answers),
        (cut_clients, arguments.cuts),
        (kill_clients, arguments.killed_clients),
        (stall_client, arguments.stalled_events),
        (kill_engines, arguments.kills),
    )
    for run, count in parts:
        if count:
            sys.stdout.write(f"{await run(count)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
