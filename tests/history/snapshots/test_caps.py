"""Files beyond the limits: what is stored can be restored, and nothing that isn't stored is lost unasked."""

from pathlib import Path

import pytest

from kimi_tui.history.snapshots.limits import SnapshotLimits
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

SMALL, LARGE = "small\n", "x" * 2000


@pytest.fixture
def capped(tmp_path: Path) -> FileHistoryFixture:
    """A project in which files of more than 1,000 bytes aren't stored."""
    project = FileHistoryFixture(tmp_path, limits=SnapshotLimits(file=1000))
    project.history.open()
    return project


def test_a_stored_content_is_restored_after_a_larger_one_was_deleted(capped: FileHistoryFixture) -> None:
    (capped.work / "a").write_text(SMALL)
    start = capped.checkpoint()
    with capped.agent():
        (capped.work / "a").write_text(LARGE)
    with capped.agent():
        (capped.work / "a").unlink()
    assert capped.revert(start) == {"a": "recreate"}
    assert capped.files() == {"a": SMALL}


def test_a_content_that_is_too_large_to_be_stored_is_replaced_only_if_selected(
    capped: FileHistoryFixture,
) -> None:
    (capped.work / "a").write_text(SMALL)
    start = capped.checkpoint()
    with capped.agent():
        (capped.work / "a").write_text(LARGE)
        (capped.work / "new").write_text(LARGE)
    assert capped.revert(start) == {"a": "conflict", "new": "conflict"}
    assert capped.files() == {"a": LARGE, "new": LARGE}
    [note] = {item.note for item in capped.history.plan(start).items}
    assert note == "its current content can't be stored (too large), so an undo can't restore it"
    capped.revert(start, also=lambda _: {"a", "new"})
    assert capped.files() == {"a": SMALL}


def test_a_conflict_with_your_content_says_that_it_is_too_large_to_be_stored(
    capped: FileHistoryFixture,
) -> None:
    (capped.work / "a").write_text(SMALL)
    start = capped.checkpoint()
    with capped.agent():
        (capped.work / "a").write_text("agent\n")
    (capped.work / "a").write_text(LARGE)
    [item] = capped.history.plan(start).items
    assert item.action == "conflict"
    assert item.note.startswith("its current content can't be stored (")


def test_a_file_whose_earlier_content_was_too_large_is_not_covered(capped: FileHistoryFixture) -> None:
    (capped.work / "a").write_text(LARGE)
    start = capped.checkpoint()
    with capped.agent():
        (capped.work / "a").write_text(SMALL)
    assert capped.revert(start) == {"a": "not covered"}
    assert capped.files() == {"a": SMALL}


def test_a_large_file_of_the_users_is_kept(capped: FileHistoryFixture) -> None:
    start = capped.checkpoint()
    (capped.work / "mine").write_text(LARGE)
    assert capped.revert(start) == {"mine": "keep"}
    assert capped.files() == {"mine": LARGE}
