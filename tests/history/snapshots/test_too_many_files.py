"""More files than may be covered: stored files are still watched, and plans say that they are incomplete."""

import shutil
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.limits import SnapshotLimits
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

LIMITS = SnapshotLimits(files=20, retry_scan_s=0.0)
REASON = "the working directory contains more than 20 files"


def open_project(folder: Path, limits: SnapshotLimits = LIMITS) -> FileHistoryFixture:
    project = FileHistoryFixture(folder, limits=limits)
    project.history.open()
    return project


def create_files(folder: Path, count: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"f{number}").write_text(f"{number}\n")


@pytest.fixture
def project(tmp_path: Path) -> FileHistoryFixture:
    return open_project(tmp_path)


def exceed_limit(project: FileHistoryFixture) -> str:
    """Store five files in `src`, then let the agent create too many. Return the state before that."""
    create_files(project.work / "src", 5)
    start = project.checkpoint()
    with project.agent("npm install"):
        create_files(project.work / "node_modules", 30)
    return start


def test_a_plan_says_that_it_is_incomplete(project: FileHistoryFixture) -> None:
    start = exceed_limit(project)
    assert project.history.plan(start).incomplete == REASON


def test_a_complete_plan_says_nothing(project: FileHistoryFixture) -> None:
    create_files(project.work / "src", 5)
    start = project.checkpoint()
    with project.agent():
        shutil.rmtree(project.work / "src")
    assert project.history.plan(start).incomplete == ""


def test_stored_files_that_the_agent_deletes_are_recreated(project: FileHistoryFixture) -> None:
    start = exceed_limit(project)
    with project.agent("rm -rf src"):
        shutil.rmtree(project.work / "src")
    actions = project.revert(start)
    assert set(actions.values()) == {"recreate"}
    assert sorted(path.name for path in (project.work / "src").iterdir()) == [f"f{n}" for n in range(5)]


def test_losses_are_the_agents_after_a_restart(project: FileHistoryFixture) -> None:
    start = exceed_limit(project)
    with project.agent("rm -rf src"):
        shutil.rmtree(project.work / "src")
    project.history.close()
    project = open_project(project.work.parent)
    plan = project.history.plan(start)
    assert plan.incomplete == REASON
    assert {item.by for item in plan.items} == {"agent"}


def test_coverage_resumes_when_there_are_fewer_files_again(project: FileHistoryFixture) -> None:
    exceed_limit(project)
    shutil.rmtree(project.work / "node_modules")
    resumed = project.checkpoint()
    assert project.history.partial_coverage_reason == ""
    with project.agent():
        (project.work / "new").write_text("new\n")
    assert project.revert(resumed) == {"new": "delete"}


def test_files_from_a_time_without_coverage_belong_to_nobody(project: FileHistoryFixture) -> None:
    start = exceed_limit(project)
    shutil.rmtree(project.work / "node_modules")
    (project.work / "unknown").write_text("?\n")
    with project.agent():
        pass
    plan = project.history.plan(start)
    assert plan.incomplete == REASON
    assert [item for item in plan.items if item.path == "unknown"] == []
    project.revert(start)
    assert (project.work / "unknown").exists()


def test_a_session_that_starts_with_too_many_files_covers_those_of_file_tools(
    project: FileHistoryFixture,
) -> None:
    create_files(project.work, 30)
    start = project.checkpoint()
    (project.work / "f1").write_text("1\n")
    project.history.capture(paths=["f1"])
    (project.work / "f1").write_text("changed\n")
    project.history.capture(project.call(), paths=["f1"])
    plan = project.history.plan(start)
    assert plan.incomplete == REASON
    assert [(item.path, item.action, item.by) for item in plan.items] == [("f1", "restore", "agent")]


def test_a_file_deleted_after_a_restart_is_missed_when_coverage_is_complete_again(tmp_path: Path) -> None:
    first = open_project(tmp_path)
    exceed_limit(first)
    first.store.close()
    project = open_project(tmp_path)
    project.checkpoint()
    with project.agent("rm -r node_modules src/f0"):
        shutil.rmtree(project.work / "node_modules")
        (project.work / "src" / "f0").unlink()
    assert "src/f0" not in project.history.state(project.checkpoint())
