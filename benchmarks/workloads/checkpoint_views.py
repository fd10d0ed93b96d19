"""Views at checkpoints of a large project: 16 attempts that start together, and the probes of a bisect.

The time of an opening lasts until the first command can start in the view. Each probe of a bisect is compared
with the same command, run directly.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure, median, percentile
from benchmarks.project import edit, make_project, sample_files
from benchmarks.scale import Scale
from benchmarks.workloads.revert import StoreHistoryFactory
from benchmarks.workloads.workspaces import DroppedOutput
from kimi_tui.base.child_environment import ChildEnvironment
from kimi_tui.base.ids import new_uid
from kimi_tui.engine.attempts.attempt_process import AttemptFolder
from kimi_tui.engine.files.checkpoint_commands import CheckpointCommands
from kimi_tui.engine.files.checkpoint_views import CheckpointViews
from kimi_tui.engine.files.snapshot_worker import SnapshotWorker
from kimi_tui.history.snapshots.attribution import USER, ChangeAuthor
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.shell.shell import Shell
from kimi_tui.wire.event_sender import EventList
from kimi_tui.workspaces.command_process import DirectStarter
from kimi_tui.workspaces.workspaces import Workspaces

WORKLOAD = "checkpoint views"
CALL = ChangeAuthor(who="call", session="bench", call="c", tool="EditFile")
_ATTEMPTS = 16
_TARGET_MS = 100


def measure(scale: Scale) -> list[Figure]:
    """Measure the views of attempts and of a bisect."""
    n_files, n_checkpoints, rounds = scale.choose((100_000, 64, 3), (5_000, 64, 2), (100, 8, 1))
    with tempfile.TemporaryDirectory(prefix="kimi-tui-bench-") as folder:
        make_project(Path(folder, "work"), n_files)
        return asyncio.run(_measure(Path(folder), n_files, n_checkpoints, rounds))


@dataclass(frozen=True, slots=True)
class Cost:
    """What some work took."""

    wall_ms: float
    cpu_ms: float
    """CPU time of this process."""


class SessionViews:
    """The views of a session that was just resumed."""

    def __init__(self, folder: Path, states: list[str]) -> None:
        self._folder = folder
        self._work_dir = folder / "work"
        store = ProjectStore(folder / "share", self._work_dir, "bench")
        self._worker = SnapshotWorker(
            StoreHistoryFactory(store), known_states=states, sender=EventList(), session="bench"
        )
        self._worker.loads_lazily = True
        self._workspaces = Workspaces(folder / "share")
        self.views = CheckpointViews(self._worker, self._workspaces, work_dir=self._work_dir, added_dirs=())
        self._commands = CheckpointCommands(
            self.views, work_dir=self._work_dir, environment=ChildEnvironment(), sandbox=None
        )

    async def use(self) -> None:
        """Begin, as a session does before its first prompt."""
        await self._workspaces.start()
        await self.views.capture_known_changes()

    async def open_attempt(self, state: str) -> float:
        """Open the view of an attempt, and return how long it took in milliseconds."""
        folder = AttemptFolder(self._folder / "attempts" / new_uid(), self._folder / "share")
        await asyncio.to_thread(folder.create)
        began = time.perf_counter()
        async with self.views.open(state, bounds=folder.bounds(PathScope(self._work_dir))) as view:
            await asyncio.to_thread(view.begin)
            took = (time.perf_counter() - began) * 1e3
            assert not view.is_copy
            await asyncio.sleep(1)  # attempts run at the same time
        return took

    async def probe(self, state: str) -> None:
        """Run a command at a checkpoint."""
        ended = await self._commands.run("true", state)
        assert ended.verdict == "pass"

    async def close(self) -> None:
        """End the session."""
        await self._worker.close()
        await self._workspaces.close()


async def _measure(folder: Path, n_files: int, n_checkpoints: int, rounds: int) -> list[Figure]:
    work_dir = folder / "work"
    if (await _backend(folder)) == "none":
        return [Figure(WORKLOAD, "no private views here", 0, "ms")]
    states = await _record_states(folder, n_checkpoints)
    first: list[list[float]] = []
    later: list[list[float]] = []
    alone: list[float] = []
    for _ in range(rounds):
        session = SessionViews(folder, states)
        await session.use()
        first.append(await _open_together(session, states[n_checkpoints // 2]))
        later.append(await _open_together(session, states[n_checkpoints // 3]))
        alone += [await session.open_attempt(state) for state in states[: n_checkpoints // 2 : 4]]
        await session.close()
    probes, scans, directly = await _bisect(folder, work_dir, states, rounds)
    files = f"{n_files:,} files"
    return [
        *_opening_figures(f"each of the first {_ATTEMPTS} attempts, {files}", first),
        *_opening_figures(f"each of the next {_ATTEMPTS}", later),
        Figure(WORKLOAD, "one attempt alone", median(alone), "ms", target=_TARGET_MS),
        *_probe_figures(probes, scans, directly),
    ]


async def _backend(folder: Path) -> str:
    workspaces = Workspaces(folder / "share")
    try:
        return (await workspaces.status(folder / "work")).backend
    finally:
        await workspaces.close()


async def _record_states(folder: Path, n_checkpoints: int) -> list[str]:
    """Record a session that changes one file a step. Return its states."""
    work_dir = folder / "work"
    store = ProjectStore(folder / "share", work_dir, "bench")
    worker = SnapshotWorker(StoreHistoryFactory(store), known_states=[], sender=EventList(), session="bench")
    states = [(await worker.capture(USER)).state]
    for number, file in enumerate(sample_files(work_dir, n_checkpoints)):
        edit(file, number)
        path = str(file.relative_to(work_dir))
        states.append((await worker.capture(CALL, [path], scan="paths")).state)
    await worker.close()
    return states


async def _open_together(session: SessionViews, state: str) -> list[float]:
    return await asyncio.gather(*(session.open_attempt(state) for _ in range(_ATTEMPTS)))


async def _bisect(
    folder: Path, work_dir: Path, states: list[str], rounds: int
) -> tuple[list[Cost], list[float], list[float]]:
    """Return the probes of searches, their scans before the first one, and the command without a view."""
    probes: list[Cost] = []
    scans: list[float] = []
    directly: list[float] = []
    shell = Shell()
    for _ in range(rounds):
        session = SessionViews(folder, states)
        await session.use()
        scans.append((await _cost(session.views.capture_now())).wall_ms)
        low, high = 0, len(states) - 1
        while high - low > 1:  # as a search for a bug in the first step
            middle = (low + high) // 2
            probes.append(await _cost(session.probe(states[middle])))
            direct = shell.run(
                "true",
                work_dir=work_dir,
                timeout_s=600,
                output=DroppedOutput(),
                starter=DirectStarter(),
            )
            directly.append((await _cost(direct)).wall_ms)
            high = middle
        await session.close()
    await shell.close()
    return probes, scans, directly


async def _cost(work: Awaitable[Any]) -> Cost:
    began, cpu = time.perf_counter(), time.process_time()
    await work
    return Cost((time.perf_counter() - began) * 1e3, (time.process_time() - cpu) * 1e3)


def _opening_figures(name: str, rounds: list[list[float]]) -> list[Figure]:
    return [
        Figure(WORKLOAD, f"{name}, median", median([median(each) for each in rounds]), "ms"),
        Figure(
            WORKLOAD, f"{name}, the last", median([max(each) for each in rounds]), "ms", target=_TARGET_MS
        ),
    ]


def _probe_figures(probes: list[Cost], scans: list[float], directly: list[float]) -> list[Figure]:
    command = median(directly)
    added = [each.wall_ms - command for each in probes]
    n_probes = len(probes) / len(scans)
    with_scan = sum(added) / len(added) + median(scans) / n_probes
    probe = median([each.wall_ms for each in probes])
    return [
        Figure(WORKLOAD, "probe of a bisect", probe, "ms", command, "run directly"),
        Figure(WORKLOAD, "what a probe adds, p90", percentile(added, 0.9), "ms", target=_TARGET_MS),
        Figure(WORKLOAD, "CPU of a probe in the session", median([each.cpu_ms for each in probes]), "ms"),
        Figure(WORKLOAD, "the scan before a search", median(scans), "ms"),
        Figure(WORKLOAD, "what a probe adds with its part of the scan", with_scan, "ms", target=_TARGET_MS),
    ]
