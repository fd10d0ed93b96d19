"""Changes to the working directory, or disk errors, during a revert."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.plan_executor import ExecutionResult
from kimi_tui.history.snapshots.work_filesystem import LocalWorkFileSystem
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

MANY = 40


class InterferingFileSystem(LocalWorkFileSystem):
    """Runs an action just before the first call with a given name. Records the calls."""

    def __init__(self, before: str = "", action: Callable[[], object] = lambda: None) -> None:
        self.calls: list[str] = []
        self._before = before
        self._act = action

    def create(self, folder: int, name: str) -> int:
        self._note("create")
        return super().create(folder, name)

    def fsync(self, file: int) -> None:
        self._note("fsync")
        super().fsync(file)

    def sync(self, file: int) -> None:
        self._note("sync")
        super().sync(file)

    def rename(self, folder: int, old: str, new: str) -> None:
        self._note("rename")
        super().rename(folder, old, new)

    def unlink(self, folder: int, name: str) -> None:
        self._note("unlink")
        super().unlink(folder, name)

    def _note(self, call: str) -> None:
        if call == self._before and call not in self.calls:
            self._act()
        self.calls.append(call)


def revert_files(project: FileHistoryFixture, start: str) -> ExecutionResult:
    plan = project.history.plan(start)
    return project.history.execute(plan, {item.path for item in plan.items})[0]


def open_history(folder: Path, fs: LocalWorkFileSystem) -> FileHistoryFixture:
    project = FileHistoryFixture(folder, work_fs=fs)
    project.history.open()
    return project


def leftover_files(project: FileHistoryFixture) -> list[str]:
    return [path.name for path in project.work.rglob(".kimi-tui-*")]


def test_an_edit_made_while_the_old_content_is_written_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "work" / "f"
    project = open_history(tmp_path, InterferingFileSystem("create", lambda: file.write_text("the user's\n")))
    file.write_text("one\n")
    start = project.checkpoint()
    with project.agent():
        file.write_text("two\n")
    assert revert_files(project, start).failed == (("f", "changed in the meantime"),)
    assert project.files() == {"f": "the user's\n"}
    assert leftover_files(project) == []


def test_a_file_created_where_one_is_being_restored_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "work" / "f"
    project = open_history(tmp_path, InterferingFileSystem("create", lambda: file.write_text("the user's\n")))
    file.write_text("one\n")
    start = project.checkpoint()
    with project.agent():
        file.unlink()
    assert revert_files(project, start).failed == (("f", "changed in the meantime"),)
    assert project.files() == {"f": "the user's\n"}


def test_an_edit_of_a_file_that_is_about_to_be_deleted_is_kept(tmp_path: Path) -> None:
    second = tmp_path / "work" / "b"
    project = open_history(
        tmp_path, InterferingFileSystem("unlink", lambda: second.write_text("the user's\n"))
    )
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").write_text("made\n")
        second.write_text("made\n")
    assert revert_files(project, start).failed == (("b", "changed in the meantime"),)
    assert project.files() == {"b": "the user's\n"}


@pytest.mark.parametrize("before", ["create", "rename"])
def test_a_link_that_replaces_a_directory_is_not_followed(before: str, tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "work" / "d"
    outside.mkdir()
    (outside / "f").write_text("not yours\n")

    def swap() -> None:
        folder.rename(tmp_path / "work" / "moved")
        folder.symlink_to(outside)

    project = open_history(tmp_path, InterferingFileSystem(before, swap))
    folder.mkdir()
    (folder / "f").write_text("one\n")
    start = project.checkpoint()
    with project.agent():
        (folder / "f").write_text("two\n")
    revert_files(project, start)
    assert [path.name for path in outside.iterdir()] == ["f"]
    assert (outside / "f").read_text() == "not yours\n"


def test_both_hard_links_of_a_file_are_restored(tmp_path: Path) -> None:
    project = open_history(tmp_path, LocalWorkFileSystem())
    for name in ("a", "b"):
        (project.work / name).write_text("one\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").write_text("two\n")
        (project.work / "b").unlink()
        (project.work / "b").hardlink_to(project.work / "a")
    assert revert_files(project, start).failed == ()
    assert project.files() == {"a": "one\n", "b": "one\n"}


def test_a_file_is_restored_in_a_deleted_directory(tmp_path: Path) -> None:
    project = open_history(tmp_path, LocalWorkFileSystem())
    (project.work / "d").mkdir(mode=0o700)
    for name in ("a", "b"):
        (project.work / "d" / name).write_text("one\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "d" / "a").unlink()
        (project.work / "d" / "b").unlink()
        (project.work / "d").rmdir()
    plan = project.history.plan(start)
    ticked = {"d/a"}
    assert project.history.execute(plan, ticked)[0].failed == ()
    assert project.files() == {"d/a": "one\n"}


def change_many_files(project: FileHistoryFixture) -> str:
    for number in range(MANY):
        (project.work / f"f{number}").write_text(f"{number}\n")
    start = project.checkpoint()
    with project.agent():
        for number in range(MANY):
            (project.work / f"f{number}").write_text("changed\n")
    return start


@pytest.mark.skipif(not LocalWorkFileSystem().can_sync(), reason="needs syncfs")
def test_many_files_are_synced_together_before_the_first_rename(
    tmp_path: Path,
) -> None:
    fs = InterferingFileSystem()
    project = open_history(tmp_path, fs)
    revert_files(project, change_many_files(project))
    assert fs.calls == ["create"] * MANY + ["sync"] + ["rename"] * MANY


def test_without_syncfs_each_file_is_synced_separately(tmp_path: Path) -> None:
    class Older(InterferingFileSystem):
        def can_sync(self) -> bool:
            return False

    fs = Older()
    project = open_history(tmp_path, fs)
    revert_files(project, change_many_files(project))
    assert fs.calls == ["create", "fsync"] * MANY + ["rename"] * MANY


def test_files_that_cannot_be_synced_are_not_renamed(tmp_path: Path) -> None:
    class Refusing(LocalWorkFileSystem):
        def can_sync(self) -> bool:
            return True

        def sync(self, file: int) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    project = open_history(tmp_path, Refusing())
    outcome = revert_files(project, change_many_files(project))
    assert {why for _, why in outcome.failed} == {os.strerror(errno.EIO)}
    assert set(project.files().values()) == {"changed\n"}
    assert leftover_files(project) == []
