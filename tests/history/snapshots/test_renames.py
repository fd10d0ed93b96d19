"""A rename by the agent is undone by a rename, and the user's later edits follow the file to its old name."""

from pathlib import Path

import pytest

from kimi_tui.history.snapshots.limits import SnapshotLimits
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

TEXT = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def project(tmp_path: Path):
    project = FileHistoryFixture(tmp_path)
    project.history.open()
    yield project
    project.history.close()


def write(project: FileHistoryFixture, **texts: str) -> None:
    for name, text in texts.items():
        path = project.work / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_an_edit_after_a_rename_follows_the_file_back(project: FileHistoryFixture):
    write(project, a=TEXT)
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").rename(project.work / "b")
    write(project, b=TEXT + "mine\n")
    (item,) = project.history.plan(start).items
    assert (item.path, item.renamed_to, item.action, item.by) == ("b", "a", "rename", "both")
    project.revert(start)
    assert project.files() == {"a": TEXT + "mine\n"}


def test_the_agents_edits_of_a_renamed_file_are_undone_and_yours_are_kept(project: FileHistoryFixture):
    write(project, a=TEXT)
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").rename(project.work / "b")
        write(project, b="agent\n" + TEXT)
    write(project, b="agent\n" + TEXT + "mine\n")
    assert project.revert(start) == {"b": "merge"}
    assert project.files() == {"a": TEXT + "mine\n"}


def test_a_renamed_folder_is_one_row_and_comes_back_with_everything_in_it(project: FileHistoryFixture):
    (project.work / ".git").mkdir()
    write(project, **{".gitignore": "cache\n", "src__a": "a\n", "src__sub__b": "b\n", "src__empty": ""})
    start = project.checkpoint()
    with project.agent():
        (project.work / "src").rename(project.work / "lib")
    write(project, lib__a="a\nmine\n", lib__new="new\n", lib__cache="ignored\n")
    (item,) = project.history.plan(start).items
    assert (item.path, item.renamed_to, item.action) == ("lib", "src", "rename")
    assert [member.path for member in item.members] == [
        "lib/a", "lib/empty", "lib/new", "lib/sub", "lib/sub/b",
    ]  # fmt: skip
    project.revert(start)
    assert project.files() == {
        ".gitignore": "cache\n", "src/a": "a\nmine\n", "src/cache": "ignored\n", "src/empty": "",
        "src/new": "new\n", "src/sub/b": "b\n",
    }  # fmt: skip
    assert not (project.work / "lib").exists()


