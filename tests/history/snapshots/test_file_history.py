"""Going back to an earlier state of the files, as a user sees it."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.caps import Caps
from tests.history.snapshots.place import Place

_NOBODY = 65534


def test_what_the_agent_did_is_taken_back_and_what_you_did_is_kept(place: Place):
    (place.work / "README.md").write_text("readme\n")
    start = place.checkpoint()
    with place.agent():
        (place.work / "a.py").write_text("print(1)\n")
        (place.work / "README.md").write_text("readme\nchanged\n")
        (place.work / "bash.txt").write_text("new\n")
    (place.work / "user.txt").write_text("mine\n")
    with (place.work / "a.py").open("a") as file:
        file.write("print(2)\n")
    actions = place.revert(start)
    assert actions == {"README.md": "restore", "a.py": "conflict", "bash.txt": "delete", "user.txt": "keep"}
    assert place.files() == {"README.md": "readme\n", "a.py": "print(1)\nprint(2)\n", "user.txt": "mine\n"}


def test_your_lines_and_the_agents_are_told_apart_within_a_file(place: Place):
    file = place.work / "f.txt"
    file.write_text("".join(f"{n}\n" for n in range(9)))
    start = place.checkpoint()
    with place.agent():
        file.write_text(file.read_text().replace("1\n", "agent\n"))
    file.write_text(file.read_text().replace("7\n", "you\n"))
    assert place.revert(start) == {"f.txt": "merge"}
    assert file.read_text() == "0\n1\n2\n3\n4\n5\n6\nyou\n8\n"


def test_a_revert_can_be_taken_back_and_done_again(place: Place):
    start = place.checkpoint()
    with place.agent():
        (place.work / "d").mkdir()
        (place.work / "d" / "a").write_text("a\n")
    done = place.checkpoint()
    place.revert(start)
    undone = place.checkpoint()
    assert not (place.work / "d").exists()
    place.revert(done)
    assert place.files() == {"d/a": "a\n"}
    place.revert(undone)
    assert place.files() == {}


def test_a_ticked_conflict_becomes_what_it_was(place: Place):
    file = place.work / "f"
    file.write_text("one\n")
    start = place.checkpoint()
    with place.agent():
        file.write_text("two\n")
    file.write_text("three\n")
    before = place.checkpoint()
    assert place.revert(start) == {"f": "conflict"}
    assert file.read_text() == "three\n"
    place.revert(start, also=lambda plan: {"f"})
    assert file.read_text() == "one\n"
    place.revert(before)
    assert file.read_text() == "three\n"


def test_what_you_wrote_before_the_agent_overwrote_it_comes_back(place: Place):
    file = place.work / "f"
    file.write_text("one\n")
    start = place.checkpoint()
    file.write_text("yours\n")
    with place.agent():
        file.write_text("the agent's\n")
    assert place.revert(start) == {"f": "restore"}
    assert file.read_text() == "yours\n"


def test_modes_links_empty_files_and_folders_come_back(place: Place):
    script, link, empty, folder = (place.work / name for name in ("run.sh", "link", "empty", "hollow"))
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    link.symlink_to("run.sh")
    empty.touch()
    folder.mkdir(mode=0o750)
    start = place.checkpoint()
    with place.agent():
        script.chmod(0o644)
        link.unlink()
        link.symlink_to("/etc/passwd")
        empty.unlink()
        folder.rmdir()
    place.revert(start)
    assert script.stat().st_mode & 0o777 == 0o755
    assert str(link.readlink()) == "run.sh"
    assert empty.read_bytes() == b""
    assert folder.stat().st_mode & 0o777 == 0o750


def test_names_of_any_bytes_come_back(place: Place):
    names = [b"new\nline", b"\xff\xfe", b" ", b"-rf", b"\\", b'quote"']
    start = place.checkpoint()
    with place.agent():
        for name in names:
            Path(os.fsdecode(os.fsencode(place.work) + b"/" + name)).write_text("x")
    full = place.checkpoint()
    place.revert(start)
    assert names_in(place.work) == set()
    place.revert(full)
    assert names_in(place.work) == set(names)


def test_a_file_and_a_folder_that_took_each_others_place_change_back(place: Place):
    (place.work / "x").write_text("file\n")
    (place.work / "y").mkdir()
    (place.work / "y" / "in").write_text("in\n")
    start = place.checkpoint()
    with place.agent():
        (place.work / "x").unlink()
        (place.work / "x").mkdir()
        (place.work / "x" / "deep").write_text("deep\n")
        (place.work / "y" / "in").unlink()
        (place.work / "y").rmdir()
        (place.work / "y").write_text("file now\n")
    swapped = place.checkpoint()
    place.revert(start)
    assert place.files() == {"x": "file\n", "y/in": "in\n"}
    place.revert(swapped)
    assert place.files() == {"x/deep": "deep\n", "y": "file now\n"}


def test_a_folder_of_the_agents_stays_when_something_of_yours_is_in_it(place: Place):
    start = place.checkpoint()
    with place.agent():
        (place.work / "d").mkdir()
        (place.work / "d" / "a").write_text("a\n")
    (place.work / "d" / "mine").write_text("mine\n")
    place.revert(start)
    assert place.files() == {"d/mine": "mine\n"}


def test_a_folder_of_the_agents_stays_when_something_of_yours_comes_back_to_it(place: Place):
    start = place.checkpoint()
    with place.agent():
        (place.work / "d").mkdir()
        (place.work / "d" / "made").write_text("made\n")
    (place.work / "d" / "mine").write_text("mine\n")
    with place.agent():
        (place.work / "d" / "mine").unlink()
    assert place.revert(start) == {"d/made": "delete", "d/mine": "recreate"}
    assert place.files() == {"d/mine": "mine\n"}


def test_a_folder_that_stays_for_what_is_not_covered_in_it_is_not_said_to_be_gone(place: Place):
    start = place.checkpoint()
    with place.agent():
        (place.work / "d").mkdir()
        (place.work / "d" / "a").write_text("a\n")
        (place.work / "d" / ".git").mkdir()
        (place.work / "d" / ".git" / "HEAD").write_text("main\n")
        (place.work / "e").mkdir()
    plan = place.history.plan(start)
    outcome, _ = place.history.execute(plan, {item.path for item in plan.items})
    assert outcome.done == ("d/a", "e")
    assert outcome.failed == ()
    assert place.files() == {"d/.git/HEAD": "main\n"}


def test_a_file_where_the_agent_made_a_folder_waits_while_something_of_yours_is_in_it(place: Place):
    (place.work / "x").write_text("file\n")
    start = place.checkpoint()
    with place.agent():
        (place.work / "x").unlink()
        (place.work / "x").mkdir()
    (place.work / "x" / "mine").write_text("mine\n")
    assert place.revert(start)["x"] == "conflict"
    assert place.files() == {"x/mine": "mine\n"}


def test_a_rename_that_changes_only_the_case_is_taken_back(place: Place):
    (place.work / "Name").write_text("n\n")
    start = place.checkpoint()
    with place.agent():
        (place.work / "Name").rename(place.work / "name")
    place.revert(start)
    assert names_in(place.work) == {b"Name"}


def test_a_file_that_is_too_large_is_named_and_left(tmp_path: Path):
    place = Place(tmp_path, caps=Caps(file=10))
    place.history.open()
    (place.work / "large").write_text("x" * 11)
    start = place.checkpoint()
    assert place.history.not_covered == {"large": "it is too large"}
    with place.agent():
        (place.work / "large").write_text("y" * 11)
    plan = place.history.plan(start)
    assert [(item.path, item.action, item.note) for item in plan.items] == [
        ("large", "not covered", "it is too large")
    ]
    place.revert(start, also=lambda plan: {"large"})
    assert (place.work / "large").read_text() == "y" * 11


@pytest.fixture
def ours() -> Iterator[Path]:
    """A folder of somebody whom permissions hold for, as whom the test runs."""
    with tempfile.TemporaryDirectory(prefix="kimi-tui-ours-") as folder:
        was_root = os.geteuid() == 0
        if was_root:
            os.chown(folder, _NOBODY, _NOBODY)
            os.seteuid(_NOBODY)
        try:
            yield Path(folder)
        finally:
            if was_root:
                os.seteuid(0)


def test_a_pipe_and_a_folder_that_cannot_be_read_are_named(ours: Path):
    place = Place(ours)
    place.history.open()
    os.mkfifo(place.work / "pipe")
    (place.work / "closed").mkdir()
    (place.work / "closed" / "f").write_text("f\n")
    (place.work / "open").write_text("one\n")
    start = place.checkpoint()
    assert place.history.not_covered == {"pipe": "it is no regular file"}
    with place.agent():
        (place.work / "closed").chmod(0)
        (place.work / "open").write_text("two\n")
    assert place.history.not_covered == {
        "pipe": "it is no regular file", "closed": "the folder: Permission denied",
    }  # fmt: skip
    assert place.revert(start) == {"closed": "restore", "open": "restore"}
    assert place.files() == {"closed/f": "f\n", "open": "one\n"}
    place.checkpoint()
    assert place.history.not_covered == {"pipe": "it is no regular file"}


def test_what_is_ignored_is_not_covered_and_never_deleted(place: Place):
    (place.work / ".git").mkdir()
    (place.work / ".gitignore").write_text("secret.env\nbuild/\n")
    (place.work / "secret.env").write_text("KEY=1\n")
    (place.work / "build").mkdir()
    (place.work / "build" / "out").write_text("out\n")
    start = place.checkpoint()
    with place.agent():
        (place.work / ".gitignore").write_text("nothing\n")
        (place.work / ".git" / "index").write_text("changed\n")
    place.revert(start)
    assert place.files() == {
        ".git/index": "changed\n",
        ".gitignore": "secret.env\nbuild/\n",
        "build/out": "out\n",
        "secret.env": "KEY=1\n",
    }


def test_a_folder_that_ignored_files_lie_in_is_no_part_of_a_plan_until_they_are_gone(place: Place):
    (place.work / ".git").mkdir()
    (place.work / ".gitignore").write_text("*.o\n")
    start = place.checkpoint()
    with place.agent("make"):
        (place.work / "build" / "deep").mkdir(parents=True)
        (place.work / "build" / "deep" / "a.o").write_text("object")
        (place.work / "build" / "log").write_text("log")
        (place.work / "empty").mkdir()
    assert place.revert(start) == {"build/log": "delete", "empty": "delete"}
    assert place.history.plan(start).items == ()
    (place.work / "build" / "deep" / "a.o").unlink()
    assert place.revert(start) == {"build": "delete", "build/deep": "delete"}
    assert not (place.work / "build").exists()


def test_what_comes_to_be_ignored_is_left_alone(place: Place):
    (place.work / ".git").mkdir()
    (place.work / "f").write_text("f\n")
    start = place.checkpoint()
    with place.agent():
        (place.work / "f").write_text("g\n")
    with place.agent():
        (place.work / ".gitignore").write_text("f\n")
    assert place.revert(start) == {".gitignore": "delete", "f": "not covered"}
    assert place.files() == {"f": "g\n"}


def test_a_path_whose_parent_became_a_link_is_refused_by_name(place: Place, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (place.work / "d").mkdir()
    (place.work / "d" / "f").write_text("f\n")
    start = place.checkpoint()
    with place.agent():
        (place.work / "d" / "f").unlink()
    plan = place.history.plan(start)
    (place.work / "d").rmdir()
    (place.work / "d").symlink_to(outside)
    outcome, _ = place.history.execute(plan, {"d/f"})
    assert outcome.failed == (("d/f", "d is no folder any more"),)
    assert names_in(outside) == set()


def test_what_changed_after_the_preview_is_left_as_it_is(place: Place):
    file = place.work / "f"
    file.write_text("one\n")
    start = place.checkpoint()
    with place.agent():
        file.write_text("two\n")
    plan = place.history.plan(start)
    file.write_text("just now\n")
    outcome, _ = place.history.execute(plan, {"f"})
    assert outcome.failed == (("f", "it changed meanwhile"),)
    assert file.read_text() == "just now\n"


def test_a_change_that_keeps_size_and_mtime_is_seen(place: Place):
    file = place.work / "f"
    file.write_text("aaa")
    start = place.checkpoint()
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    with place.agent():
        file.write_text("bbb")
        os.utime(file, ns=times)
    place.revert(start)
    assert file.read_text() == "aaa"


def test_another_session_goes_on_from_the_last_ones_knowledge(place: Place, tmp_path: Path):
    (place.work / "f").write_text("f\n")
    start = place.checkpoint()
    with place.agent("make things"):
        (place.work / "f").write_text("g\n")
    place.history.close()
    (place.work / "mine").write_text("mine\n")
    again = Place(tmp_path)
    again.history.open([start])
    plan = again.history.plan(start)
    assert plan.commands == ("make things",)
    assert again.revert(start) == {"f": "restore", "mine": "keep"}
    assert again.files() == {"f": "f\n", "mine": "mine\n"}


def test_what_another_session_did_counts_as_not_the_agents(place: Place, tmp_path: Path):
    start = place.checkpoint()
    other = Place(tmp_path, session="two")
    other.history.open()
    with other.agent():
        (place.work / "theirs").write_text("x\n")
    assert place.revert(start) == {"theirs": "keep"}


def test_another_sessions_changes_are_told_from_yours(place: Place, tmp_path: Path):
    start = place.checkpoint()
    other = Place(tmp_path, session="two")
    other.history.open()
    with place.agent():
        (place.work / "shared").write_text("one\n")
    with other.agent():
        (place.work / "theirs").write_text("x\n")
        (place.work / "shared").write_text("one\ntwo\n")
    (place.work / "yours").write_text("y\n")
    told = {item.path: (item.action, item.by, item.note) for item in place.history.plan(start).items}
    assert told == {
        "shared": (
            "conflict", "agent and another session", "the agent made it and another session edited it"
        ),
        "theirs": ("keep", "another session", "only another session changed it"),
        "yours": ("keep", "you", "only you changed it"),
    }  # fmt: skip
    by = {item.path: item.by for item in place.history.difference(start, place.checkpoint())}
    assert by == {"shared": "agent and another session", "theirs": "another session", "yours": "you"}


def test_what_a_forks_origin_does_after_they_parted_is_not_yours(place: Place, tmp_path: Path):
    with place.agent():
        (place.work / "both").write_text("before\n")
    parted = place.checkpoint()
    fork = Place(tmp_path, session="two")
    fork.history.open([parted])
    with place.agent():
        (place.work / "origins").write_text("x\n")
        (place.work / "both").write_text("after\n")
    (place.work / "yours").write_text("y\n")
    told = {item.path: (item.action, item.by, item.note) for item in fork.history.plan(parted).items}
    assert told == {
        "both": ("keep", "another session", "only another session changed it"),
        "origins": ("keep", "another session", "only another session changed it"),
        "yours": ("keep", "you", "only you changed it"),
    }


def test_only_named_files_are_covered_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path / "work"))
    place = Place(tmp_path)
    (place.work / "private").write_text("x" * 100)
    place.history.open()
    assert place.history.named_only == "it is the home folder"
    place.history.capture(paths=["new.txt"])
    start = place.checkpoint()
    (place.work / "new.txt").write_text("new\n")
    place.history.capture(place.call(), paths=["new.txt"])
    assert place.revert(start) == {"new.txt": "delete"}
    assert place.files() == {"private": "x" * 100}


def names_in(folder: Path) -> set[bytes]:
    return {os.fsencode(path.name) for path in folder.iterdir()}
