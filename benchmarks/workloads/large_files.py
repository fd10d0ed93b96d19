"""Large files: the first snapshot, a small change, a revert, and the growth of the store."""

import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.baselines import bare_disk
from benchmarks.figure import Figure
from benchmarks.scale import Scale
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.history.snapshots.blob_store import PIECE
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.project_store import ProjectStore

_CALL = ChangeAuthor(who="call", session="bench", call="c", tool="Bash", command="make")
_MB = 1 << 20
_OLD_S = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """Sizes of the workload."""

    files: int
    mb: int
    rounds: int


def measure(scale: Scale) -> list[Figure]:
    """Measure snapshots and reverts, compared with reading, hashing and copying."""
    amounts = scale.choose(
        Amounts(files=6, mb=64, rounds=5), Amounts(files=4, mb=40, rounds=3), Amounts(files=2, mb=2, rounds=1)
    )
    with tempfile.TemporaryDirectory(prefix="kimi-tui-bench-") as folder:
        return _measure_in(Path(folder), amounts)


def _measure_in(folder: Path, amounts: Amounts) -> list[Figure]:
    work, data_dir, copies = folder / "work", folder / "data", folder / "copies"
    for directory in (work, copies):
        directory.mkdir()
    files = [_make_file(work / f"data{number}.db", amounts.mb, number) for number in range(amounts.files)]
    hashing, first = [], []
    for _ in range(2):
        shutil.rmtree(data_dir, ignore_errors=True)
        history = FileHistory(ProjectStore(data_dir, work, "bench"))
        history.open()
        hashing.append(_time_call(lambda: bare_disk.hash_all(work)))
        first.append(_time_call(history.capture))
        history.close()
    history.open()
    changed_file = files[0]
    changing, reverting, copying, growth = [], [], [], []
    for number in range(amounts.rounds):
        start = history.capture().manifest
        before = _stored_bytes(data_dir)
        with changed_file.open("r+b") as file:
            file.seek(number * _MB // 2)
            file.write(os.urandom(100))
        changing.append(_time_call(lambda: history.capture(_CALL)))
        growth.append(_stored_bytes(data_dir) - before)
        plan = history.plan(start)
        reverting.append(_time_call(lambda plan=plan: history.execute(plan, {changed_file.name})))
        copying.append(_time_call(lambda: bare_disk.copy_all([changed_file], copies)))
    history.close()
    hashed = min(hashing) / len(files)
    return [
        _figure(
            f"first snapshot of {amounts.files} files of {amounts.mb} MB",
            min(first), min(hashing), "reading and hashing them", target=2,
        ),
        _figure(
            "checkpoint after changing 100 bytes in one file",
            min(changing), hashed, "reading and hashing it", target=2,
        ),
        _figure("revert of that change", min(reverting), min(copying), "copying that file"),
        Figure("large files", "growth of the store by that change", max(growth), "bytes", target=3 * PIECE),
    ]  # fmt: skip


def _figure(
    name: str, value: float, baseline: float, baseline_name: str, *, target: float | None = None
) -> Figure:
    return Figure("large files", name, value * 1e3, "ms", baseline * 1e3, baseline_name, target=target)


def _make_file(path: Path, mb: int, seed: int) -> Path:
    """Create a file of random data in which every other MB is a compressible log."""
    rng = random.Random(seed)
    log = b"".join(b"%d GET /item/%d 200\n" % (line, rng.randrange(10**6)) for line in range(60_000))
    with path.open("wb") as file:
        for number in range(mb):
            file.write(rng.randbytes(_MB) if number % 2 == 0 else (b"%d\n" % number + log)[:_MB])
    modified = time.time() - _OLD_S
    os.utime(path, (modified, modified))
    return path


def _stored_bytes(data_dir: Path) -> int:
    return sum(file.stat().st_size for file in data_dir.rglob("*") if file.is_file())


def _time_call(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
