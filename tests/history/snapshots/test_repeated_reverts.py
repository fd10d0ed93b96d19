"""A revert after a revert keeps what the user wrote in between, wherever the first one moved the files."""

from itertools import pairwise
from pathlib import Path

from kimi_tui.history.snapshots.plan import Plan
from tests.history.snapshots.disturbed_work_filesystem import DisturbedWorkFileSystem
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

A, B, C = ("".join(f"{name} {number}\n" for number in range(6)) for name in "abc")


class Killed(BaseException):
    """Stands in for the end of the process."""


def write(project: FileHistoryFixture, **contents: str) -> None:
    for name, content in contents.items():
        path = project.work / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def append(project: FileHistoryFixture, path: str, line: str) -> None:
    with (project.work / path).open("a") as file:
        file.write(line)


def rename(project: FileHistoryFixture, *names: str) -> None:
    """Rename each name but the last to the next one, from the last file to the first."""
    for old, new in reversed(list(pairwise(names))):
        (project.work / old).rename(project.work / new)


def defaults(plan: Plan) -> set[str]:
    return {item.path for item in plan.items if item.is_selected}


def test_lines_before_and_after_the_revert_of_a_chain_of_renames_are_kept(project: FileHistoryFixture):
    write(project, a=A, b=B, c=C)
    start = project.checkpoint()
    with project.running("mv b moved; mv a b"):
        rename(project, "a", "b", "moved")
    with project.running("mv c moved"):
        rename(project, "c", "moved")
    append(project, "b", "before\n")
    append(project, "moved", "other\n")
    project.revert(start)
    assert project.files() == {"a": A + "before\n", "b": B, "c": C + "other\n"}
    append(project, "a", "after\n")
    project.revert(start)
    assert project.files() == {"a": A + "before\nafter\n", "b": B, "c": C + "other\n"}


def test_lines_in_a_file_that_a_revert_restored_are_kept_by_the_next_one(project: FileHistoryFixture):
    write(project, a=A, b=B)
    start = project.checkpoint()
    with project.running("mv a moved"):
        rename(project, "a", "moved")
    with project.running("mv b moved"):
        rename(project, "b", "moved")
    project.revert(start)
    append(project, "a", "mine\n")
    project.revert(start)
    assert project.files() == {"a": A + "mine\n", "b": B}


def test_a_revert_that_restores_what_a_folder_replaced_can_be_undone(project: FileHistoryFixture):
    write(project, a=A, d__x=B, d__y=C)
    start = project.checkpoint()
    with project.running("mv a b"):
        rename(project, "a", "b")
    with project.running("mv b moved; mv d b"):
        rename(project, "d", "b", "moved")
    plan = project.history.plan(start)
    project.history.execute(plan, defaults(plan))
    assert project.files() == {"a": A, "d/x": B, "d/y": C}
    project.revert(plan.head)
    assert project.files() == {"b/x": B, "b/y": C, "moved": A}


def test_a_content_stays_where_it_is_if_it_cannot_go_back(project: FileHistoryFixture):
    write(project, d__x=A, d__y=C)
    start = project.checkpoint()
    write(project, b=B)
    with project.running("mv b moved; mv d b"):
        rename(project, "d", "b", "moved")
    plan = project.history.plan(start)
    append(project, "b/x", "mine\n")  # so the folder stays
    result, _ = project.history.execute(plan, defaults(plan))
    assert project.files()["moved"] == B
    assert {path for path, _ in result.failed} >= {"b", "b/x", "moved"}


def test_a_moved_file_is_not_written_at_its_old_name_if_you_replaced_it(project: FileHistoryFixture):
    write(project, a=A, b=B)
    start = project.checkpoint()
    with project.running("mv b moved; mv a b"):
        rename(project, "a", "b", "moved")
    append(project, "b", "mine\n")
    plan = project.history.plan(start)
    write(project, b="new\n")
    result, _ = project.history.execute(plan, defaults(plan))
    assert project.files() == {"b": "new\n", "moved": B}
    assert {path for path, _ in result.failed} == {"a", "b", "moved"}


def test_neither_name_of_a_moved_file_is_written_alone(project: FileHistoryFixture):
    write(project, a=A, b=B)
    start = project.checkpoint()
    with project.running("mv b moved; mv a b"):
        rename(project, "a", "b", "moved")
    plan = project.history.plan(start)
    result, _ = project.history.execute(plan, {"a"})
    assert project.files() == {"b": A, "moved": B}
    assert dict(result.failed) == {"a": "its content is now in b, and that file isn't reverted"}


