"""A revert that is killed, or gets a disk error, at each of its file system calls."""

import errno
import os
from pathlib import Path

import pytest

from kimi_tui.history.filesystem import LocalFileSystem
from kimi_tui.history.snapshots.work_filesystem import LocalWorkFileSystem
from tests.history.file_systems import CountingFileSystem
from tests.history.snapshots.file_history_fixture import FileHistoryFixture


class Killed(BaseException):
    """Stands in for the end of the process."""


class FaultyFileSystem(CountingFileSystem):
    """Counts its calls. From the `at`-th on, they raise `fault`; a write then writes half of its data."""

    def __init__(self, fault: type[BaseException]) -> None:
        self._fault = fault
        self.at = 0
        self.calls = 0
        self.work_fs = FaultyWorkFileSystem(self)

    def write(self, file: int, data: memoryview) -> int:
        if self.at == self.calls + 1:
            LocalFileSystem.write(self, file, data[: len(data) // 2])
        return super().write(file, data)

    def close(self, file: int) -> None:
        LocalFileSystem.close(self, file)  # not counted, since it changes nothing

    def count(self) -> None:
        self.calls += 1
        if 0 < self.at <= self.calls:
            raise self._fault(errno.ENOSPC, os.strerror(errno.ENOSPC))


class FaultyWorkFileSystem(LocalWorkFileSystem):
    """Counts its calls together with those of a `FaultyFileSystem`."""

    def __init__(self, fs: FaultyFileSystem) -> None:
        self._fs = fs

    def create(self, folder: int, name: str) -> int:
        self._fs.count()
        return super().create(folder, name)

    def write(self, file: int, data: memoryview) -> int:
        return self._fs.write(file, data)

    def fsync(self, file: int) -> None:
        self._fs.fsync(file)

    def sync(self, file: int) -> None:
        self._fs.count()
        super().sync(file)

    def set_mode(self, file: int, mode: int) -> None:
        self._fs.count()
        super().set_mode(file, mode)

    def rename(self, folder: int, old: str, new: str) -> None:
        self._fs.count()
        super().rename(folder, old, new)

    def unlink(self, folder: int, name: str) -> None:
        self._fs.count()
        super().unlink(folder, name)

    def symlink(self, target: str, folder: int, name: str) -> None:
        self._fs.count()
        super().symlink(target, folder, name)

    def mkdir(self, folder: int, name: str, mode: int) -> None:
        self._fs.count()
        super().mkdir(folder, name, mode)

    def rmdir(self, folder: int, name: str) -> None:
        self._fs.count()
        super().rmdir(folder, name)

    def chmod(self, folder: int, name: str, mode: int) -> None:
        self._fs.count()
        super().chmod(folder, name, mode)


def make_all_kinds_of_changes(project: FileHistoryFixture) -> str:
    """Let the agent make changes of all kinds. Return the state before them."""
    work = project.work
    (work / "changed").write_text("one\n")
    (work / "deleted").write_text("two\n")
    (work / "swapped").write_text("three\n")
    (work / "folder").mkdir(mode=0o750)
    (work / "folder" / "in").write_text("four\n")
    (work / "link").symlink_to("changed")
    start = project.checkpoint()
    with project.agent():
        (work / "changed").write_text("1\n")
        (work / "changed").chmod(0o755)
        (work / "deleted").unlink()
        (work / "swapped").unlink()
        (work / "swapped").mkdir()
        (work / "swapped" / "deep").write_text("deep\n")
        (work / "folder" / "in").unlink()
        (work / "folder").rmdir()
        (work / "folder").write_text("a file now\n")
        (work / "link").unlink()
        (work / "link").symlink_to("deleted")
        (work / "made").write_text("made\n")
    return start


def state_of(folder: Path) -> dict[str, str]:
    """Return the type, mode and content of everything in a directory."""
    state = {}
    for path in sorted(folder.rglob("*")):
        name, mode = str(path.relative_to(folder)), oct(path.lstat().st_mode)
        if path.is_symlink():
            state[name] = f"link {path.readlink()}"
        else:
            state[name] = f"{mode} {path.read_text() if path.is_file() else ''}"
    return state


@pytest.mark.parametrize("fault", [Killed, OSError])
def test_a_revert_interrupted_at_any_call_is_completed_or_not_started(
    fault: type[BaseException], tmp_path: Path
) -> None:
    before, after = expected_states(tmp_path)
    at = 0
    is_done = False
    while not is_done:
        at += 1
        folder = tmp_path / f"at-{at}"
        folder.mkdir()
        fs = FaultyFileSystem(fault)
        project = FileHistoryFixture(folder, fs=fs, work_fs=fs.work_fs)
        project.history.open()
        plan = project.history.plan(make_all_kinds_of_changes(project))
        fs.at = fs.calls + at
        last = fs.at
        try:
            outcome, _ = project.history.execute(plan, {item.path for item in plan.items})
            is_done = fs.calls < last and not outcome.failed
        except (Killed, OSError):
            pass
        project.store.close()

        reopened = FileHistoryFixture(folder)
        reopened.history.open()
        assert state_of(reopened.work) in (
            (before, after) if fault is Killed else assert_each_path_is_old_or_new(before, after, reopened)
        )
        assert not [name for name in os.listdir(reopened.work) if name.startswith(".kimi-tui")]  # noqa: PTH208
        reopened.revert(plan.target)
        assert state_of(reopened.work) == after
        reopened.revert(plan.head)
        assert state_of(reopened.work) == before
        reopened.history.close()
    assert at > 20


def expected_states(tmp_path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the content of the working directory before and after the revert."""
    folder = tmp_path / "whole"
    folder.mkdir()
    project = FileHistoryFixture(folder)
    project.history.open()
    start = make_all_kinds_of_changes(project)
    before = state_of(project.work)
    project.revert(start)
    return before, state_of(project.work)


def assert_each_path_is_old_or_new(
    before: dict[str, str], after: dict[str, str], project: FileHistoryFixture
) -> list[dict[str, str]]:
    """Assert that each path is as before or as after the revert, and return the state."""
    state = state_of(project.work)
    for path, content in state.items():
        assert content in (before.get(path), after.get(path))
    return [state]
