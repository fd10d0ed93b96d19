"""A revert whose process is killed between two changes of the working directory."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.work_filesystem import LocalWorkFileSystem
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

FILES = 120


class CrashingWorkFileSystem(LocalWorkFileSystem):
    """Kills the process at its `at`-th rename."""

    def __init__(self, at: int) -> None:
        self._left = at

    def rename(self, folder: int, old: str, new: str) -> None:
        super().rename(folder, old, new)
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def revert_and_crash(folder: Path, at: int) -> None:
    """Run in the process to be killed."""
    project = FileHistoryFixture(folder, work_fs=CrashingWorkFileSystem(at))
    project.history.open()
    start = project.checkpoint()
    with project.agent():
        for number in range(FILES):
            (project.work / f"f{number}").write_text("changed\n")
    project.revert(start)


@pytest.mark.parametrize("at", [1, FILES // 3])
def test_a_revert_that_is_killed_is_completed_at_the_next_start(at: int, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    for number in range(FILES):
        (tmp_path / "work" / f"f{number}").write_text(f"{number}\n")
    code = (
        "from pathlib import Path; from tests.history.snapshots.test_process_kill import revert_and_crash; "
        f"revert_and_crash(Path({str(tmp_path)!r}), {at})"
    )
    process = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=False)
    assert process.returncode == -signal.SIGKILL
    contents = {path.read_text() for path in (tmp_path / "work").glob("f*")}
    assert "changed\n" in contents
    assert len(contents) > 1

    project = FileHistoryFixture(tmp_path)
    outcome = project.history.open()
    assert outcome is not None
    assert not outcome.failed
    assert project.files() == {f"f{number}": f"{number}\n" for number in range(FILES)}
    assert project.history.plan(project.checkpoint()).items == ()
    project.history.close()
