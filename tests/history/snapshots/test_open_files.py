"""Files that another program has open, that have several names, or that need more than their content."""

import errno
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kimi_tui.history.snapshots import open_files
from kimi_tui.history.snapshots.open_files import OpenFiles, find_open_files
from kimi_tui.history.snapshots.partial_overwrite import is_partly_overwritten
from kimi_tui.history.snapshots.work_filesystem import LocalWorkFileSystem
from tests.history.snapshots.file_history_fixture import FileHistoryFixture
from tests.history.snapshots.test_crash import FaultyFileSystem, Killed

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")

APPENDER = """
import sys
with open(sys.argv[1], "a", buffering=1) as log:
    print("open", flush=True)
    for line in sys.stdin:
        log.write(line)
        print("written", flush=True)
"""
DATABASE_CLIENT = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("pragma journal_mode=wal")
print(connection.execute("select count(*) from t").fetchone()[0], flush=True)
for line in sys.stdin:
    try:
        connection.execute(line)
        print(connection.execute("select group_concat(x, ' ') from t").fetchone()[0], flush=True)
    except sqlite3.Error as error:
        print(error, flush=True)
"""


class OtherProgram:
    """A program that answers each line with a line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    def read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def ask(self, line: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self.read()


@contextmanager
def other_program(code: str, path: Path) -> Iterator[OtherProgram]:
    """Run a program that has `path` open."""
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        program = OtherProgram(process)
        program.read()
        yield program
        assert process.stdin is not None
        process.stdin.close()


@needs_proc
def test_a_program_that_appends_to_a_reverted_file_loses_nothing(project: FileHistoryFixture) -> None:
    log = project.work / "log"
    log.write_text("one\n")
    start = project.checkpoint()
    with other_program(APPENDER, log) as program:
        with project.agent("echo two >> log"), log.open("a") as file:
            file.write("two\n")
        item = project.history.plan(start).items[0]
        assert (item.action, item.note.startswith("open in python")) == ("restore", True)
        assert item.note.endswith(f"({program.pid}), so it is overwritten in place")
        project.revert(start)
        assert log.read_text() == "one\n"
        program.ask("three")
        assert log.read_text() == "one\nthree\n"


@needs_proc
def test_an_open_database_stays_writable_after_a_revert_and_its_undo(project: FileHistoryFixture) -> None:
    database = project.work / "app.db"
    with sqlite3.connect(database) as connection:
        connection.execute("create table t (x)")
    connection.close()
    with other_program(DATABASE_CLIENT, database) as program:
        assert program.ask("insert into t values ('user')") == "user"
        start = project.checkpoint()
        with project.agent("sqlite3 app.db …"), sqlite3.connect(database) as agent:
            agent.execute("insert into t values ('agent')")
            agent.commit()
        assert program.ask("insert into t values ('user')") == "user agent user"
        with project.agent():
            pass
        plan = project.history.plan(start)
        actions = {item.path: item.action for item in plan.items}
        assert "app.db-wal" in actions
        state = plan.head
        project.revert(start, also=lambda plan: {item.path for item in plan.items})
        assert program.ask("insert into t values ('after')") == "user after"
        project.revert(state, also=lambda plan: {item.path for item in plan.items})
        assert program.ask("insert into t values ('undone')") == "user agent user undone"
    with sqlite3.connect(database) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    connection.close()


@needs_proc
def test_a_file_that_a_program_has_open_is_deleted_only_if_selected(project: FileHistoryFixture) -> None:
    start = project.checkpoint()
    log = project.work / "logs" / "server.log"
    with project.agent("mkdir logs; touch logs/server.log logs/other"):
        log.parent.mkdir()
        log.write_text("by the agent\n")
        (log.parent / "other").write_text("")
    with other_program(APPENDER, log):
        plan = project.history.plan(start)
        assert [(item.path, item.action) for item in plan.items] == [
            ("logs/other", "delete"),
            ("logs/server.log", "conflict"),
        ]
        assert "that program may still write to it" in plan.items[1].note
        project.revert(start)
        assert log.exists()
        project.revert(start, also=lambda plan: {"logs/server.log"})
        assert not log.exists()


def test_the_names_of_a_file_stay_linked(project: FileHistoryFixture) -> None:
    work = project.work
    (work / "a").write_text("one\n")
    os.link(work / "a", work / "b")
    start = project.checkpoint()
    with project.agent("echo two >> a"), (work / "a").open("a") as file:
        file.write("two\n")
    assert project.revert(start) == {"a": "restore", "b": "restore"}
    assert project.files() == {"a": "one\n", "b": "one\n"}
    assert (work / "a").samefile(work / "b")


def test_a_name_that_is_reverted_alone_is_separated_and_the_plan_says_so(
    project: FileHistoryFixture, tmp_path: Path
) -> None:
    file = project.work / "a"
    file.write_text("one\n")
    start = project.checkpoint()
    with project.agent("echo two >> a; ln a ../outside"):
        file.write_text("two\n")
        os.link(file, tmp_path / "outside")
    assert [item.note for item in project.history.plan(start).items] == ["not kept: hard link"]
    project.revert(start)
    assert (file.read_text(), (tmp_path / "outside").read_text()) == ("one\n", "two\n")


def test_files_that_the_agent_linked_become_separate_again(project: FileHistoryFixture) -> None:
    (project.work / "a").write_text("one\n")
    (project.work / "b").write_text("two\n")
    start = project.checkpoint()
    with project.agent("echo three > a; ln -f a b"):
        (project.work / "a").write_text("three\n")
        (project.work / "b").unlink()
        os.link(project.work / "a", project.work / "b")
    project.revert(start)
    assert project.files() == {"a": "one\n", "b": "two\n"}


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="needs extended attributes")
@pytest.mark.parametrize("mode", [0o640, 0o444])
def test_extended_attributes_stay(project: FileHistoryFixture, mode: int) -> None:
    file = project.work / "a"
    file.write_text("one\n")
    file.chmod(mode)
    try:
        os.setxattr(file, "user.note", b"mine")
    except OSError as error:
        pytest.skip(f"the file system has no extended attributes: {error}")
    start = project.checkpoint()
    with project.agent("chmod 600 a; echo two > a"):
        file.chmod(0o600)
        file.write_text("two\n")
    project.revert(start)
    assert file.read_text() == "one\n"
    assert file.stat().st_mode & 0o777 == mode
    assert os.getxattr(file, "user.note") == b"mine"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the owner of a file")