def test_a_revert_of_a_rename_can_be_undone_and_redone_with_later_edits(project: FileHistoryFixture):
    write(project, src__a="a\n", src__b="b\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "src").rename(project.work / "lib")
    end = project.history.plan(start).head
    assert project.revert(start) == {"lib": "rename"}
    write(project, src__a="a\nmine\n")
    reverted = project.checkpoint()
    assert project.revert(end) == {"src": "rename"}
    assert project.files() == {"lib/a": "a\nmine\n", "lib/b": "b\n"}
    assert project.revert(reverted) == {"lib": "rename"}
    assert project.files() == {"src/a": "a\nmine\n", "src/b": "b\n"}
    assert project.revert(start) == {"src/a": "keep"}


def test_a_renamed_file_replaces_what_the_agent_wrote_under_its_old_name(project: FileHistoryFixture):
    write(project, a=TEXT)
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").rename(project.work / "b")
    with project.agent():
        write(project, a="another\n")
    write(project, b=TEXT + "mine\n")
    assert project.revert(start) == {"b": "rename"}
    assert project.files() == {"a": TEXT + "mine\n"}


def test_a_file_that_you_renamed_keeps_its_name_without_the_agents_edits(project: FileHistoryFixture):
    write(project, a=TEXT)
    start = project.checkpoint()
    with project.agent():
        write(project, a="agent\n" + TEXT)
    (project.work / "a").rename(project.work / "b")
    assert project.revert(start) == {"b": "restore"}
    assert project.files() == {"b": TEXT}


def test_only_the_content_of_a_rename_in_several_steps_matters(project: FileHistoryFixture):
    write(project, a=TEXT)
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").rename(project.work / "b")
    with project.agent():
        (project.work / "d").mkdir()
        (project.work / "b").rename(project.work / "d" / "c")
    write(project, d__c=TEXT + "mine\n")
    assert project.revert(start) == {"d": "delete", "d/c": "rename"}
    assert project.files() == {"a": TEXT + "mine\n"}
    assert not (project.work / "d").exists()


def test_a_renamed_file_keeps_its_inode_and_its_other_names(project: FileHistoryFixture):
    write(project, a=TEXT)
    (project.work / "other").hardlink_to(project.work / "a")
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").rename(project.work / "b")
    inode = (project.work / "b").stat().st_ino
    project.revert(start)
    assert (project.work / "a").stat().st_ino == inode == (project.work / "other").stat().st_ino


def test_a_file_edited_since_the_plan_is_not_renamed(project: FileHistoryFixture):
    write(project, a=TEXT)
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").rename(project.work / "b")
    plan = project.history.plan(start)
    write(project, b="mine\n")
    result, _ = project.history.execute(plan, {"b"}, shown_state=plan.head)
    assert result.failed
    assert project.files() == {"b": "mine\n"}


def test_large_renamed_files_are_not_covered(tmp_path: Path):
    project = FileHistoryFixture(tmp_path, limits=SnapshotLimits(file=3))
    project.history.open()
    write(project, a=TEXT)
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").rename(project.work / "b")
    project.revert(start)
    assert project.files() == {"b": TEXT}
    project.history.close()


def test_a_file_that_the_agent_renamed_and_then_deleted_comes_back_under_its_old_name(
    project: FileHistoryFixture,
):
    write(project, a=TEXT)
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").rename(project.work / "b")
    with project.agent():
        (project.work / "b").unlink()
    project.revert(start)
    assert project.files() == {"a": TEXT}


def test_your_new_file_gets_its_name_back_that_the_agent_changed(project: FileHistoryFixture):
    start = project.checkpoint()
    write(project, a=TEXT)
    with project.agent():
        (project.work / "a").rename(project.work / "b")
    assert project.revert(start) == {"b": "rename"}
    assert project.files() == {"a": TEXT}


def test_a_file_that_you_renamed_and_deleted_can_be_restored_under_its_old_name(project: FileHistoryFixture):
    write(project, a=TEXT)
    start = project.checkpoint()
    (project.work / "a").rename(project.work / "b")
    project.checkpoint()
    (project.work / "b").unlink()
    assert project.revert(start, also=lambda plan: {item.path for item in plan.items}) == {"a": "keep"}
    assert project.files() == {"a": TEXT}


def test_a_folder_that_a_file_replaced_comes_back_after_the_file_was_renamed(project: FileHistoryFixture):
    write(project, b__a=TEXT)
    start = project.checkpoint()
    with project.agent():
        (project.work / "b" / "a").unlink()
        (project.work / "b").rmdir()
        write(project, b="agent\n")
    with project.agent():
        (project.work / "d").mkdir()
        (project.work / "b").rename(project.work / "d" / "a")
    project.revert(start)
    assert project.files() == {"b/a": TEXT}
    assert not (project.work / "d").exists()


def test_the_revert_of_a_swap_of_a_file_and_its_folder_can_be_undone(project: FileHistoryFixture):
    write(project, a="one\n", d__a="two\n", d__b="three\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "d" / "a").rename(project.work / "temporary")
        (project.work / "a").rename(project.work / "d" / "a")
        (project.work / "d").rename(project.work / "a")
        (project.work / "temporary").rename(project.work / "d")
    swapped = project.checkpoint()
    project.revert(start)
    assert project.files() == {"a": "one\n", "d/a": "two\n", "d/b": "three\n"}
    project.revert(swapped)
    assert project.files() == {"a/a": "one\n", "a/b": "three\n", "d": "two\n"}


def test_a_file_with_the_only_copy_of_your_line_is_not_deleted(project: FileHistoryFixture):
    """The agent wrote `b` anew, so that it doesn't look like the old file."""
    write(project, a=TEXT)
    start = project.checkpoint()
    write(project, a=TEXT + "mine\n")
    with project.agent():
        (project.work / "a").unlink()
        write(project, b="agent\n" * 9 + "mine\n")
    write(project, a="another\n")
    assert project.revert(start) == {"a": "conflict", "b": "conflict"}
    assert project.files() == {"a": "another\n", "b": "agent\n" * 9 + "mine\n"}


def test_a_file_with_your_line_is_not_deleted_without_the_one_that_gets_it(project: FileHistoryFixture):
    write(project, a=TEXT)
    start = project.checkpoint()
    write(project, a=TEXT + "mine\n")
    with project.agent():
        (project.work / "a").unlink()
        write(project, b="agent\n" * 9 + "mine\n")
    plan = project.history.plan(start)
    write(project, a="another\n")
    result, _ = project.history.execute(plan, {"a", "b"})
    assert {path for path, _ in result.failed} == {"a", "b"}
    assert project.files() == {"a": "another\n", "b": "agent\n" * 9 + "mine\n"}


def test_your_lines_are_merged_beside_many_files_that_you_changed(
    project: FileHistoryFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("kimi_tui.history.snapshots.planning.others_lines._MAX_COMPARED", 3)
    write(project, a=TEXT)
    start = project.checkpoint()
    write(project, **{f"mine{number}": f"{number}\n" for number in range(5)})
    with project.agent():
        write(project, a="agent\n" + TEXT)
    write(project, a="agent\n" + TEXT + "mine\n")
    assert project.revert(start)["a"] == "merge"
    assert (project.work / "a").read_text() == TEXT + "mine\n"
