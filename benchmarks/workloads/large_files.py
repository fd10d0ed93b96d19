"""Large files: their first state, one that changes a little, going back, and what the store takes."""

import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.baselines import bare_disk
from benchmarks.extent import Extent
from benchmarks.figure import Figure
from kimi_tui.history.snapshots.blobs import PIECE
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.owner import Owner
from kimi_tui.history.snapshots.store import ProjectStore

_CALL = Owner(who="call", session="bench", call="c", tool="Bash", command="make")
_MB = 1 << 20
_OLD_S = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """How much there is of what."""

    files: int
    mb: int
    rounds: int


def measure(extent: Extent) -> list[Figure]:
    """Beside bare reading and hashing, and bare copying."""
    amounts = extent.of(
        Amounts(files=6, mb=64, rounds=5), Amounts(files=4, mb=40, rounds=3), Amounts(files=2, mb=2, rounds=1)
    )
    with tempfile.TemporaryDirectory(prefix="kimi-tui-bench-") as folder:
        return _measured(Path(folder), amounts)


def _measured(folder: Path, amounts: Amounts) -> list[Figure]:
    work, share, copies = folder / "work", folder / "share", folder / "copies"
    for place in (work, copies):
        place.mkdir()
    files = [_made(work / f"data{number}.db", amounts.mb, number) for number in range(amounts.files)]
    all_hashed, first = [], []
    for _ in range(2):
        shutil.rmtree(share, ignore_errors=True)
        history = FileHistory(ProjectStore(share, work, "bench"))
        history.open()
        all_hashed.append(_seconds(lambda: bare_disk.hash_all(work)))
        first.append(_seconds(history.capture))
        history.close()
    history.open()
    one = files[0]
    changing, going, copying, growth = [], [], [], []
    for number in range(amounts.rounds):
        start = history.capture().manifest
        before = _stored(share)
        with one.open("r+b") as file:
            file.seek(number * _MB // 2)
            file.write(os.urandom(100))
        changing.append(_seconds(lambda: history.capture(_CALL)))
        growth.append(_stored(share) - before)
        plan = history.plan(start)
        going.append(_seconds(lambda plan=plan: history.execute(plan, {one.name})))
        copying.append(_seconds(lambda: bare_disk.copy_all([one], copies)))
    history.close()
    hashed = min(all_hashed) / len(files)
    return [
        _figure(
            f"the first state of {amounts.files} files of {amounts.mb} MB",
            min(first), min(all_hashed), "reading and hashing them", most=2,
        ),
        _figure(
            "a checkpoint, 100 bytes changed in one of them",
            min(changing), hashed, "reading and hashing that", most=2,
        ),
        _figure("going back to before that", min(going), min(copying), "copying that file"),
        Figure("large files", "the store's growth by that change", max(growth), "bytes", most=3 * PIECE),
    ]  # fmt: skip


def _figure(what: str, value: float, bare: float, bare_is: str, *, most: float | None = None) -> Figure:
    return Figure("large files", what, value * 1e3, "ms", bare * 1e3, bare_is, most=most)


def _made(path: Path, mb: int, seed: int) -> Path:
    """A file that no compression makes smaller but for every other MB of it, which is a log."""
    some = random.Random(seed)
    log = b"".join(b"%d GET /item/%d 200\n" % (line, some.randrange(10**6)) for line in range(60_000))
    with path.open("wb") as file:
        for number in range(mb):
            file.write(some.randbytes(_MB) if number % 2 == 0 else (b"%d\n" % number + log)[:_MB])
    then = time.time() - _OLD_S
    os.utime(path, (then, then))
    return path


def _stored(share: Path) -> int:
    return sum(file.stat().st_size for file in share.rglob("*") if file.is_file())


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began
