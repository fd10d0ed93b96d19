"""Checks after steps: the time from a step's end until its check of one second is shown.

An app shows the timeline of a session in the resident engine. Each step changes a file. A step ends when the
checkpoint after it is created. Times are those at which messages arrive at a client.
"""

import asyncio
import subprocess
import time
from dataclasses import dataclass, field

from benchmarks.figure import Figure, median
from benchmarks.home import KIMI_TUI, Home, new_home, serve_model
from benchmarks.project import make_project, sample_files
from benchmarks.scale import Scale
from benchmarks.terminal import Terminal, terminal
from kimi_tui.cli.options import CliOptions
from kimi_tui.cli.resident_client import list_hosted_sessions, stop_engine
from kimi_tui.cli.resident_options import to_engine_options
from kimi_tui.cli.run_paths import RunPaths
from kimi_tui.resident.remote_engine import RemoteEngine
from kimi_tui.version import __version__
from kimi_tui.wire.channel import Subscription, Wire
from kimi_tui.wire.checks import CheckResult
from kimi_tui.wire.commands import Prompt, Shutdown
from kimi_tui.wire.events import CheckpointCreated, TurnEnd

WORKLOAD = "check ribbon"
_CHECK_S = 1.0
_TARGET_S = 2.0
_MODEL_DELAY_S = 2.5
"""Before each response, so that no step replaces one whose check waits."""
_F3 = "\x1bOR"
_PASSED = "✔"


def measure(scale: Scale) -> list[Figure]:
    """Measure the checks of some steps in a small and in a large project."""
    steps = scale.choose(8, 5, 2)
    return [
        figure
        for n_files in scale.choose((100, 100_000), (100, 5_000), (100,))
        for figure in _measure_project(n_files, steps)
    ]


@dataclass(slots=True)
class _Times:
    """Times of the performance counter, in seconds."""

    ended: list[float] = field(default_factory=list)
    checked: list[float] = field(default_factory=list)
    ran: list[float] = field(default_factory=list)
    """How long the command ran in each check."""
    shown: list[float] = field(default_factory=list)
    """When the app showed each sign."""


def _measure_project(n_files: int, steps: int) -> list[Figure]:
    with new_home() as home:
        home.work_dir.rmdir()
        make_project(home.work_dir, n_files)
        plan: list[dict[str, object]] = [
            {"delay": _MODEL_DELAY_S, "calls": [["Bash", {"command": f"echo '# changed' >> {file}"}]]}
            for file in sample_files(home.work_dir, steps)
        ]
        with serve_model([*plan, {"delay": _MODEL_DELAY_S, "words": 5}]) as (url, _):
            home.configure(url)
            with (home.path / "share" / "config.toml").open("a") as config:
                config.write(f'\n[checks]\nrun = "sleep {_CHECK_S}"\n')
            times = _run(home, steps)
    name = f"{n_files:,} files"
    pairs = list(zip(times.ended, times.checked, strict=True))
    totals = [checked - ended for ended, checked in pairs]
    added = [total - ran for total, ran in zip(totals, times.ran, strict=True)]
    shown = [at - ended for at, ended in zip(times.shown, times.ended, strict=True)]
    return [
        Figure(WORKLOAD, f"from a step's end to its result, {name}, the slowest", max(totals), "s"),
        Figure(WORKLOAD, "the same without the command, median", 1e3 * median(added), "ms"),
        Figure(WORKLOAD, "from a step's end to its ✔ on the screen", max(shown), "s", target=_TARGET_S),
    ]


def _run(home: Home, steps: int) -> _Times:
    engine = subprocess.Popen([KIMI_TUI, "serve"], env=home.env, cwd=home.work_dir, stdout=subprocess.DEVNULL)
    try:
        with terminal([KIMI_TUI, "--resident", "--yolo"], env=home.env, cwd=home.work_dir) as program:
            program.type_until_shown()
            program.type("\x15")
            program.wait_until_idle()
            program.type(_F3)
            program.wait_until_idle()
            return asyncio.run(_prompt_and_wait(home, program, steps))
    finally:
        asyncio.run(stop_engine(home.path / "share"))
        engine.wait()


async def _prompt_and_wait(home: Home, program: Terminal, steps: int) -> _Times:
    data_dir, wire = home.path / "share", Wire()
    (session,) = await list_hosted_sessions(data_dir)
    options = to_engine_options(
        CliOptions(session=session.id), RunPaths(data_dir=data_dir, work_dir=home.work_dir)
    )
    subscription = wire.subscribe(live_only=True)
    serving = asyncio.ensure_future(
        RemoteEngine(data_dir=data_dir, version=__version__, options=options).serve(wire)
    )
    wire.command(Prompt("go"))
    times = await _watch(subscription, program, steps)
    wire.command(Shutdown())
    await serving
    return times


async def _watch(subscription: Subscription, program: Terminal, steps: int) -> _Times:
    """Note the ends of the steps and their results."""
    ended, shown, times = dict[int, float](), dict[int, asyncio.Future[float]](), _Times()
    last: int | None = None
    async for message in subscription:
        now = time.perf_counter()
        match message:
            case CheckpointCreated() | TurnEnd():
                if last is not None:
                    ended[last] = now
                    shown[last] = asyncio.ensure_future(_wait_for_sign(program))
                last = message.id if isinstance(message, CheckpointCreated) else None
            case CheckResult():
                assert message.verdict == "pass", message
                number = message.checkpoint
                times.ended.append(ended[number])
                times.checked.append(now)
                times.ran.append(message.duration_s)
                times.shown.append(await shown[number])
            case _:
                pass
        if len(times.checked) == steps:
            return times
    raise RuntimeError("the session ended")


async def _wait_for_sign(program: Terminal) -> float:
    """Return when the sign of a step that has just ended is written; earlier signs are those of others."""
    await asyncio.sleep(0.9 * _CHECK_S)
    await asyncio.to_thread(program.wait_for, _PASSED, start=program.written)
    return time.perf_counter()
