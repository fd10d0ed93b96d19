"""Ignored files: everything in the store can be restored, whatever the ignore rules are today."""

import os
import time
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.history.snapshots.limits import SnapshotLimits
from tests.history.snapshots.file_history_fixture import FileHistoryFixture


def make_older(path: Path) -> None:
    """Date a file back, so that its cached stat data is used."""
    before = time.time() - 60
    os.utime(path, (before, before))


@pytest.fixture
def repository(project: FileHistoryFixture) -> FileHistoryFixture:
    (project.work / ".git").mkdir()
    return project


def overwrite_with_tool(project: FileHistoryFixture, path: str, text: str) -> None:
    """Write a file as WriteFile does: its path is captured before and after."""
    project.history.capture(paths=[path])
    (project.work / path).write_text(text)
    author = ChangeAuthor(who="call", session=project.history.session, call="c", tool="WriteFile")
    project.history.capture(author, paths=[path])


@pytest.mark.parametrize("age", ["just written", "older"])
@pytest.mark.parametrize("edit", ["and edited later", "and left alone"])
def test_an_ignored_file_that_a_tool_wrote_is_restored(
    repository: FileHistoryFixture, age: str, edit: str
) -> None:
    ignore_file = repository.work / ".gitignore"
    ignore_file.write_text(".env\n")
    (repository.work / ".env").write_text("KEY=mine\n")
    if age == "older":
        make_older(ignore_file)
    start = repository.checkpoint()
    overwrite_with_tool(repository, ".env", "KEY=changed\n")
    if edit == "and edited later":
        with repository.agent("echo dist/ >> .gitignore"), ignore_file.open("a") as file:
            file.write("dist/\n")
    assert repository.revert(start)[".env"] == "restore"
    assert repository.files() == {".gitignore": ".env\n", ".env": "KEY=mine\n"}


@pytest.mark.parametrize("exclude", [(), ("data/",)])
def test_a_folder_that_was_ignored_and_then_deleted_is_recreated(
    tmp_path: Path, exclude: tuple[str, ...]
) -> None:
    project = FileHistoryFixture(tmp_path)
    project.history.open()
    (project.work / ".git").mkdir()
    (project.work / "data" / "deep").mkdir(parents=True)
    (project.work / "data" / "deep" / "rows.csv").write_text("1,2\n")
    start = project.checkpoint()
    if exclude:  # a new session with another setting
        project.history.close()
        project = FileHistoryFixture(tmp_path, limits=SnapshotLimits(exclude=exclude))
        project.history.open()
    else:
        with project.agent("echo data/ >> .gitignore"):
            (project.work / ".gitignore").write_text("data/\n")
    with project.agent("rm -rf data"):
        (project.work / "data" / "deep" / "rows.csv").unlink()
        (project.work / "data" / "deep").rmdir()
        (project.work / "data").rmdir()
    project.revert(start)
    assert project.files() == {"data/deep/rows.csv": "1,2\n"}


def test_a_new_file_in_an_ignored_folder_stays_uncovered(repository: FileHistoryFixture) -> None:
    (repository.work / "data").mkdir()
    (repository.work / "data" / "old").write_text("old\n")
    start = repository.checkpoint()
    with repository.agent():
        (repository.work / ".gitignore").write_text("data/\n")
        (repository.work / "data" / "old").write_text("changed\n")
    with repository.agent():
        (repository.work / "data" / "new").write_text("new\n")
    assert repository.revert(start) == {".gitignore": "delete", "data/old": "restore"}
    assert repository.files() == {"data/old": "old\n", "data/new": "new\n"}


def test_a_folder_with_ignored_files_is_not_removed(repository: FileHistoryFixture) -> None:
    start = repository.checkpoint()
    with repository.agent():
        (repository.work / "data").mkdir()
        (repository.work / "data" / "old").write_text("old\n")
    with repository.agent():
        (repository.work / ".gitignore").write_text("data/\n")
    (repository.work / "data" / "mine").write_text("mine\n")
    repository.revert(start)
    assert repository.files() == {"data/mine": "mine\n"}


def test_an_edit_of_a_file_that_is_no_longer_ignored_is_attributed(repository: FileHistoryFixture) -> None:
    (repository.work / "notes").write_text("one\n")
    start = repository.checkpoint()
    with repository.agent():
        (repository.work / ".gitignore").write_text("notes\n")
    with repository.agent():
        (repository.work / ".gitignore").unlink()
        (repository.work / "notes").write_text("two\n")
    assert repository.revert(start) == {"notes": "restore"}
    assert repository.files() == {"notes": "one\n"}


def test_unchanged_ignored_files_are_read_only_once(
    repository: FileHistoryFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (repository.work / f"{number}.log").write_text(str(number))
        make_older(repository.work / f"{number}.log")
    start = repository.checkpoint()
    with repository.agent():
        (repository.work / ".gitignore").write_text("*.log\n")
    monkeypatch.setattr("kimi_tui.history.snapshots.stat_cache.RACY_NS", 0)
    repository.checkpoint()
    reads: list[str] = []
    monkeypatch.setattr(
        "kimi_tui.history.snapshots.change_detection.store_content",
        lambda path, *_, **__: reads.append(path),
    )
    repository.checkpoint()
    assert [path for path in reads if path.endswith(".log")] == []
    assert repository.history.plan(start).items[0].path == ".gitignore"
