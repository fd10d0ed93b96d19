"""The recorder of states keeps the newest state, also if a record can't be written, without copies of it."""

import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM, FileSystem
from kimi_tui.history.snapshots.attribution import USER
from kimi_tui.history.snapshots.capturing.known_paths import KnownPaths
from kimi_tui.history.snapshots.capturing.partial_coverage import PartialCoverage
from kimi_tui.history.snapshots.capturing.state_recorder import StateRecorder
from kimi_tui.history.snapshots.change_detection import DetectedChanges
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.project_store import ProjectStore
from tests.history.file_systems import FailingFileSystem

DAY_S = 86400
MANY = 50_000


class RecorderFixture:
    """A recorder of one session, and its store."""

    def __init__(self, folder: Path, *, fs: FileSystem = LOCAL_FILE_SYSTEM, now: float = 0) -> None:
        (folder / "work").mkdir(exist_ok=True)
        clock = time.time if not now else lambda: now
        self.store = ProjectStore(folder / "share", folder / "work", "s", fs=fs, clock=clock)
        self.store.open()
        coverage = PartialCoverage(self.store.work_dir, retry_s=1)
        self.states = StateRecorder(self.store, KnownPaths(), coverage)

    def append(self, **changes: Entry | None) -> str:
        """Record changes by the user; return the new state."""
        return self.states.append_changes(USER, DetectedChanges(dict(changes)), always=False).manifest


def entry(number: int) -> Entry:
    return Entry("file", 0o644, number, f"{number:040x}")


def test_a_state_with_many_files_is_not_copied_for_each_change(tmp_path: Path) -> None:
    recorder = RecorderFixture(tmp_path)
    recorder.append(**{f"file{number}": entry(number) for number in range(MANY)})
    tracemalloc.start()
    try:
        recorder.append(file1=None, file2=entry(0))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(recorder.states.entries) == MANY - 1
    assert peak < sys.getsizeof(recorder.states.entries) / 2


def test_a_whole_state_contains_the_changes_of_its_record(tmp_path: Path) -> None:
    first = RecorderFixture(tmp_path, now=DAY_S)
    start = first.append(a=entry(1), b=entry(2))
    later = RecorderFixture(tmp_path, now=4 * DAY_S)
    assert later.states.load_first(start)
    state = later.append(a=None, c=entry(3))
    expected = {"b": entry(2), "c": entry(3)}
    assert later.states.entries == later.store.manifests.read(state).whole == expected
    assert later.store.manifests.entries(start) == {"a": entry(1), "b": entry(2)}


@pytest.mark.parametrize("now", [DAY_S, 4 * DAY_S])
def test_changes_that_are_not_recorded_do_not_change_the_state(tmp_path: Path, now: float) -> None:
    start = RecorderFixture(tmp_path, now=DAY_S).append(a=entry(1), b=entry(2))
    fs = FailingFileSystem("write")
    recorder = RecorderFixture(tmp_path, fs=fs, now=now)
    assert recorder.states.load_first(start)
    with pytest.raises(OSError, match="space"):
        recorder.append(a=None, c=entry(3))
    assert recorder.states.head == start
    assert recorder.states.entries == {"a": entry(1), "b": entry(2)}
    fs.failing_calls.clear()
    state = recorder.append(a=None, c=entry(3))
    assert recorder.states.entries == recorder.store.manifests.entries(state)
    assert recorder.states.entries == {"b": entry(2), "c": entry(3)}
