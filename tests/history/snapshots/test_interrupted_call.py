"""A process that was killed in a command: its changes are the agent's, later ones are not."""

import shutil
import time
from pathlib import Path

import pytest

from kimi_tui.history.snapshots import open_calls
from tests.history.snapshots.file_history_fixture import FileHistoryFixture


@pytest.fixture(autouse=True)
def exact_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the times of files to the millisecond."""
    monkeypatch.setattr(open_calls, "_TOLERANCE_S", 0.02)


def kill_in_command(folder: Path, command: str = "rm -rf src; sleep 60") -> str:
    """Delete `src` in a command whose process is killed. Return the state before it."""
    project = FileHistoryFixture(folder)
    project.history.open()
    (project.work / "src").mkdir()
    (project.work / "src" / "a").write_text("a\n")
    (project.work / "note").write_text("note\n")
    start = project.checkpoint()
    file = project.history.begin_call(project.call(command))
    shutil.rmtree(project.work / "src")
    file.touch()
    return start


def test_a_plan_made_right_after_the_restart_attributes_the_changes(tmp_path: Path) -> None:
    start = kill_in_command(tmp_path)
    project = FileHistoryFixture(tmp_path)
    project.history.open()
    assert {item.by for item in project.history.plan(start).items} == {"agent"}


def restart(folder: Path) -> FileHistoryFixture:
    project = FileHistoryFixture(folder)
    project.history.open()
    project.checkpoint()
    return project


def test_what_a_killed_command_deleted_is_recreated(tmp_path: Path) -> None:
    start = kill_in_command(tmp_path)
    project = restart(tmp_path)
    plan = project.history.plan(start)
    assert {(item.path, item.action, item.by) for item in plan.items} == {
        ("src", "recreate", "agent"), ("src/a", "recreate", "agent"),
    }  # fmt: skip
    assert plan.commands == ("rm -rf src; sleep 60",)
    project.revert(start)
    assert project.files() == {"note": "note\n", "src/a": "a\n"}


def test_an_edit_after_the_kill_is_kept_and_names_both_possible_authors(tmp_path: Path) -> None:
    start = kill_in_command(tmp_path)
    time.sleep(0.05)
    (tmp_path / "work" / "note").write_text("mine\n")
    project = restart(tmp_path)
    note = next(item for item in project.history.plan(start).items if item.path == "note")
    assert (note.action, note.note) == ("keep", "changed only by you or `rm -rf src; sleep 60`")
    project.revert(start)
    assert project.files() == {"note": "mine\n", "src/a": "a\n"}


def test_an_interrupted_call_counts_only_once(tmp_path: Path) -> None:
    kill_in_command(tmp_path)
    project = restart(tmp_path)
    start = project.checkpoint()
    (project.work / "note").write_text("mine\n")
    [item] = project.history.plan(start).items
    assert (item.action, item.by) == ("keep", "you")
    project.history.close()
    assert list((project.store.folder / "calls").iterdir()) == []
