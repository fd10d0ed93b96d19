"""Reverting files, from the user's perspective."""

import os
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.limits import SnapshotLimits
from tests.history.snapshots.file_history_fixture import FileHistoryFixture


def test_the_agents_changes_are_reverted_and_yours_are_kept(project: FileHistoryFixture):
    (project.work / "README.md").write_text("readme\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "a.py").write_text("print(1)\n")
        (project.work / "README.md").write_text("readme\nchanged\n")
        (project.work / "bash.txt").write_text("new\n")
    (project.work / "user.txt").write_text("mine\n")
    with (project.work / "a.py").open("a") as file:
        file.write("print(2)\n")
    actions = project.revert(start)
    assert actions == {"README.md": "restore", "a.py": "merge", "bash.txt": "delete", "user.txt": "keep"}
    assert project.files() == {"README.md": "readme\n", "a.py": "print(2)\n", "user.txt": "mine\n"}


def test_your_lines_are_kept_in_a_file_that_the_agent_changed(project: FileHistoryFixture):
    file = project.work / "f.txt"
    file.write_text("".join(f"{n}\n" for n in range(9)))
    start = project.checkpoint()
    with project.agent():
        file.write_text(file.read_text().replace("1\n", "agent\n"))
    file.write_text(file.read_text().replace("7\n", "you\n"))
    assert project.revert(start) == {"f.txt": "merge"}
    assert file.read_text() == "0\n1\n2\n3\n4\n5\n6\nyou\n8\n"


def test_a_revert_can_be_undone_and_redone(project: FileHistoryFixture):
    start = project.checkpoint()
    with project.agent():
        (project.work / "d").mkdir()
        (project.work / "d" / "a").write_text("a\n")
    done = project.checkpoint()
    project.revert(start)
    undone = project.checkpoint()
    assert not (project.work / "d").exists()
    project.revert(done)
    assert project.files() == {"d/a": "a\n"}
    project.revert(undone)
    assert project.files() == {}


def test_a_selected_conflict_is_restored(project: FileHistoryFixture):
    file = project.work / "f"
    file.write_text("one\n")
    start = project.checkpoint()
    with project.agent():
        file.write_text("two\n")
    file.write_text("three\n")
    before = project.checkpoint()
    assert project.revert(start) == {"f": "conflict"}
    assert file.read_text() == "three\n"
    project.revert(start, also=lambda plan: {"f"})
    assert file.read_text() == "one\n"
    project.revert(before)
    assert file.read_text() == "three\n"


def test_your_content_that_the_agent_overwrote_is_restored(project: FileHistoryFixture):
    file = project.work / "f"
    file.write_text("one\n")
    start = project.checkpoint()
    file.write_text("yours\n")
    with project.agent():
        file.write_text("the agent's\n")
    assert project.revert(start) == {"f": "restore"}
    assert file.read_text() == "yours\n"


def test_modes_links_empty_files_and_directories_are_restored(project: FileHistoryFixture):
    script, link, empty, folder = (project.work / name for name in ("run.sh", "link", "empty", "hollow"))
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    link.symlink_to("run.sh")
    empty.touch()
    folder.mkdir(mode=0o750)
    start = project.checkpoint()
    with project.agent():
        script.chmod(0o644)
        link.unlink()
        link.symlink_to("/etc/passwd")
        empty.unlink()
        folder.rmdir()
    project.revert(start)
    assert script.stat().st_mode & 0o777 == 0o755
    assert str(link.readlink()) == "run.sh"
    assert empty.read_bytes() == b""
    assert folder.stat().st_mode & 0o777 == 0o750


def test_file_names_of_any_bytes_are_restored(project: FileHistoryFixture):
    names = [b"new\nline", b"\xff\xfe", b" ", b"-rf", b"\\", b'quote"']
    start = project.checkpoint()
    with project.agent():
        for name in names:
            Path(os.fsdecode(os.fsencode(project.work) + b"/" + name)).write_text("x")
    full = project.checkpoint()
    project.revert(start)
    assert file_names(project.work) == set()
    project.revert(full)
    assert file_names(project.work) == set(names)


def test_a_file_and_a_directory_that_were_swapped_are_restored(project: FileHistoryFixture):
    (project.work / "x").write_text("file\n")
    (project.work / "y").mkdir()
    (project.work / "y" / "in").write_text("in\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "x").unlink()
        (project.work / "x").mkdir()
        (project.work / "x" / "deep").write_text("deep\n")
        (project.work / "y" / "in").unlink()
        (project.work / "y").rmdir()
        (project.work / "y").write_text("file now\n")
    swapped = project.checkpoint()
    project.revert(start)
    assert project.files() == {"x": "file\n", "y/in": "in\n"}
    project.revert(swapped)
    assert project.files() == {"x/deep": "deep\n", "y": "file now\n"}


def test_a_directory_created_by_the_agent_stays_if_it_contains_your_file(project: FileHistoryFixture):
    start = project.checkpoint()
    with project.agent():
        (project.work / "d").mkdir()
        (project.work / "d" / "a").write_text("a\n")
    (project.work / "d" / "mine").write_text("mine\n")
    project.revert(start)
    assert project.files() == {"d/mine": "mine\n"}


def test_a_directory_created_by_the_agent_stays_if_your_file_in_it_is_restored(project: FileHistoryFixture):
    start = project.checkpoint()
    with project.agent():
        (project.work / "d").mkdir()
        (project.work / "d" / "made").write_text("made\n")
    (project.work / "d" / "mine").write_text("mine\n")
    with project.agent():
        (project.work / "d" / "mine").unlink()
    assert project.revert(start) == {"d/made": "delete", "d/mine": "recreate"}
    assert project.files() == {"d/mine": "mine\n"}


def test_a_directory_with_uncovered_files_is_not_reported_as_deleted(project: FileHistoryFixture):
    start = project.checkpoint()
    with project.agent():
        (project.work / "d").mkdir()
        (project.work / "d" / "a").write_text("a\n")
        (project.work / "d" / ".git").mkdir()
        (project.work / "d" / ".git" / "HEAD").write_text("main\n")
        (project.work / "e").mkdir()
    plan = project.history.plan(start)
    outcome, _ = project.history.execute(plan, {item.path for item in plan.items})
    assert outcome.done == ("d/a", "e")
    assert outcome.failed == ()
    assert project.files() == {"d/.git/HEAD": "main\n"}


def test_a_file_conflicts_with_a_directory_that_contains_your_file(
    project: FileHistoryFixture,
):
    (project.work / "x").write_text("file\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "x").unlink()
        (project.work / "x").mkdir()
    (project.work / "x" / "mine").write_text("mine\n")
    assert project.revert(start)["x"] == "conflict"
    assert project.files() == {"x/mine": "mine\n"}


def test_a_rename_that_changes_only_the_case_is_reverted(project: FileHistoryFixture):
    (project.work / "Name").write_text("n\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "Name").rename(project.work / "name")
    project.revert(start)
    assert file_names(project.work) == {b"Name"}


def test_a_file_that_is_too_large_is_reported_and_not_changed(tmp_path: Path):
    project = FileHistoryFixture(tmp_path, limits=SnapshotLimits(file=10))
    project.history.open()
    (project.work / "large").write_text("x" * 11)
    start = project.checkpoint()
    assert project.history.not_covered == {"large": "too large"}
    with project.agent():
        (project.work / "large").write_text("y" * 11)
    plan = project.history.plan(start)
    assert [(item.path, item.action, item.note) for item in plan.items] == [
        ("large", "not covered", "too large")
    ]
    project.revert(start, also=lambda plan: {"large"})
    assert (project.work / "large").read_text() == "y" * 11


def test_a_renamed_file_is_kept_if_you_have_taken_its_old_name(project: FileHistoryFixture):
    (project.work / "a").write_text("mine\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").rename(project.work / "b")
    (project.work / "a").write_text("new\n")
    items = {item.path: (item.action, item.note) for item in project.history.plan(start).items}
    assert items["b"] == ("conflict", "the agent moved a here, and that file isn't restored")
    project.revert(start)
    assert project.files() == {"a": "new\n", "b": "mine\n"}


def test_a_renamed_file_is_moved_back(project: FileHistoryFixture):
    (project.work / "a").write_text("mine\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").rename(project.work / "b")
    assert project.revert(start) == {"b": "rename"}
    assert project.files() == {"a": "mine\n"}


def test_a_renamed_file_is_kept_if_your_file_blocks_its_old_directory(project: FileHistoryFixture):
    (project.work / "src").mkdir()
    (project.work / "src" / "a").write_text("mine\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "src" / "a").rename(project.work / "b")
        (project.work / "src").rmdir()
    (project.work / "src").write_text("new\n")
    project.revert(start)
    assert project.files() == {"src": "new\n", "b": "mine\n"}


def test_a_file_is_deleted_again_after_a_revert_and_an_undo(project: FileHistoryFixture):
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").write_text("agent\n")
    end = project.history.plan(start).head
    for _ in range(2):
        assert project.revert(start) == {"a": "delete"}
        assert project.revert(end) == {"a": "recreate"}


def test_files_that_the_agent_copied_or_renamed_itself_are_deleted(project: FileHistoryFixture):
    (project.work / "a").write_text("1\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").write_text("2\n")
        (project.work / "a.bak").write_text("2\n")
        (project.work / "new").write_text("new\n")
    with project.agent():
        (project.work / "a").write_text("3\n")
        (project.work / "new").rename(project.work / "renamed")
    assert project.revert(start) == {"a": "restore", "a.bak": "delete", "renamed": "delete"}
    assert project.files() == {"a": "1\n"}


def test_a_large_file_that_only_you_changed_is_selected_with_a_warning(tmp_path: Path):
    project = FileHistoryFixture(tmp_path, limits=SnapshotLimits(file=10))
    (project.work / "notes").write_text("short\n")
    project.history.open()
    start = project.checkpoint()
    (project.work / "notes").write_text("longer than the limit\n")
    [item] = project.history.plan(start).items
    assert (item.action, item.by) == ("keep", "you")
    assert item.note.startswith("its current content can't be stored (")


def test_a_pipe_and_an_unreadable_directory_are_reported(unprivileged_dir: Path):
    project = FileHistoryFixture(unprivileged_dir)
    project.history.open()
    os.mkfifo(project.work / "pipe")
    (project.work / "closed").mkdir()
    (project.work / "closed" / "f").write_text("f\n")
    (project.work / "open").write_text("one\n")
    start = project.checkpoint()
    assert project.history.not_covered == {"pipe": "not a regular file"}
    with project.agent():
        (project.work / "closed").chmod(0)
        (project.work / "open").write_text("two\n")
    assert project.history.not_covered == {
        "pipe": "not a regular file", "closed": "directory: Permission denied",
    }  # fmt: skip
    assert project.revert(start) == {"closed": "restore", "open": "restore"}
    assert project.files() == {"closed/f": "f\n", "open": "one\n"}
    project.checkpoint()
    assert project.history.not_covered == {"pipe": "not a regular file"}


def test_ignored_files_are_not_covered_and_never_deleted(project: FileHistoryFixture):
    (project.work / ".git").mkdir()
    (project.work / ".gitignore").write_text("secret.env\nbuild/\n")
    (project.work / "secret.env").write_text("KEY=1\n")
    (project.work / "build").mkdir()
    (project.work / "build" / "out").write_text("out\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / ".gitignore").write_text("nothing\n")
        (project.work / ".git" / "index").write_text("changed\n")
    project.revert(start)
    assert project.files() == {
        ".git/index": "changed\n",
        ".gitignore": "secret.env\nbuild/\n",
        "build/out": "out\n",
        "secret.env": "KEY=1\n",
    }


def test_a_directory_is_in_a_plan_only_without_ignored_files(
    project: FileHistoryFixture,
):
    (project.work / ".git").mkdir()
    (project.work / ".gitignore").write_text("*.o\n")
    start = project.checkpoint()
    with project.agent("make"):
        (project.work / "build" / "deep").mkdir(parents=True)
        (project.work / "build" / "deep" / "a.o").write_text("object")
        (project.work / "build" / "log").write_text("log")
        (project.work / "empty").mkdir()
    assert project.revert(start) == {"build/log": "delete", "empty": "delete"}
    assert project.history.plan(start).items == ()
    (project.work / "build" / "deep" / "a.o").unlink()
    assert project.revert(start) == {"build": "delete", "build/deep": "delete"}
    assert not (project.work / "build").exists()


def test_a_file_that_becomes_ignored_is_still_restored(project: FileHistoryFixture):
    (project.work / ".git").mkdir()
    (project.work / "f").write_text("f\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "f").write_text("g\n")
    with project.agent():
        (project.work / ".gitignore").write_text("f\n")
    assert project.revert(start) == {".gitignore": "delete", "f": "restore"}
    assert project.files() == {"f": "f\n"}


def test_a_path_whose_parent_became_a_link_is_rejected(project: FileHistoryFixture, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (project.work / "d").mkdir()
    (project.work / "d" / "f").write_text("f\n")
    start = project.checkpoint()
    with project.agent():
        (project.work / "d" / "f").unlink()
    plan = project.history.plan(start)
    (project.work / "d").rmdir()
    (project.work / "d").symlink_to(outside)
    outcome, _ = project.history.execute(plan, {"d/f"})
    assert outcome.failed == (("d/f", "d is no longer a directory"),)
    assert file_names(outside) == set()


def test_a_file_changed_after_the_preview_is_not_touched(project: FileHistoryFixture):
    file = project.work / "f"
    file.write_text("one\n")
    start = project.checkpoint()
    with project.agent():
        file.write_text("two\n")
    plan = project.history.plan(start)
    file.write_text("just now\n")
    outcome, _ = project.history.execute(plan, {"f"})
    assert outcome.failed == (("f", "changed in the meantime"),)
    assert file.read_text() == "just now\n"


def test_a_change_that_keeps_size_and_mtime_is_detected(project: FileHistoryFixture):
    file = project.work / "f"
    file.write_text("aaa")
    start = project.checkpoint()
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    with project.agent():
        file.write_text("bbb")
        os.utime(file, ns=times)
    project.revert(start)
    assert file.read_text() == "aaa"


def test_a_reopened_history_continues_from_the_last_state(project: FileHistoryFixture, tmp_path: Path):
    (project.work / "f").write_text("f\n")
    start = project.checkpoint()
    with project.agent("make things"):
        (project.work / "f").write_text("g\n")
    project.history.close()
    (project.work / "mine").write_text("mine\n")
    reopened = FileHistoryFixture(tmp_path)
    reopened.history.open([start])
    plan = reopened.history.plan(start)
    assert plan.commands == ("make things",)
    assert reopened.revert(start) == {"f": "restore", "mine": "keep"}
    assert reopened.files() == {"f": "f\n", "mine": "mine\n"}


def test_changes_of_another_session_are_not_the_agents(project: FileHistoryFixture, tmp_path: Path):
    start = project.checkpoint()
    other = FileHistoryFixture(tmp_path, session="two")
    other.history.open()
    with other.agent():
        (project.work / "theirs").write_text("x\n")
    assert project.revert(start) == {"theirs": "keep"}


def test_changes_of_another_session_are_not_yours(project: FileHistoryFixture, tmp_path: Path):
    start = project.checkpoint()
    other = FileHistoryFixture(tmp_path, session="two")
    other.history.open()
    with project.agent():
        (project.work / "shared").write_text("one\n")
    with other.agent():
        (project.work / "theirs").write_text("x\n")
        (project.work / "shared").write_text("one\ntwo\n")
    (project.work / "yours").write_text("y\n")
    changes = {item.path: (item.action, item.by, item.note) for item in project.history.plan(start).items}
    assert changes == {
        "shared": (
            "merge", "agent and another session", "created by the agent, edited by another session"
        ),
        "theirs": ("keep", "another session", "changed only by another session"),
        "yours": ("keep", "you", "changed only by you"),
    }  # fmt: skip
    by = {item.path: item.by for item in project.history.difference(start, project.checkpoint())}
    assert by == {"shared": "agent and another session", "theirs": "another session", "yours": "you"}


def test_changes_of_a_forks_origin_after_the_fork_are_not_yours(project: FileHistoryFixture, tmp_path: Path):
    with project.agent():
        (project.work / "both").write_text("before\n")
    fork_state = project.checkpoint()
    fork = FileHistoryFixture(tmp_path, session="two")
    fork.history.open([fork_state])
    with project.agent():
        (project.work / "origins").write_text("x\n")
        (project.work / "both").write_text("after\n")
    (project.work / "yours").write_text("y\n")
    changes = {item.path: (item.action, item.by, item.note) for item in fork.history.plan(fork_state).items}
    assert changes == {
        "both": ("keep", "another session", "changed only by another session"),
        "origins": ("keep", "another session", "changed only by another session"),
        "yours": ("keep", "you", "changed only by you"),
    }


def test_only_named_files_are_covered_in_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path / "work"))
    project = FileHistoryFixture(tmp_path)
    (project.work / "private").write_text("x" * 100)
    project.history.open()
    assert project.history.partial_coverage_reason == "the working directory is your home directory"
    project.history.capture(paths=["new.txt"])
    start = project.checkpoint()
    (project.work / "new.txt").write_text("new\n")
    project.history.capture(project.call(), paths=["new.txt"])
    assert project.revert(start) == {"new.txt": "delete"}
    assert project.files() == {"private": "x" * 100}


def file_names(folder: Path) -> set[bytes]:
    return {os.fsencode(path.name) for path in folder.iterdir()}
