"""Ten sessions of a resident engine that stream at the same time, and eight apps on one session."""

import asyncio
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from benchmarks.figure import Figure, percentile
from benchmarks.home import KIMI_TUI, Home, new_home, serve_model
from benchmarks.scale import Scale
from benchmarks.terminal import RARE_LETTERS, Echo, Terminal, process_cpu_s, terminal
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.cli.options import CliOptions
from kimi_tui.cli.resident_client import ensure_engine, list_hosted_sessions, stop_engine
from kimi_tui.cli.resident_options import to_engine_options
from kimi_tui.cli.run_paths import RunPaths
from kimi_tui.resident.remote_engine import RemoteEngine
from kimi_tui.version import __version__
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Prompt, Shutdown
from kimi_tui.wire.events import TurnBegin, TurnEnd

SESSIONS = 10
PACE = 100
"""Tokens a second of each session."""
KEY_PERIOD_S = 0.1
SETTLE_S = 2.0
SCREENS = 8
PROMPT_PERIOD_S = 0.5


def measure(scale: Scale) -> list[Figure]:
    """Measure typing while all sessions stream, and the delay of an event on eight screens."""
    return [*_measure_typing(scale), *_measure_screens(scale.choose(100, 40, 3))]


def _measure_typing(scale: Scale) -> list[Figure]:
    seconds = scale.choose(20, 8, 1)
    words = int((seconds + 30) * PACE)  # more than the measured time needs
    with new_home() as home, serve_model([{"words": words, "rate": PACE}]) as (url, _):
        home.configure(url)
        engine = subprocess.Popen(
            [KIMI_TUI, "serve"], env=home.env, cwd=home.work_dir, stdout=subprocess.DEVNULL
        )
        try:
            with terminal([KIMI_TUI, "--resident"], env=home.env, cwd=home.work_dir) as program:
                program.type_until_shown()
                program.type("\x15")
                program.wait_until_idle()
                asyncio.run(_start_sessions(home, SESSIONS - 1))
                return _type_while_all_stream(home, program, engine.pid, seconds)
        finally:
            asyncio.run(_stop(home))
            engine.wait()


def _type_while_all_stream(home: Home, program: Terminal, engine: int, seconds: float) -> list[Figure]:
    program.type("go\r")
    time.sleep(SETTLE_S)
    echoes: list[Echo] = []
    began, engine_cpu, app_cpu = time.perf_counter(), process_cpu_s(engine), program.cpu_s()
    while time.perf_counter() - began < seconds:
        echoes.append(program.echo())
        time.sleep(KEY_PERIOD_S)
    wall = time.perf_counter() - began
    states = [session.state for session in asyncio.run(list_hosted_sessions(home.path / "share"))]
    assert states == ["working"] * SESSIONS, states
    engine_cpu, app_cpu = process_cpu_s(engine) - engine_cpu, program.cpu_s() - app_cpu
    walls, cpus = [it.wall_s * 1e3 for it in echoes], [it.cpu_s * 1e3 for it in echoes]
    name = f"{SESSIONS} sessions"
    return [
        Figure(name, "key to echo, median", percentile(walls, 0.5), "ms"),
        Figure(name, "key to echo, p95", percentile(walls, 0.95), "ms", target=16),
        Figure(name, "key to echo, CPU until then, p95", percentile(cpus, 0.95), "ms"),
        Figure(name, "share of a core, engine", 100 * engine_cpu / wall, "%", target=25),
        Figure(name, "share of a core, app with one of them", 100 * app_cpu / wall, "%"),
    ]


def _measure_screens(prompts: int) -> list[Figure]:
    with new_home() as home, serve_model([{"words": 3}]) as (url, _), ExitStack() as stack:
        home.configure(url)
        try:
            first = stack.enter_context(
                terminal([KIMI_TUI, "--resident", "go"], env=home.env, cwd=home.work_dir)
            )
            first.type_until_shown()
            asyncio.run(_wait_for_session(home))
            attach = [KIMI_TUI, "attach"]
            others = [
                stack.enter_context(terminal(attach, env=home.env, cwd=home.work_dir))
                for _ in range(SCREENS - 1)
            ]
            for program in others:
                program.type_until_shown()
            for program in (first, *others):
                program.wait_until_idle()
            delays = asyncio.run(_prompt_and_wait(home, [first, *others], prompts))
        finally:
            asyncio.run(_stop(home))
    name = f"{SCREENS} apps on a session"
    return [
        Figure(name, "event to screen, median", percentile(delays, 0.5), "ms"),
        Figure(name, "event to screen, p95", percentile(delays, 0.95), "ms", target=50),
    ]


async def _wait_for_session(home: Home) -> None:
    await ensure_engine(home.path / "share")
    while True:
        if await list_hosted_sessions(home.path / "share"):
            return
        await asyncio.sleep(0.1)


async def _prompt_and_wait(home: Home, programs: Sequence[Terminal], count: int) -> list[float]:
    """Send prompts. Return the milliseconds from their arrival here until each app shows each one."""
    data_dir, wire, delays = home.path / "share", Wire(), list[float]()
    (session,) = await list_hosted_sessions(data_dir)
    paths = RunPaths(data_dir=data_dir, work_dir=home.work_dir)
    options = to_engine_options(CliOptions(session=session.id), paths)
    subscription = wire.subscribe()
    engine = RemoteEngine(data_dir=data_dir, version=__version__, options=options)
    serving = asyncio.ensure_future(engine.serve(wire))
    for number in range(count):
        text = "".join(RARE_LETTERS[(13 * number + 7 * place) % len(RARE_LETTERS)] for place in range(5))
        starts = [program.written for program in programs]
        shown = asyncio.gather(
            *(
                asyncio.to_thread(_wait_for, program, text, start)
                for program, start in zip(programs, starts, strict=True)
            )
        )
        wire.command(Prompt(text))
        sent_at = 0.0
        async for message in subscription:
            if isinstance(message, TurnBegin):
                sent_at = time.perf_counter()
            elif isinstance(message, TurnEnd):
                break
        delays += [1e3 * (at - sent_at) for at in await shown]
        await asyncio.sleep(PROMPT_PERIOD_S)
    wire.command(Shutdown())
    await serving
    return delays


def _wait_for(program: Terminal, text: str, start: int) -> float:
    program.wait_for(text, start=start, seconds=10)
    return time.perf_counter()


async def _start_sessions(home: Home, count: int) -> None:
    """Start sessions that go on streaming without a client."""
    data_dir = home.path / "share"
    await ensure_engine(data_dir)
    await asyncio.gather(*(_start_session(data_dir, home.work_dir) for _ in range(count)))


async def _start_session(data_dir: Path, work_dir: Path) -> None:
    wire, paths = Wire(), RunPaths(data_dir=data_dir, work_dir=work_dir)
    subscription = wire.subscribe()
    engine = RemoteEngine(
        data_dir=data_dir, version=__version__, options=to_engine_options(CliOptions(), paths)
    )
    serving = asyncio.ensure_future(engine.serve(wire))
    wire.command(Prompt("go"))
    async for message in subscription:
        if isinstance(message, TurnBegin):
            break
    wire.command(Shutdown())
    await serving


async def _stop(home: Home) -> None:
    with suppress(KimiTuiError):
        await stop_engine(home.path / "share")
