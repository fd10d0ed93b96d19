"""Reverts: snapshots of many files, reverts, long timelines, and the growth of the store.

Files are measured through the engine's `SnapshotWorker`, on a monitored event loop.
"""

import asyncio
import shutil
import tempfile
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.baselines import bare_disk
from benchmarks.figure import Figure
from benchmarks.home import END_MARKER, FIRST_CHECKPOINT, KIMI_TUI, Home, new_home, serve_model
from benchmarks.project import edit, make_project, sample_files
from benchmarks.scale import Scale
from benchmarks.terminal import terminal
from kimi_tui.engine.files.snapshot_worker import SnapshotWorker
from kimi_tui.history.snapshots.attribution import USER, ChangeAuthor
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.wire.event_sender import EventList

CALL = ChangeAuthor(who="call", session="bench", call="c", tool="Bash", command="make")
FRAME_MS = 1000 / 60
F3 = "\x1bOR"
_REPEATS = 3
"""How often a pane is opened again, because a single frame is a tenth of the time."""
_TICK_S = 0.001


def measure(scale: Scale) -> list[Figure]:
    """Measure snapshots and reverts, compared with walking, hashing, copying and a short timeline."""
    amounts = scale.choose(
        Amounts(files=100_000, changed=1_000, edits=500, checkpoints=10_000, rounds=5),
        Amounts(files=5_000, changed=200, edits=50, checkpoints=1_000, rounds=2),
        Amounts(files=100, changed=10, edits=3, checkpoints=100, rounds=1),
    )
    with _project(amounts.files) as project:
        figures = asyncio.run(_files(project, amounts))
    return [*figures, *_timelines(amounts)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """Sizes of the workload."""

    files: int
    changed: int
    """Number of files to revert."""
    edits: int
    checkpoints: int
    rounds: int


@dataclass(frozen=True, slots=True)
class StoreHistoryFactory:
    """Builds histories of the files in one store."""

    store: ProjectStore

    def build(self) -> FileHistory:
        """Return a file history, not yet open."""
        return FileHistory(self.store)


@dataclass(frozen=True, slots=True)
class Project:
    """Directory with a project and the data directories of its snapshots."""

    folder: Path

    @property
    def work_dir(self) -> Path:
        """The working directory."""
        return self.folder / "work"

    def snapshot_worker(self, data_dir: str = "share") -> SnapshotWorker:
        """Return a snapshot worker with a data directory of this name."""
        store = ProjectStore(self.folder / data_dir, self.work_dir, "bench")
        return SnapshotWorker(StoreHistoryFactory(store), known_states=[], sender=EventList())

    def stored_bytes(self, data_dir: str = "share") -> int:
        """Return the size of the store in bytes."""
        return sum(file.stat().st_size for file in (self.folder / data_dir).rglob("*") if file.is_file())


@dataclass(slots=True)
class Cost:
    """Wall time of an action, and the longest time that it blocked the event loop."""

    seconds: float = float("inf")
    hold_ms: float = float("inf")

    def keep_best(self, other: "Cost") -> None:
        """Keep the lower values of two rounds, because other load on the machine only increases them."""
        self.seconds = min(self.seconds, other.seconds)
        self.hold_ms = min(self.hold_ms, other.hold_ms)


@contextmanager
def _project(n_files: int) -> Iterator[Project]:
    with tempfile.TemporaryDirectory(prefix="kimi-tui-bench-") as folder:
        project = Project(Path(folder))
        make_project(project.work_dir, n_files)
        bare_disk.hash_all(project.work_dir)  # fill the page cache
        yield project


async def _files(project: Project, amounts: Amounts) -> list[Figure]:
    files, changed = f"{amounts.files:,} files", f"{amounts.changed:,} files"
    hashing, first = Cost(), Cost()
    for number in range(2):
        hashing.keep_best(await _cost(asyncio.to_thread(bare_disk.hash_all, project.work_dir)))
        worker = project.snapshot_worker(f"share-{number}")
        first.keep_best(await _cost(worker.capture(USER)))
        await worker.close()
        shutil.rmtree(project.folder / f"share-{number}")
    worker = project.snapshot_worker()
    await worker.capture(USER)
    walking, unchanged = Cost(), Cost()
    for _ in range(amounts.rounds):
        walking.keep_best(await _cost(asyncio.to_thread(bare_disk.walk, project.work_dir)))
        unchanged.keep_best(await _cost(worker.capture(USER)))
    reopened = Cost()
    for _ in range(2):
        await worker.close()
        worker = project.snapshot_worker()
        reopened.keep_best(await _cost(worker.capture(USER)))
    copying, planning, reverting = await _reverts(worker, project, amounts)
    growth, compressed = await _growth(worker, project, amounts.edits)
    await worker.close()
    return [
        *_figures_with_baseline(
            f"first snapshot of {files}", first, hashing, "reading and hashing them", target=2
        ),
        *_figures_with_baseline(
            f"checkpoint without changes in {files}", unchanged, walking, "a bare walk with stat", target=1.5
        ),
        *_figures_with_baseline("first scan of another session", reopened, walking, "a bare walk with stat"),
        *_figures_with_baseline(f"revert of {changed}", reverting, copying, "copying them", target=2),
        _figure(f"plan of {changed} with line counts", planning, copying, "copying them"),
        Figure("revert", "growth of the store per edit of a file", growth, "bytes"),
        Figure("revert", "growth beyond the compressed file", growth - compressed, "bytes", target=2048),
    ]


def _figures_with_baseline(
    name: str, cost: Cost, baseline: Cost, baseline_name: str, *, target: float | None = None
) -> list[Figure]:
    """Return figures for the time of an action and for its longest block of the event loop."""
    hold = f"longest block of the event loop (baseline: {baseline.hold_ms:.3g} ms)"
    return [
        _figure(name, cost, baseline, baseline_name, target=target),
        Figure("revert", hold, cost.hold_ms, "ms", target=FRAME_MS),
    ]


def _figure(
    name: str, cost: Cost, baseline: Cost, baseline_name: str, *, target: float | None = None
) -> Figure:
    return Figure(
        "revert", name, cost.seconds * 1e3, "ms", baseline.seconds * 1e3, baseline_name, target=target
    )


async def _reverts(worker: SnapshotWorker, project: Project, amounts: Amounts) -> tuple[Cost, Cost, Cost]:
    """Return the costs of copying files, planning the revert of their changes, and reverting."""
    files = sample_files(project.work_dir, amounts.changed)
    copying, planning, reverting = Cost(), Cost(), Cost()
    for number in range(amounts.rounds):
        before = (await worker.capture(USER)).state
        for file in files:
            edit(file, number)
        await worker.capture(CALL)
        copies = project.folder / f"copies-{number}"
        copies.mkdir()
        copying.keep_best(await _cost(asyncio.to_thread(bare_disk.copy_all, files, copies)))
        began = time.perf_counter()
        plan = await worker.use(FileHistory.plan, before)
        planning.keep_best(Cost(time.perf_counter() - began))
        selected = {item.path for item in plan.items}
        assert len(selected) == len(files)
        reverting.keep_best(await _cost(worker.use(FileHistory.execute, plan, selected)))
    return copying, planning, reverting


async def _growth(worker: SnapshotWorker, project: Project, n_edits: int) -> tuple[float, float]:
    """Return the growth of the store by an edit of one file, and the file's compressed size, in bytes."""
    files = sample_files(project.work_dir, n_edits)
    before, compressed = project.stored_bytes(), 0
    for number, file in enumerate(files):
        edit(file, number)
        path = file.relative_to(project.work_dir).as_posix()
        await worker.capture(CALL, [path])
        compressed += bare_disk.compressed_size(file)
    return (project.stored_bytes() - before) / len(files), compressed / len(files)


def _timelines(amounts: Amounts) -> list[Figure]:
    few = 10
    with new_home() as short, new_home() as long, serve_model([{"words": 20}]) as (url, _):
        for home, count in ((short, few), (long, amounts.checkpoints)):
            home.configure(url)
            home.make_session(count // 2, checkpoints=True)
        rounds = [(_opening(short, few), _opening(long, amounts.checkpoints)) for _ in range(amounts.rounds)]
    return [
        Figure(
            "revert",
            f"{what} a timeline of {amounts.checkpoints:,} checkpoints",
            min(each[1][at] for each in rounds) * 1e3,
            "ms",
            min(each[0][at] for each in rounds) * 1e3,
            f"one of {few}",
            target=1.5,
        )
        for at, what in enumerate(("opening", "reopening"))
    ]


def _opening(home: Home, count: int) -> tuple[float, float]:
    """Return the seconds until the newest checkpoint is shown: the first time, and the best later time.

    The checkpoint is recognized by its number, because its label is in the conversation as well.
    """
    newest = f"{FIRST_CHECKPOINT + count} "
    with terminal([KIMI_TUI, "--continue"], env=home.env, cwd=home.work_dir) as program:
        program.wait_for(END_MARKER)
        program.wait_until_idle()
        durations = []
        for _ in range(1 + _REPEATS):
            start, began = program.written, time.perf_counter()
            program.type(F3)
            program.wait_for(newest, start=start)
            durations.append(time.perf_counter() - began)
            program.wait_until_idle()
            program.type(F3)
            program.wait_until_idle()
        return durations[0], min(durations[1:])


async def _cost(action: Awaitable[object]) -> Cost:
    """Measure an action that is awaited while a task runs every millisecond."""
    monitor = _LoopMonitor()
    monitor_task = asyncio.create_task(monitor.run())
    await asyncio.sleep(10 * _TICK_S)
    monitor.longest_s = 0.0
    began = time.perf_counter()
    await action
    duration = time.perf_counter() - began
    await asyncio.sleep(2 * _TICK_S)
    monitor_task.cancel()
    return Cost(duration, monitor.longest_s * 1e3)


class _LoopMonitor:
    """Task that records how late the event loop wakes it.

    Delays by other processes don't count: a delay is limited to the CPU time that this process used.
    """

    def __init__(self) -> None:
        self.longest_s = 0.0

    async def run(self) -> None:
        while True:
            began, cpu = time.perf_counter(), time.process_time()
            await asyncio.sleep(_TICK_S)
            late = time.perf_counter() - began - _TICK_S
            self.longest_s = max(self.longest_s, min(late, time.process_time() - cpu))
