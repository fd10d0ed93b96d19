"""Commands that outlived the program."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_tui.tools.shell.process import Shell, ShellUnavailable
from kimi_tui.tools.shell.survivors import Survivors
from tests.patience import PATIENCE_S
from tests.tools.marked import left_behind

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="there is no /proc")


@pytest.fixture
def survivors(tmp_path: Path) -> Survivors:
    return Survivors(tmp_path / "commands")


@pytest.fixture
def orphan(survivors: Survivors) -> Iterator["subprocess.Popen[bytes]"]:
    process = left_behind(survivors.mark)
    yield process
    process.kill()
    process.wait()


def names(survivors: Survivors) -> list[str]:
    return [path.name for path in Path(survivors.mark).iterdir()]


async def test_a_command_is_on_disk_exactly_while_it_runs(tmp_path: Path, survivors: Survivors) -> None:
    shell = Shell(survivors=survivors)
    output: list[bytes] = []
    noted = (
        f'until test -e {survivors.mark}/$$ -a -z "$(ls {survivors.mark} | grep -v $$)"; do sleep 0.01; done'
    )
    command = f"{noted}; ls {survivors.mark}; echo $$; stat -c %a {survivors.mark} {survivors.mark}/*"
    await shell.run(command, work_dir=tmp_path, timeout_s=30, on_output=output.append)
    listed, pid, *modes = b"".join(output).decode().split()
    assert listed == pid
    assert modes == ["700", "600"]
    assert names(survivors) == []


async def test_what_a_command_leaves_running_stays_on_disk_until_the_shell_closes(
    tmp_path: Path, survivors: Survivors
) -> None:
    shell = Shell(survivors=survivors, term_grace_s=0.2)
    await shell.run("sleep 300 &", work_dir=tmp_path, timeout_s=30, on_output=lambda _: None)
    (group,) = names(survivors)
    os.killpg(int(group), 0)
    await shell.close()
    assert names(survivors) == []


async def test_what_was_just_being_started_is_ended_too(
    survivors: Survivors, orphan: "subprocess.Popen[bytes]"
) -> None:
    starting = survivors.starting()
    starting.__enter__()  # and the program is killed
    assert await asyncio.to_thread(survivors.end_all) == 1
    assert orphan.wait(PATIENCE_S) == -signal.SIGKILL
    assert names(survivors) == []


async def test_a_command_that_can_not_be_started_leaves_nothing_on_disk(
    tmp_path: Path, survivors: Survivors
) -> None:
    shell = Shell(survivors=survivors)
    with pytest.raises(ShellUnavailable):
        await shell.run("true", work_dir=tmp_path / "gone", timeout_s=30, on_output=lambda _: None)
    assert names(survivors) == []


async def test_the_next_run_ends_what_was_left(
    survivors: Survivors, orphan: "subprocess.Popen[bytes]"
) -> None:
    survivors.keep(orphan.pid)
    assert await asyncio.to_thread(survivors.end_all) == 1
    assert orphan.wait(PATIENCE_S) == -signal.SIGKILL
    assert names(survivors) == []


def test_a_group_of_somebody_else_with_the_same_number_lives_on(
    tmp_path: Path, orphan: "subprocess.Popen[bytes]"
) -> None:
    others = Survivors(tmp_path / "others")
    others.keep(orphan.pid)
    assert others.end_all() == 0
    assert orphan.poll() is None


def test_nothing_left_is_nothing_to_end(survivors: Survivors) -> None:
    assert survivors.end_all() == 0
