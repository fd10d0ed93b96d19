"""Scans that are skipped because the system knows that nothing has changed."""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.capturing import change_watcher
from kimi_tui.history.snapshots.capturing.change_watcher import ChangeWatcher
from kimi_tui.history.snapshots.limits import DEFAULT_LIMITS
from kimi_tui.history.snapshots.scanner import Scanner
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports changes")


class WatchedProject:
    """A working directory whose directories are watched, and the number of its scans."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.n_scans = 0
        scan = Scanner.run

        def count(scanner: Scanner):
            self.n_scans += 1
            return scan(scanner)

        monkeypatch.setattr(Scanner, "run", count)
        self.files = FileHistoryFixture(folder, limits=replace(DEFAULT_LIMITS, watched_files=0))
        self.work = self.files.work
        (self.work / ".git").mkdir()
        (self.work / "src" / "deep").mkdir(parents=True)
        (self.work / "src" / "deep" / "a.py").write_text("1\n")
        (self.work / "b.py").write_text("1\n")
        (self.work / ".gitignore").write_text("*.log\nbuild/\n")
        (self.work / "link").symlink_to("b.py")
        self.files.history.open()
        self.agent_step()

    def agent_step(self) -> None:
        """Let the agent change a file."""
        with self.files.agent("echo"), (self.work / "b.py").open("a") as file:
            file.write("agent\n")

    def user_scans(self) -> int:
        """Look for changes of the user. Return the number of scans that this needed."""
        before = self.n_scans
        self.files.history.capture()
        return self.n_scans - before

    def listed(self) -> set[str]:
        """Return the paths that the newest state lists."""
        return set(self.files.history.state(self.files.history.capture().manifest))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    project = WatchedProject(tmp_path, monkeypatch)
    yield project
    project.files.history.close()


def test_a_scan_is_skipped_if_nothing_has_changed(project: WatchedProject) -> None:
    assert [project.user_scans() for _ in range(3)] == [0, 0, 0]
    project.agent_step()
    assert project.user_scans() == 0


def test_a_tool_call_is_always_followed_by_a_scan(project: WatchedProject) -> None:
    before = project.n_scans
    project.files.history.capture(project.files.call("true"))
    assert project.n_scans == before + 1


def _write_in_place(work: Path) -> None:
    with (work / "src/deep/a.py").open("r+") as file:
        file.write("9")


def _write_without_closing(work: Path) -> None:
    handle = os.open(work / "b.py", os.O_WRONLY)
    os.pwrite(handle, b"user", 0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), handle)


def _replace_directory(work: Path) -> None:
    shutil.copytree(work / "src", work / "src2")
    (work / "src2/deep/a.py").write_text("2\n")
    shutil.rmtree(work / "src")
    (work / "src2").rename(work / "src")


def _replace_working_directory(work: Path) -> None:
    copy = work.with_name("copy")
    shutil.copytree(work, copy, symlinks=True)
    (copy / "b.py").write_text("copy\n")
    work.rename(work.with_name("old"))
    copy.rename(work)


def _replace_link(work: Path) -> None:
    (work / "link").unlink()
    (work / "link").symlink_to("src")


def _add_attribute(work: Path) -> None:
    (work / "b.py").chmod(0o600)


CHANGES: list[Callable[[Path], object]] = [
    _write_in_place,
    _write_without_closing,
    _replace_directory,
    _replace_working_directory,
    _replace_link,
    _add_attribute,
    lambda work: (work / "src/deep/a.py").unlink(),
    lambda work: (work / "src/new.py").write_text("new\n"),
    lambda work: (work / "src/deep").rename(work / "src/other"),
    lambda work: (work / "src/deep").chmod(0o700),
    lambda work: (work / "b.py").rename(work / "c.py"),
    lambda work: (work / ".gitignore").write_text("*.log\n"),
    lambda work: (work / "src/deep/.git").mkdir(),
    lambda work: shutil.rmtree(work),
]


@pytest.mark.parametrize("change", CHANGES)
def test_the_users_changes_are_found(change: Callable[[Path], object], project: WatchedProject) -> None:
    change(project.work)
    assert project.user_scans() == 1
    expected = FileHistoryFixture(project.work.parent, session="two")
    expected.history.open()
    state = expected.history.state(expected.checkpoint())
    assert project.files.history.state(project.files.history.newest or "") == state
    expected.history.close()


def test_changes_in_a_moved_directory_are_found(project: WatchedProject) -> None:
    (project.work / "src").rename(project.work / "lib")
    assert project.user_scans() == 1
    assert project.user_scans() == 0
    (project.work / "lib/deep/a.py").write_text("user\n")
    assert project.user_scans() == 1


def test_changes_in_a_new_directory_are_found(project: WatchedProject) -> None:
    shutil.rmtree(project.work / "src")
    (project.work / "src/deep").mkdir(parents=True)
    assert project.user_scans() == 1
    (project.work / "src/deep/a.py").write_text("user\n")
    assert project.user_scans() == 1
    assert "src/deep/a.py" in project.listed()


def test_a_change_during_a_scan_is_found_by_the_next_one(
    project: WatchedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Scanner.run

    def change_after(scanner: Scanner):
        scan = run(scanner)
        (project.work / "src/deep/a.py").write_text("user\n")
        return scan

    with monkeypatch.context() as patch:
        patch.setattr(Scanner, "run", change_after)
        project.files.history.capture(project.files.call("true"))
    assert project.user_scans() == 1


def test_more_changes_than_the_system_notes_are_found(project: WatchedProject) -> None:
    queued = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    for number in range(queued // 2 + 10):
        (project.work / "src" / f"{number % 100}.log").touch()
    shutil.rmtree(project.work / "src")
    assert project.user_scans() == 1
    assert "src" not in project.listed()


def test_changes_of_ignored_directories_need_no_scan(project: WatchedProject) -> None:
    (project.work / "build").mkdir()
    project.agent_step()
    (project.work / "build/output").write_text("x")
    assert project.user_scans() == 0


def test_known_ignored_files_are_looked_at_without_a_scan(project: WatchedProject) -> None:
    (project.work / "build").mkdir()
    (project.work / "build/x").write_text("agent\n")
    project.files.history.capture(project.files.call(), paths=["build/x"])
    project.agent_step()
    (project.work / "build/x").write_text("user\n")
    project.files.history.capture()
    assert project.files.history.state(project.files.history.newest or "")["build/x"].size == len("user\n")


def test_files_with_several_names_are_always_scanned(project: WatchedProject, tmp_path: Path) -> None:
    (tmp_path / "outside").hardlink_to(project.work / "b.py")
    project.agent_step()
    (tmp_path / "outside").write_text("user, by another name\n")
    assert project.user_scans() == 1


def test_small_projects_are_not_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChangeWatcher, "begin_scan", lambda _: pytest.fail("watched"))
    files = FileHistoryFixture(tmp_path)
    files.history.open()
    with files.agent("echo"):
        (files.work / "a").write_text("a\n")
    files.history.close()


MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:40 / /home/a\\040b rw - nfs4 server:/home rw
24 22 0:41 / /work/remote rw - fuse.sshfs host:/ rw
25 22 0:42 / /data rw - nfs server:/ rw
26 22 0:43 / /data rw - xfs /dev/sdb rw
"""


@pytest.mark.parametrize(
    ("folder", "is_watched"),
    [("/src", True), ("/home/a b/x", False), ("/work", False), ("/work2", True), ("/data", True)],
)
def test_only_local_file_systems_are_watched(
    folder: str, is_watched: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    monkeypatch.setattr(change_watcher, "_MOUNTS", mounts)
    monkeypatch.setattr(ChangeWatcher, "_identify_starts", lambda _: [(1, 1)])
    watcher = ChangeWatcher([folder])
    watcher.begin_scan()
    watcher.finish_scan()
    assert watcher.is_quiet() == is_watched
    watcher.close()


def test_few_watches_are_left_to_other_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "limit"
    limit.write_text("8\n")
    monkeypatch.setattr(change_watcher, "_MAX_WATCHES", limit)
    folders = [tmp_path / str(number) for number in range(3)]
    for folder in folders:
        folder.mkdir()
    quiet = []
    for count in (2, 3):
        watcher = ChangeWatcher([str(tmp_path)])
        watcher.begin_scan()
        for folder in folders[:count]:
            watcher.watch(str(folder))
        watcher.finish_scan()
        quiet.append(watcher.is_quiet())
        watcher.close()
    assert quiet == [True, False]
