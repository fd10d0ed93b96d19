"""A revert in a process of its own that is killed for good, between two changes of the work dir."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.work_disk import LocalWorkDisk
from tests.history.snapshots.place import Place

FILES = 120


class DeadlyWorkDisk(LocalWorkDisk):
    """Kills the process at its `at`-th rename."""

    def __init__(self, at: int) -> None:
        self._left = at

    def rename(self, folder: int, old: str, new: str) -> None:
        super().rename(folder, old, new)
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def revert_and_die(folder: Path, at: int) -> None:
    """What the other process does."""
    place = Place(folder, work_disk=DeadlyWorkDisk(at))
    place.history.open()
    start = place.checkpoint()
    with place.agent():
        for number in range(FILES):
            (place.work / f"f{number}").write_text("changed\n")
    place.revert(start)


@pytest.mark.parametrize("at", [1, FILES // 3])
def test_a_revert_that_is_killed_is_completed_at_the_next_start(at: int, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    for number in range(FILES):
        (tmp_path / "work" / f"f{number}").write_text(f"{number}\n")
    code = (
        "from pathlib import Path; from tests.history.snapshots.test_killed import revert_and_die; "
        f"revert_and_die(Path({str(tmp_path)!r}), {at})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=False)
    assert done.returncode == -signal.SIGKILL
    half_done = {path.read_text() for path in (tmp_path / "work").glob("f*")}
    assert "changed\n" in half_done
    assert len(half_done) > 1

    place = Place(tmp_path)
    outcome = place.history.open()
    assert outcome is not None
    assert not outcome.failed
    assert place.files() == {f"f{number}": f"{number}\n" for number in range(FILES)}
    assert place.history.plan(place.checkpoint()).items == ()
    place.history.close()
