"""Read-only directories: their owner can revert what the agent changed in them."""

from pathlib import Path

import pytest

from tests.history.snapshots.file_history_fixture import FileHistoryFixture
from tests.history.snapshots.test_crash import FaultyFileSystem, Killed, state_of


def change_read_only_folders(project: FileHistoryFixture) -> str:
    """Let the agent change read-only directories, and make one read-only. Return the state before."""
    work = project.work
    for name in ("protected", "protected/inner", "open"):
        (work / name).mkdir()
        (work / name / "changed").write_text("one\n")
        (work / name / "deleted").write_text("two\n")
    (work / "protected" / "inner").chmod(0o555)
    (work / "protected").chmod(0o555)
    start = project.checkpoint()
    with project.agent("chmod -R u+w .; make; chmod -R u-w ."):
        for name in ("protected", "protected/inner", "open"):
            (work / name).chmod(0o755)
            (work / name / "changed").write_text("1\n")
            (work / name / "deleted").unlink()
            (work / name / "new").mkdir()
            (work / name / "new" / "file").write_text("new\n")
            (work / name / "new").chmod(0o500)
        (work / "protected" / "inner").chmod(0o555)
        (work / "protected").chmod(0o555)
        (work / "open").chmod(0o555)
    return start


def make_deletable(project: FileHistoryFixture) -> None:
    """Let the test delete its directory."""
    for folder in (project.work, *project.work.rglob("*")):
        if folder.is_dir() and not folder.is_symlink():
            folder.chmod(0o755)


@pytest.mark.parametrize("root_mode", [0o755, 0o555])
def test_changes_in_read_only_folders_are_reverted_and_their_modes_kept(
    unprivileged_dir: Path, root_mode: int
) -> None:
    project = FileHistoryFixture(unprivileged_dir)
    project.history.open()
    (project.work / "top").write_text("one\n")
    start = change_read_only_folders(project)
    expected = {name: text for name, text in state_of(project.work).items() if "new" not in name}
    with project.agent():
        (project.work / "top").write_text("two\n")
        project.work.chmod(root_mode)
    try:
        project.revert(start)
        states = state_of(project.work)
        assert project.work.stat().st_mode & 0o777 == root_mode
        for folder in ("protected", "protected/inner", "open"):
            expected |= {
                f"{folder}/changed": "0o100644 one\n",
                f"{folder}/deleted": "0o100644 two\n",
            }
        assert states == expected | {"open": "0o40755 ", "top": "0o100644 one\n"}
    finally:
        make_deletable(project)


def test_a_revert_killed_while_a_folder_is_writable_makes_it_read_only_again(
    unprivileged_dir: Path,
) -> None:
    at = 0
    is_done = False
    while not is_done:
        at += 1
        folder = unprivileged_dir / f"at-{at}"
        folder.mkdir()
        fs = FaultyFileSystem(Killed)
        project = FileHistoryFixture(folder, fs=fs, work_fs=fs.work_fs)
        project.history.open()
        plan = project.history.plan(change_read_only_folders(project))
        before = state_of(project.work)
        fs.at = last = fs.calls + at
        try:
            project.history.execute(plan, {item.path for item in plan.items})
            is_done = fs.calls < last
        except Killed:
            pass
        project.store.close()
        reopened = FileHistoryFixture(folder)
        reopened.history.open()
        try:
            after = state_of(reopened.work)
            assert after["protected"] == after["protected/inner"] == "0o40555 "
            assert after == before or (after["open"] == "0o40755 " and "open/new" not in after)
        finally:
            reopened.history.close()
            make_deletable(reopened)
    assert at > 20
