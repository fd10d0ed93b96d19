"""A revert that is killed at each of its calls to the disk, or refused by the disk there."""

import errno
import os
from pathlib import Path

import pytest

from kimi_tui.history.disk import LocalDisk
from kimi_tui.history.snapshots.work_disk import LocalWorkDisk
from tests.history.disks import CountingDisk
from tests.history.snapshots.place import Place


class Killed(BaseException):
    """The process would be gone."""


class FaultyDisk(CountingDisk):
    """Counts its calls; at the `at`-th, and from then on, it dies or refuses. A write is cut in half."""

    def __init__(self, fault: type[BaseException]) -> None:
        self._fault = fault
        self.at = 0
        self.calls = 0
        self.of_work_dir = FaultyWorkDisk(self)

    def write(self, file: int, data: memoryview) -> int:
        if self.at == self.calls + 1:
            LocalDisk.write(self, file, data[: len(data) // 2])
        return super().write(file, data)

    def close(self, file: int) -> None:
        LocalDisk.close(self, file)  # which changes nothing

    def count(self) -> None:
        self.calls += 1
        if 0 < self.at <= self.calls:
            raise self._fault(errno.ENOSPC, os.strerror(errno.ENOSPC))


class FaultyWorkDisk(LocalWorkDisk):
    """Has its calls counted with those of a `FaultyDisk`."""

    def __init__(self, disk: FaultyDisk) -> None:
        self._disk = disk

    def create(self, folder: int, name: str) -> int:
        self._disk.count()
        return super().create(folder, name)

    def write(self, file: int, data: memoryview) -> int:
        return self._disk.write(file, data)

    def fsync(self, file: int) -> None:
        self._disk.fsync(file)

    def sync(self, file: int) -> None:
        self._disk.count()
        super().sync(file)

    def set_mode(self, file: int, mode: int) -> None:
        self._disk.count()
        super().set_mode(file, mode)

    def rename(self, folder: int, old: str, new: str) -> None:
        self._disk.count()
        super().rename(folder, old, new)

    def unlink(self, folder: int, name: str) -> None:
        self._disk.count()
        super().unlink(folder, name)

    def symlink(self, target: str, folder: int, name: str) -> None:
        self._disk.count()
        super().symlink(target, folder, name)

    def mkdir(self, folder: int, name: str, mode: int) -> None:
        self._disk.count()
        super().mkdir(folder, name, mode)

    def rmdir(self, folder: int, name: str) -> None:
        self._disk.count()
        super().rmdir(folder, name)

    def chmod(self, folder: int, name: str, mode: int) -> None:
        self._disk.count()
        super().chmod(folder, name, mode)


def furnish(place: Place) -> str:
    """Let the agent turn everything upside down; the state before."""
    work = place.work
    (work / "changed").write_text("one\n")
    (work / "deleted").write_text("two\n")
    (work / "swapped").write_text("three\n")
    (work / "folder").mkdir(mode=0o750)
    (work / "folder" / "in").write_text("four\n")
    (work / "link").symlink_to("changed")
    start = place.checkpoint()
    with place.agent():
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
    """Everything in a folder: what it is, its mode and content."""
    state = {}
    for path in sorted(folder.rglob("*")):
        name, mode = str(path.relative_to(folder)), oct(path.lstat().st_mode)
        if path.is_symlink():
            state[name] = f"link {path.readlink()}"
        else:
            state[name] = f"{mode} {path.read_text() if path.is_file() else ''}"
    return state


@pytest.mark.parametrize("fault", [Killed, OSError])
def test_a_revert_that_breaks_off_anywhere_is_completed_or_was_never_begun(
    fault: type[BaseException], tmp_path: Path
) -> None:
    before, after = states(tmp_path)
    at = 0
    survived = False
    while not survived:
        at += 1
        folder = tmp_path / f"at-{at}"
        folder.mkdir()
        disk = FaultyDisk(fault)
        place = Place(folder, disk=disk, work_disk=disk.of_work_dir)
        place.history.open()
        plan = place.history.plan(furnish(place))
        disk.at = disk.calls + at
        last = disk.at
        try:
            outcome, _ = place.history.execute(plan, {item.path for item in plan.items})
            survived = disk.calls < last and not outcome.failed
        except (Killed, OSError):
            pass
        place.store.close()

        again = Place(folder)
        again.history.open()
        assert state_of(again.work) in ((before, after) if fault is Killed else partial(before, after, again))
        assert not [name for name in os.listdir(again.work) if name.startswith(".kimi-tui")]  # noqa: PTH208
        again.revert(plan.target)
        assert state_of(again.work) == after
        again.revert(plan.head)
        assert state_of(again.work) == before
        again.history.close()
    assert at > 20


def states(tmp_path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """What the work dir holds before the revert, and after it."""
    folder = tmp_path / "whole"
    folder.mkdir()
    place = Place(folder)
    place.history.open()
    start = furnish(place)
    before = state_of(place.work)
    place.revert(start)
    return before, state_of(place.work)


def partial(before: dict[str, str], after: dict[str, str], place: Place) -> list[dict[str, str]]:
    """A disk that refuses leaves some paths as they were and others done: each is the one or the other."""
    state = state_of(place.work)
    for path, what in state.items():
        assert what in (before.get(path), after.get(path))
    return [state]
