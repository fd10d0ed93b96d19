"""Changes that are recorded path by path, without a scan of the working directory."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from kimi_tui.history.snapshots import file_history
from kimi_tui.history.snapshots.attribution import USER
from tests.history.snapshots.file_history_fixture import FileHistoryFixture


class Project(FileHistoryFixture):
    """A project whose states aren't complete before the first plan."""

    def __init__(self, folder: Path, *, session: str = "one") -> None:
        super().__init__(folder, session=session)
        self.history.open(lazily=True)

    @contextmanager
    def committing(self, *paths: str):
        """Record changes of `paths` made in the block as those of a tool call."""
        self.history.capture_paths(USER, paths)
        yield self.work
        self.history.capture_paths(self.call("command"), paths)

    def start(self) -> str:
        return self.history.capture_paths(USER, ()).manifest

    def listed(self, state: str) -> set[str]:
        return set(self.history.state(state))


@pytest.fixture(autouse=True)
def large_projects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat all projects as so large that their last state isn't loaded."""
    monkeypatch.setattr(file_history, "_LARGE_CACHE_BYTES", 0)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def write(project: FileHistoryFixture, **files: str) -> None:
    for name, text in files.items():
        (project.work / name).write_text(text)


def test_only_the_paths_of_the_change_are_listed(project: Project) -> None:
    write(project, a="1", b="1")
    with project.committing("a"):
        write(project, a="2")
    assert project.listed(project.start()) == {"a"}


def test_a_change_is_reverted_to_what_was_there_before(project: Project) -> None:
    write(project, a="1", b="1")
    start = project.start()
    with project.committing("a", "new"):
        write(project, a="2", new="2")
    assert project.revert(start) == {"a": "restore", "new": "delete"}
    assert project.files() == {"a": "1", "b": "1"}


def test_a_folder_that_was_removed_comes_back_with_all_its_files(project: Project) -> None:
    (project.work / "src" / "deep").mkdir(parents=True)
    (project.work / "src" / "deep" / "x").write_text("x")
    start = project.start()
    with project.committing("src", "src/deep", "src/deep/x"):
        shutil.rmtree(project.work / "src")
    project.revert(start)
    assert project.files() == {"src/deep/x": "x"}


def test_a_folder_that_became_a_file_comes_back(project: Project) -> None:
    (project.work / "src").mkdir()
    (project.work / "src" / "x").write_text("x")
    start = project.start()
    with project.committing("src", "src/x"):
        shutil.rmtree(project.work / "src")
        write(project, src="now a file")
    project.revert(start)
    assert project.files() == {"src/x": "x"}


def test_what_the_user_changed_before_is_not_the_calls(project: Project) -> None:
    write(project, a="1\n2\n3\n")
    start = project.start()
    with project.committing("a"):
        write(project, a="agent\n2\n3\n")
    write(project, a="agent\n2\nmine\n")
    with project.committing("a"):
        write(project, a="agent\nagent\nmine\n")
    assert project.revert(start) == {"a": "merge"}
    assert project.files() == {"a": "1\n2\nmine\n"}


def test_files_that_the_first_scan_finds_are_nobodys_changes(project: Project) -> None:
    write(project, a="1", b="1")
    start = project.start()
    with project.committing("a"):
        write(project, a="2")
    assert [item.path for item in project.history.plan(start).items] == ["a"]
    assert project.listed(project.checkpoint()) == {"a", "b"}


def test_the_users_changes_after_the_first_scan_are_found(project: Project) -> None:
    write(project, a="1", b="1")
    start = project.start()
    project.history.plan(start)
    write(project, b="mine")
    assert [(item.path, item.by) for item in project.history.plan(start).items] == [("b", "you")]


def test_a_user_edit_of_a_changed_path_before_the_first_scan_is_the_users(project: Project) -> None:
    write(project, a="1\n\n\n\n2\n")
    start = project.start()
    with project.committing("a"):
        write(project, a="agent\n\n\n\n2\n")
    write(project, a="agent\n\n\n\nmine\n")
    assert project.revert(start) == {"a": "merge"}
    assert project.files() == {"a": "1\n\n\n\nmine\n"}


def test_a_file_that_the_agent_deleted_is_not_reported_as_deleted_by_the_user(project: Project) -> None:
    write(project, a="1", b="1")
    project.checkpoint()
    project.history.close()
    second = Project(project.work.parent, session="two")
    start = second.start()
    with second.committing("a"):
        (second.work / "a").unlink()
    assert [(item.path, item.by) for item in second.history.plan(start).items] == [("a", "agent")]


def test_an_incomplete_session_continues_with_its_state(project: Project) -> None:
    write(project, a="1", b="1")
    start = project.start()
    with project.committing("a"):
        write(project, a="2")
    project.history.close()
    again = Project(project.work.parent)
    assert again.revert(start) == {"a": "restore"}
    assert again.files() == {"a": "1", "b": "1"}


def test_states_before_and_after_the_first_scan_differ_only_in_changes(project: Project) -> None:
    write(project, a="1", b="1")
    start = project.start()
    with project.committing("a"):
        write(project, a="2")
    after = project.checkpoint()
    assert [item.path for item in project.history.difference(start, after)] == ["a"]
    assert [item.path for item in project.history.difference(after, start)] == ["a"]
    assert project.history.patch(start, after).text.count(b"diff --git") == 1


def test_ignored_files_are_recorded_only_if_they_are_known(project: Project) -> None:
    (project.work / ".git").mkdir()
    write(project, **{".gitignore": "*.log\nbuild/\n"})
    (project.work / "build").mkdir()
    (project.work / "build" / "x").write_text("x")
    project.start()
    project.history.capture(USER, paths=["known.log"])
    write(project, **{"known.log": "1"})
    project.history.capture(project.call(), paths=["known.log"])
    with project.committing("known.log", "other.log", "build", "build/x"):
        write(project, **{"known.log": "2", "other.log": "2"})
        shutil.rmtree(project.work / "build")
    assert project.listed(project.start()) == {"known.log"}