def test_a_file_that_you_write_where_a_revert_removed_a_folder_is_yours(tmp_path: Path):
    work_fs = DisturbedWorkFileSystem()
    project = FileHistoryFixture(tmp_path, work_fs=work_fs)
    project.history.open()
    start = project.checkpoint()
    with project.agent():
        write(project, d__e__f=A)

    def replace_folder() -> None:
        (project.work / "d/e").rmdir()
        write(project, d__e="mine\n")

    work_fs.arm(0, replace_folder)
    project.revert(start)
    project.revert(start)
    assert project.files() == {"d/e": "mine\n"}


def test_a_revert_that_was_killed_after_a_rename_leaves_the_file_its_history(tmp_path: Path):
    work_fs = DisturbedWorkFileSystem()
    project = FileHistoryFixture(tmp_path, work_fs=work_fs)
    write(project, a=A)
    project.history.open()
    start = project.checkpoint()
    with project.agent():
        rename(project, "a", "b")
        append(project, "b", "agent\n")
    write(project, b="mine\n" + A + "agent\n")
    plan = project.history.plan(start)

    def die() -> None:
        raise Killed

    work_fs.arm(0, die)
    try:
        project.history.execute(plan, defaults(plan))
    except Killed:
        project.store.close()
    resumed = FileHistoryFixture(tmp_path)
    resumed.history.open()
    assert resumed.files() == {"a": "mine\n" + A}
    append(resumed, "a", "more\n")
    resumed.revert(start)
    assert resumed.files() == {"a": "mine\n" + A + "more\n"}


def test_all_files_of_a_folder_that_disappeared_are_gone(project: FileHistoryFixture):
    write(project, d__a=A, d__b=B)
    project.checkpoint()
    rename(project, "d", "moved")
    project.history.capture(paths=["d/b"])
    state = project.history.state(project.checkpoint())
    assert set(state) == {"moved", "moved/a", "moved/b"}
    rename(project, "moved", "d")
    state = project.history.state(project.checkpoint())
    assert set(state) == {"d", "d/a", "d/b"}


def test_a_line_that_a_selected_revert_restored_is_yours_again(project: FileHistoryFixture):
    start = project.checkpoint()
    with project.agent():
        write(project, a=A)
    append(project, "a", "mine\n")
    written = project.checkpoint()
    write(project, a=A)
    project.checkpoint()
    restored = project.history.plan(written)
    project.history.execute(restored, {item.path for item in restored.items})
    assert project.files() == {"a": A + "mine\n"}
    project.revert(start)
    assert "mine\n" in project.files()["a"]


def test_a_directory_that_a_revert_creates_in_place_of_a_removed_file_is_removed_by_its_undo(
    project: FileHistoryFixture,
):
    start = project.checkpoint()
    write(project, d__e__f=B)
    inside = project.checkpoint()
    project.history.execute(project.history.plan(start), {"d/e", "d/e/f"})
    write(project, d__e=C)
    plan = project.history.plan(inside)
    project.history.execute(plan, {"d/e", "d/e/f"})
    assert project.files() == {"d/e/f": B}
    undo = project.history.plan(plan.head)
    project.history.execute(undo, defaults(undo))
    assert project.files() == {"d/e": C}


def test_a_line_that_you_write_to_a_file_after_a_revert_renamed_it_is_yours(tmp_path: Path):
    work_fs = DisturbedWorkFileSystem()
    project = FileHistoryFixture(tmp_path, work_fs=work_fs)
    project.history.open()
    write(project, a=A)
    start = project.checkpoint()
    with project.running("mv a moved; chmod 600 moved"):
        rename(project, "a", "moved")
        (project.work / "moved").chmod(0o600)
    work_fs.arm(0, lambda: append(project, "a", "mine\n"))
    plan = project.history.plan(start)
    result, _ = project.history.execute(plan, defaults(plan))
    assert result.failed
    project.revert(start)
    assert project.files() == {"a": A + "mine\n"}


def test_a_file_that_you_write_where_a_revert_moved_a_folder_away_is_yours(tmp_path: Path):
    work_fs = DisturbedWorkFileSystem()
    project = FileHistoryFixture(tmp_path, work_fs=work_fs)
    project.history.open()
    write(project, d__x=A, d__y=B)
    start = project.checkpoint()
    with project.running("mv d moved"):
        rename(project, "d", "moved")
    work_fs.arm(0, lambda: write(project, moved="mine\n"))
    project.revert(start)
    project.revert(start)
    assert project.files() == {"d/x": A, "d/y": B, "moved": "mine\n"}
