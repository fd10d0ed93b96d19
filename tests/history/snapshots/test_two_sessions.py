"""Two sessions in one working directory, one of which reverts or was killed during a revert."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.base.ids import new_temporary_name
from kimi_tui.history.snapshots.limits import SnapshotLimits
from kimi_tui.history.snapshots.work_filesystem import LocalWorkFileSystem
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

FILES = [f"f{number}" for number in range(12)]
ORIGINAL = {name: f"{name}\n" for name in FILES}


class ObservedWorkFileSystem(LocalWorkFileSystem):
    """Calls a function after the first rename."""

    def __init__(self, observe: Callable[[], None]) -> None:
        self._observe: Callable[[], None] | None = observe

    def rename(self, folder: int, old: str, new: str) -> None:
        super().rename(folder, old, new)
        observe, self._observe = self._observe, None
        if observe is not None:
            observe()


def write_files(project: FileHistoryFixture, files: dict[str, str]) -> None:
    for name, text in files.items():
        (project.work / name).write_text(text)


def change_files(project: FileHistoryFixture) -> str:
    """Write the original files, and let the agent change them. Return the state before the change."""
    write_files(project, ORIGINAL)
    start = project.checkpoint()
    with project.agent():
        write_files(project, dict.fromkeys(FILES, "changed\n"))
    return start


def revert_and_crash(folder: Path) -> None:
    """Run in the process to be killed: print the state to revert to, then die in the middle."""

    def crash() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    project = FileHistoryFixture(folder, work_fs=ObservedWorkFileSystem(crash))
    project.history.open()
    start = change_files(project)
    print(project.checkpoint(), flush=True)
    project.revert(start)


def run_session_that_crashes(folder: Path) -> str:
    """Kill session `one` in a revert. Return the state before the revert."""
    code = (
        "from pathlib import Path; from tests.history.snapshots.test_two_sessions import revert_and_crash; "
        f"revert_and_crash(Path({str(folder)!r}))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[3], capture_output=True, text=True
    )
    assert process.returncode < 0
    return process.stdout.strip()


def test_a_session_that_starts_during_a_revert_leaves_it_alone(tmp_path: Path) -> None:
    seen: list[object] = []

    def start_second_session() -> None:
        second = FileHistoryFixture(tmp_path, session="two")
        seen.append(second.history.open())
        second.checkpoint()
        seen.append(len(list((second.store.folder / "reverts").glob("*.json"))))
        seen.append(len(list(second.work.glob(".kimi-tui-*"))) > 0)
        second.history.close()

    first = FileHistoryFixture(tmp_path, work_fs=ObservedWorkFileSystem(start_second_session))
    first.history.open()
    start = change_files(first)
    assert set(first.revert(start).values()) == {"restore"}
    assert seen == [None, 1, True]
    assert first.files() == ORIGINAL


def test_a_session_completes_the_revert_of_a_killed_one(tmp_path: Path) -> None:
    run_session_that_crashes(tmp_path)
    second = FileHistoryFixture(tmp_path, session="two")
    assert second.history.open() is None
    assert second.files() == ORIGINAL
    assert list(second.work.glob(".kimi-tui-*")) == []


def test_the_killed_session_knows_that_its_revert_was_completed(tmp_path: Path) -> None:
    before_revert = run_session_that_crashes(tmp_path)
    second = FileHistoryFixture(tmp_path, session="two")
    second.history.open()
    second.history.close()
    first = FileHistoryFixture(tmp_path)
    outcome = first.history.open()
    assert outcome is not None
    assert set(outcome.done) == set(FILES)
    assert first.history.was_reverted_since(before_revert)
    assert set(first.revert(before_revert).values()) == {"restore"}
    assert first.files() == dict.fromkeys(FILES, "changed\n")
    first.history.close()
    assert FileHistoryFixture(tmp_path).history.open() is None


def test_a_completed_revert_is_attributed_to_the_session_that_began_it(tmp_path: Path) -> None:
    second = FileHistoryFixture(tmp_path, session="two")
    second.history.open()
    start = second.checkpoint()
    second.history.close()
    run_session_that_crashes(tmp_path)
    second = FileHistoryFixture(tmp_path, session="two")
    second.history.open()
    plan = second.history.plan(start)
    assert {(item.action, item.by) for item in plan.items} == {("keep", "another session")}
    second.history.close()


class Killed(BaseException):
    """Ends a revert like a kill does."""


def test_pruning_between_a_kill_and_the_restart_keeps_what_the_revert_still_has_to_write(
    tmp_path: Path,
) -> None:
    def die() -> None:
        raise Killed

    project = FileHistoryFixture(tmp_path, work_fs=ObservedWorkFileSystem(die))
    project.history.open()
    write_files(project, dict.fromkeys(FILES, "1\n2\n3\n"))
    start = project.checkpoint()
    with project.agent():
        write_files(project, dict.fromkeys(FILES, "one\n2\n3\n"))
    write_files(project, {name: f"one\n2\n3\nmine in {name}\n" for name in FILES})
    with pytest.raises(Killed):
        project.revert(start)
    project.store.close()
    project.store.prune(SnapshotLimits(age_days=0))
    again = FileHistoryFixture(tmp_path)
    outcome = again.history.open()
    assert outcome is not None
    assert outcome.failed == ()
    assert again.files() == {name: f"1\n2\n3\nmine in {name}\n" for name in FILES}


def test_an_edit_during_a_revert_is_yours(tmp_path: Path) -> None:
    edited: list[str] = []

    def edit_what_was_written() -> None:
        name = next(name for name in FILES if (tmp_path / "work" / name).read_text() == ORIGINAL[name])
        with (tmp_path / "work" / name).open("a") as file:
            file.write("mine\n")
        edited.append(name)

    project = FileHistoryFixture(tmp_path, work_fs=ObservedWorkFileSystem(edit_what_was_written))
    project.history.open()
    start = change_files(project)
    before = project.checkpoint()
    project.revert(start)
    [name] = edited
    items = {item.path: (item.action, item.by) for item in project.history.plan(before).items}
    assert items[name] == ("merge", "both")
    project.revert(before)
    assert "mine\n" in project.files()[name]


def test_an_edit_after_another_session_completed_a_revert_is_yours(tmp_path: Path) -> None:
    before = run_session_that_crashes(tmp_path)
    second = FileHistoryFixture(tmp_path, session="two")
    second.history.open()
    second.history.close()
    (second.work / "f3").write_text("f3\nmine\n")
    first = FileHistoryFixture(tmp_path)
    first.history.open()
    assert {item.path: item.by for item in first.history.plan(before).items}["f3"] == "both"
    first.revert(before)
    assert "mine\n" in first.files()["f3"]


def test_a_file_that_another_session_is_writing_is_never_recorded(tmp_path: Path) -> None:
    project = FileHistoryFixture(tmp_path)
    project.history.open()
    start = project.checkpoint()
    with project.agent():
        (project.work / new_temporary_name()).write_text("half")
        (project.work / f"{new_temporary_name()}-3").write_text("half")
        (project.work / ".kimi-tui-notes").write_text("whole")
    assert project.revert(start) == {".kimi-tui-notes": "delete"}