def test_the_owner_of_a_file_stays(project: FileHistoryFixture) -> None:
    file = project.work / "a"
    file.write_text("one\n")
    os.chown(file, 65534, 65534)
    start = project.checkpoint()
    with project.agent("echo two > a"):
        file.write_text("two\n")
    project.revert(start)
    assert (file.read_text(), file.stat().st_uid) == ("one\n", 65534)


def test_without_a_list_of_open_files_the_plan_has_a_warning(
    project: FileHistoryFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "find_open_files", lambda _: OpenFiles(is_complete=False))
    monkeypatch.setattr(
        "kimi_tui.history.snapshots.overwrite_choice.find_open_files", lambda _: OpenFiles(is_complete=False)
    )
    (project.work / "a").write_text("one\n")
    start = project.checkpoint()
    assert project.history.plan(start).remarks == ()
    with project.agent():
        (project.work / "a").write_text("two\n")
    assert "Close such programs first" in project.history.plan(start).remarks[0]


def test_open_files_are_unknown_without_proc(tmp_path: Path) -> None:
    assert not find_open_files({(1, 1): "name"}, proc=tmp_path).is_complete


@pytest.mark.parametrize(("old", "new"), [("o" * 9000, "n" * 5000), ("o" * 5000, "n" * 9000), ("", "nnn")])
def test_a_partly_overwritten_file_is_recognized(old: str, new: str) -> None:
    for done in {0, 1, 4095, 4096, 5000, len(new)}:
        mixed = new[:done] + old[done:]
        assert is_partly_overwritten(mixed.encode(), old.encode(), new.encode())
        assert not is_partly_overwritten(f"{mixed}user".encode(), old.encode(), new.encode()) or not old
    assert not is_partly_overwritten(b"", b"old", b"new")
    assert not is_partly_overwritten(b"x" * len(old), b"o" * 10, b"n" * 10)


@pytest.mark.parametrize("fault", [Killed, OSError])
def test_an_overwrite_that_is_interrupted_at_any_call_is_completed_or_undone(
    fault: type[BaseException], tmp_path: Path
) -> None:
    at = 0
    is_done = False
    contents = set()
    while not is_done:
        at += 1
        folder = tmp_path / f"at-{at}"
        folder.mkdir()
        fs = FaultyFileSystem(fault)
        project = FileHistoryFixture(folder, fs=fs, work_fs=fs.work_fs)
        project.history.open()
        file = project.work / "a"
        file.write_text("old\n" * 3000)
        os.link(file, project.work / "b")
        start = project.checkpoint()
        with project.agent():
            file.write_text("new\n" * 5000)
        plan = project.history.plan(start)
        fs.at = last = fs.calls + at
        try:
            project.history.execute(plan, {"a", "b"})
            is_done = fs.calls < last
        except (Killed, OSError):
            pass
        project.store.close()
        contents.add(file.read_text())
        reopened = FileHistoryFixture(folder)
        reopened.history.open()
        assert (reopened.work / "a").samefile(reopened.work / "b")
        assert file.read_text() in {"old\n" * 3000, "new\n" * 5000}
        reopened.history.close()
    assert len(contents) == 3


class OneFailure(LocalWorkFileSystem):
    """Writes a part of the first data, and then fails once."""

    def __init__(self) -> None:
        self.has_failed = False

    def write(self, file: int, data: memoryview) -> int:
        if not self.has_failed:
            self.has_failed = True
            super().write(file, data[: len(data) // 2])
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().write(file, data)


def test_a_file_that_cannot_be_overwritten_keeps_its_content(tmp_path: Path) -> None:
    project = FileHistoryFixture(tmp_path, work_fs=OneFailure())
    project.history.open()
    file = project.work / "a"
    file.write_text("old\n" * 300)
    os.link(file, project.work / "b")
    start = project.checkpoint()
    with project.agent():
        file.write_text("new\n" * 500)
    result, _ = project.history.execute(project.history.plan(start), {"a", "b"})
    assert dict(result.failed) == {"a": os.strerror(errno.EIO), "b": "changed in the meantime"}
    assert file.samefile(project.work / "b")
    assert file.read_text() == "new\n" * 500


def test_a_tool_that_writes_a_file_changes_its_other_names_too(project: FileHistoryFixture) -> None:
    file = project.work / "a"
    file.write_text("old\n")
    (project.work / "b").hardlink_to(file)
    start = project.checkpoint()
    project.history.capture(paths=["a"])
    file.write_text("new\n")
    project.history.capture(project.call(), paths=["a"])
    assert {item.path: (item.action, item.by) for item in project.history.plan(start).items} == {
        "a": ("restore", "agent"),
        "b": ("restore", "agent"),
    }
    project.revert(start)
    assert project.files() == {"a": "old\n", "b": "old\n"}
    assert file.stat().st_nlink == 2
