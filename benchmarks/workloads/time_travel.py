"""Time travel: states of many files, going back among them, long timelines, and what the store takes.

The files are measured through the engine's own way to them (`FileLooks`), on an event loop that is watched.
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
from benchmarks.extent import Extent
from benchmarks.figure import Figure
from benchmarks.home import FIRST_CHECKPOINT, KIMI_TUI, LAST_WORDS, Home, model, new_home
from benchmarks.project import edit, make_project, some_files
from benchmarks.terminal import terminal
from kimi_tui.engine.file_looks import FileLooks
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.owner import YOU, Owner
from kimi_tui.history.snapshots.store import ProjectStore

CALL = Owner(who="call", session="bench", call="c", tool="Bash", command="make")
FRAME_MS = 1000 / 60
F3 = "\x1bOR"
_AGAIN = 3
"""How often a pane is opened again: one frame more or less is a tenth of what that takes."""
_TICK_S = 0.001


def measure(extent: Extent) -> list[Figure]:
    """Beside a bare walk, bare reading and hashing, bare copying, and a short timeline."""
    amounts = extent.of(
        Amounts(files=100_000, changed=1_000, edits=500, checkpoints=10_000, rounds=5),
        Amounts(files=5_000, changed=200, edits=50, checkpoints=1_000, rounds=2),
        Amounts(files=100, changed=10, edits=3, checkpoints=100, rounds=1),
    )
    with _project(amounts.files) as project:
        figures = asyncio.run(_files(project, amounts))
    return [*figures, *_timelines(amounts)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """How much there is of what."""

    files: int
    changed: int
    """Files that a revert brings back."""
    edits: int
    checkpoints: int
    rounds: int


@dataclass(frozen=True, slots=True)
class Project:
    """A work dir, and a place beside it."""

    folder: Path

    @property
    def work_dir(self) -> Path:
        """Where the files are."""
        return self.folder / "work"

    def looks(self, share: str = "share") -> FileLooks:
        """The way to their history, kept in a share dir of that name."""
        store = ProjectStore(self.folder / share, self.work_dir, "bench")
        return FileLooks(lambda: FileHistory(store), earlier=[], send=lambda _: None)

    def stored(self, share: str = "share") -> int:
        """How many bytes the store takes."""
        return sum(file.stat().st_size for file in (self.folder / share).rglob("*") if file.is_file())


@dataclass(slots=True)
class Cost:
    """What an act took: of the wall, and how long it held the event loop at most."""

    seconds: float = float("inf")
    hold_ms: float = float("inf")

    def at_best(self, other: "Cost") -> None:
        """Keep the better of two rounds: what else the machine does makes neither less."""
        self.seconds = min(self.seconds, other.seconds)
        self.hold_ms = min(self.hold_ms, other.hold_ms)


@contextmanager
def _project(n_files: int) -> Iterator[Project]:
    with tempfile.TemporaryDirectory(prefix="kimi-tui-bench-") as folder:
        project = Project(Path(folder))
        make_project(project.work_dir, n_files)
        bare_disk.hash_all(project.work_dir)  # what is read is at hand for everybody
        yield project


async def _files(project: Project, amounts: Amounts) -> list[Figure]:
    files, changed = f"{amounts.files:,} files", f"{amounts.changed:,} files"
    hashing, first = Cost(), Cost()
    for number in range(2):
        hashing.at_best(await _cost(asyncio.to_thread(bare_disk.hash_all, project.work_dir)))
        looks = project.looks(f"share-{number}")
        first.at_best(await _cost(looks.look(_you)))
        await looks.close()
        shutil.rmtree(project.folder / f"share-{number}")
    looks = project.looks()
    await looks.look(_you)
    walking, same = Cost(), Cost()
    for _ in range(amounts.rounds):
        walking.at_best(await _cost(asyncio.to_thread(bare_disk.walk, project.work_dir)))
        same.at_best(await _cost(looks.look(_you)))
    reopened = Cost()
    for _ in range(2):
        await looks.close()
        looks = project.looks()
        reopened.at_best(await _cost(looks.look(_you)))
    copying, planning, going = await _reverts(looks, project, amounts)
    growth, compressed = await _growth(looks, project, amounts.edits)
    await looks.close()
    return [
        *_beside(f"the first state of {files}", first, hashing, "reading and hashing them", most=2),
        *_beside(
            f"a checkpoint, nothing changed in {files}", same, walking, "a bare walk with stat", most=1.5
        ),
        *_beside("the first look of a further session", reopened, walking, "a bare walk with stat"),
        *_beside(f"a revert of {changed}", going, copying, "copying them", most=2),
        _figure(f"the plan of {changed}, with line counts", planning, copying, "copying them"),
        Figure("time travel", "the store's growth per edit of one file", growth, "bytes"),
        Figure("time travel", "beyond that file compressed", growth - compressed, "bytes", most=2048),
    ]


def _beside(what: str, cost: Cost, bare: Cost, bare_is: str, *, most: float | None = None) -> list[Figure]:
    """What an act took beside a bare one, and how long each held the loop."""
    hold = f"the loop's longest hold meanwhile (bare: {bare.hold_ms:.3g} ms)"
    return [
        _figure(what, cost, bare, bare_is, most=most),
        Figure("time travel", hold, cost.hold_ms, "ms", most=FRAME_MS),
    ]


def _figure(what: str, cost: Cost, bare: Cost, bare_is: str, *, most: float | None = None) -> Figure:
    return Figure("time travel", what, cost.seconds * 1e3, "ms", bare.seconds * 1e3, bare_is, most=most)


async def _reverts(looks: FileLooks, project: Project, amounts: Amounts) -> tuple[Cost, Cost, Cost]:
    """What copying so many files takes, planning to take back changes of them, and doing it."""
    files = some_files(project.work_dir, amounts.changed)
    copying, planning, going = Cost(), Cost(), Cost()
    for number in range(amounts.rounds):
        before = (await looks.look(_you)).state
        for file in files:
            edit(file, number)
        await looks.look(lambda: CALL)
        copies = project.folder / f"copies-{number}"
        copies.mkdir()
        copying.at_best(await _cost(asyncio.to_thread(bare_disk.copy_all, files, copies)))
        began = time.perf_counter()
        plan = await looks.use(FileHistory.plan, before)
        planning.at_best(Cost(time.perf_counter() - began))
        ticked = {item.path for item in plan.items}
        assert len(ticked) == len(files)
        going.at_best(await _cost(looks.use(FileHistory.execute, plan, ticked)))
    return copying, planning, going


async def _growth(looks: FileLooks, project: Project, n_edits: int) -> tuple[float, float]:
    """Bytes that the store grows by an edit of one file, and those that the file takes compressed."""
    files = some_files(project.work_dir, n_edits)
    before, compressed = project.stored(), 0
    for number, file in enumerate(files):
        edit(file, number)
        path = file.relative_to(project.work_dir).as_posix()
        await looks.look(lambda: CALL, [path])
        compressed += bare_disk.compressed(file)
    return (project.stored() - before) / len(files), compressed / len(files)


def _timelines(amounts: Amounts) -> list[Figure]:
    few = 10
    with new_home() as short, new_home() as long, model([{"words": 20}]) as (url, _):
        for home, count in ((short, few), (long, amounts.checkpoints)):
            home.configure(url)
            home.make_session(count // 2, checkpoints=True)
        rounds = [(_opening(short, few), _opening(long, amounts.checkpoints)) for _ in range(amounts.rounds)]
    return [
        Figure(
            "time travel",
            f"{what} a timeline of {amounts.checkpoints:,} checkpoints",
            min(each[1][at] for each in rounds) * 1e3,
            "ms",
            min(each[0][at] for each in rounds) * 1e3,
            f"one of {few}",
            most=1.5,
        )
        for at, what in enumerate(("opening", "opening again"))
    ]


def _opening(home: Home, count: int) -> tuple[float, float]:
    """Seconds from the key until the newest checkpoint shows, the first time and the best of some later ones.

    It is known by its number: its label stands in the conversation as well, which is drawn anew beside it.
    """
    newest = f"{FIRST_CHECKPOINT + count} "
    with terminal([KIMI_TUI, "--continue"], env=home.env, cwd=home.work_dir) as program:
        program.until(LAST_WORDS)
        program.rest()
        took = []
        for _ in range(1 + _AGAIN):
            start, began = program.written, time.perf_counter()
            program.type(F3)
            program.until(newest, start=start)
            took.append(time.perf_counter() - began)
            program.rest()
            program.type(F3)
            program.rest()
        return took[0], min(took[1:])


async def _cost(act: Awaitable[object]) -> Cost:
    """What an act costs that is awaited beside something that wants to run every millisecond."""
    watch = _Watch()
    watching = asyncio.create_task(watch.run())
    await asyncio.sleep(10 * _TICK_S)
    watch.longest_s = 0.0
    began = time.perf_counter()
    await act
    took = time.perf_counter() - began
    await asyncio.sleep(2 * _TICK_S)
    watching.cancel()
    return Cost(took, watch.longest_s * 1e3)


class _Watch:
    """Somebody on the event loop who notes how much too late it is woken.

    What other processes do meanwhile is none of ours: no more counts than the CPU time that went by in here.
    """

    def __init__(self) -> None:
        self.longest_s = 0.0

    async def run(self) -> None:
        while True:
            began, cpu = time.perf_counter(), time.process_time()
            await asyncio.sleep(_TICK_S)
            late = time.perf_counter() - began - _TICK_S
            self.longest_s = max(self.longest_s, min(late, time.process_time() - cpu))


def _you() -> Owner:
    return YOU
