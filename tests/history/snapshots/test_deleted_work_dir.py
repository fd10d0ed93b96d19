"""A working directory that was deleted."""

import shutil

import pytest

from tests.history.snapshots.file_history_fixture import FileHistoryFixture


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_work_dir_that_the_agent_deleted_is_restored(
    project: FileHistoryFixture, is_restarted: bool
) -> None:
    (project.work / "folder").mkdir()
    (project.work / "folder" / "file").write_text("text\n")
    start = project.checkpoint()
    with project.agent("rm -rf $PWD"):
        shutil.rmtree(project.work)
    if is_restarted:
        project.history.close()
        project.work.mkdir()
        project = FileHistoryFixture(project.work.parent)
        project.work.rmdir()
        project.history.open()
    plan = project.history.plan(start)
    assert [(item.path, item.action, item.by) for item in plan.items] == [
        ("folder", "recreate", "agent"),
        ("folder/file", "recreate", "agent"),
    ]
    project.revert(start)
    assert project.files() == {"folder/file": "text\n"}
    project.revert(plan.head)
    assert project.files() == {}


def test_a_work_dir_that_the_user_deleted_stays_so_unless_selected(project: FileHistoryFixture) -> None:
    (project.work / "file").write_text("text\n")
    start = project.checkpoint()
    shutil.rmtree(project.work)
    assert project.revert(start) == {"file": "keep"}
    assert not project.work.exists()
    project.revert(start, also=lambda plan: {"file"})
    assert project.files() == {"file": "text\n"}
