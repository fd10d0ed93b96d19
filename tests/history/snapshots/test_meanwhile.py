"""What somebody does to the work dir, or the disk, while a revert is under way."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.execution import Outcome
from kimi_tui.history.snapshots.work_disk import LocalWorkDisk
from tests.history.snapshots.place import Place

MANY = 40


class Interrupted(LocalWorkDisk):
    """Somebody does something just before the first call of a name; calls are noted."""

    def __init__(self, before: str = "", act: Callable[[], object] = lambda: None) -> None:
        self.calls: list[str] = []
        self._before = before
        self._act = act

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


def reverted(place: Place, start: str) -> Outcome:
    plan = place.history.plan(start)
    return place.history.execute(plan, {item.path for item in plan.items})[0]


def opened(folder: Path, disk: LocalWorkDisk) -> Place:
    place = Place(folder, work_disk=disk)
    place.history.open()
    return place


def left_over(place: Place) -> list[str]:
    return [path.name for path in place.work.rglob(".kimi-tui-*")]


def test_an_edit_made_while_the_old_content_is_written_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "work" / "f"
    place = opened(tmp_path, Interrupted("create", lambda: file.write_text("the user's\n")))
    file.write_text("one\n")
    start = place.checkpoint()
    with place.agent():
        file.write_text("two\n")
    assert reverted(place, start).failed == (("f", "it changed meanwhile"),)
    assert place.files() == {"f": "the user's\n"}
    assert left_over(place) == []


def test_a_file_that_somebody_makes_meanwhile_where_one_was_to_come_back_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "work" / "f"
    place = opened(tmp_path, Interrupted("create", lambda: file.write_text("the user's\n")))
    file.write_text("one\n")
    start = place.checkpoint()
    with place.agent():
        file.unlink()
    assert reverted(place, start).failed == (("f", "it changed meanwhile"),)
    assert place.files() == {"f": "the user's\n"}


def test_an_edit_of_a_file_that_is_about_to_be_deleted_is_kept(tmp_path: Path) -> None:
    second = tmp_path / "work" / "b"
    place = opened(tmp_path, Interrupted("unlink", lambda: second.write_text("the user's\n")))
    start = place.checkpoint()
    with place.agent():
        (place.work / "a").write_text("made\n")
        second.write_text("made\n")
    assert reverted(place, start).failed == (("b", "it changed meanwhile"),)
    assert place.files() == {"b": "the user's\n"}


@pytest.mark.parametrize("before", ["create", "rename"])
def test_a_link_put_in_the_place_of_a_folder_meanwhile_leads_nothing_elsewhere(
    before: str, tmp_path: Path
) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "work" / "d"
    outside.mkdir()
    (outside / "f").write_text("not yours\n")

    def swap() -> None:
        folder.rename(tmp_path / "work" / "moved")
        folder.symlink_to(outside)

    place = opened(tmp_path, Interrupted(before, swap))
    folder.mkdir()
    (folder / "f").write_text("one\n")
    start = place.checkpoint()
    with place.agent():
        (folder / "f").write_text("two\n")
    reverted(place, start)
    assert [path.name for path in outside.iterdir()] == ["f"]
    assert (outside / "f").read_text() == "not yours\n"


def test_both_names_of_a_file_come_back(tmp_path: Path) -> None:
    place = opened(tmp_path, LocalWorkDisk())
    for name in ("a", "b"):
        (place.work / name).write_text("one\n")
    start = place.checkpoint()
    with place.agent():
        (place.work / "a").write_text("two\n")
        (place.work / "b").unlink()
        (place.work / "b").hardlink_to(place.work / "a")
    assert reverted(place, start).failed == ()
    assert place.files() == {"a": "one\n", "b": "one\n"}


def test_a_file_comes_back_to_a_folder_that_went(tmp_path: Path) -> None:
    place = opened(tmp_path, LocalWorkDisk())
    (place.work / "d").mkdir(mode=0o700)
    for name in ("a", "b"):
        (place.work / "d" / name).write_text("one\n")
    start = place.checkpoint()
    with place.agent():
        (place.work / "d" / "a").unlink()
        (place.work / "d" / "b").unlink()
        (place.work / "d").rmdir()
    plan = place.history.plan(start)
    ticked = {"d/a"}
    assert place.history.execute(plan, ticked)[0].failed == ()
    assert place.files() == {"d/a": "one\n"}


def many_changed(place: Place) -> str:
    for number in range(MANY):
        (place.work / f"f{number}").write_text(f"{number}\n")
    start = place.checkpoint()
    with place.agent():
        for number in range(MANY):
            (place.work / f"f{number}").write_text("changed\n")
    return start


@pytest.mark.skipif(not LocalWorkDisk().can_sync(), reason="this system has no such call")
def test_many_files_are_brought_to_the_medium_together_before_the_first_is_put_in_place(
    tmp_path: Path,
) -> None:
    disk = Interrupted()
    place = opened(tmp_path, disk)
    reverted(place, many_changed(place))
    assert disk.calls == ["create"] * MANY + ["sync"] + ["rename"] * MANY


def test_where_that_is_not_possible_each_is_brought_to_the_medium_by_itself(tmp_path: Path) -> None:
    class Older(Interrupted):
        def can_sync(self) -> bool:
            return False

    disk = Older()
    place = opened(tmp_path, disk)
    reverted(place, many_changed(place))
    assert disk.calls == ["create", "fsync"] * MANY + ["rename"] * MANY


def test_what_does_not_reach_the_medium_is_not_put_in_place(tmp_path: Path) -> None:
    class Refusing(LocalWorkDisk):
        def can_sync(self) -> bool:
            return True

        def sync(self, file: int) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    place = opened(tmp_path, Refusing())
    outcome = reverted(place, many_changed(place))
    assert {why for _, why in outcome.failed} == {os.strerror(errno.EIO)}
    assert set(place.files().values()) == {"changed\n"}
    assert left_over(place) == []
