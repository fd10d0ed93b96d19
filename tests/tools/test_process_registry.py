"""Commands that outlive the program."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_tui.base.errors import ShellUnavailable
from kimi_tui.tools.shell.process_registry import ProcessRegistry
from kimi_tui.tools.shell.shell import Shell
from tests.timeouts import TEST_TIMEOUT_S
from tests.tools.command_output_recorder import CommandOutputRecorder
from tests.tools.orphan_process import start_orphan

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")


@pytest.fixture
def process_registry(tmp_path: Path) -> ProcessRegistry:
    return ProcessRegistry(tmp_path / "commands")


@pytest.fixture
def orphan(process_registry: ProcessRegistry) -> Iterator["subprocess.Popen[bytes]"]:
    process = start_orphan(process_registry.marker)
    yield process
    process.kill()
    process.wait()


def registered_names(process_registry: ProcessRegistry) -> list[str]:
    return [path.name for path in Path(process_registry.marker).iterdir()]


async def test_a_command_is_registered_while_it_runs(
    tmp_path: Path, process_registry: ProcessRegistry
) -> None:
    shell = Shell(process_registry=process_registry)
    output = CommandOutputRecorder()
    folder = process_registry.marker
    wait_until_registered = (
        f'until test -e {folder}/$$ -a -z "$(ls {folder} | grep -v $$)"; do sleep 0.01; done'
    )
    command = f"{wait_until_registered}; ls {folder}; echo $$; stat -c %a {folder} {folder}/*"
    await shell.run(command, work_dir=tmp_path, timeout_s=30, output=output)
    listed, pid, *modes = output.data.decode().split()
    assert listed == pid
    assert modes == ["700", "600"]
    assert registered_names(process_registry) == []


async def test_processes_left_running_stay_registered_until_the_shell_closes(
    tmp_path: Path, process_registry: ProcessRegistry
) -> None:
    shell = Shell(process_registry=process_registry, term_grace_s=0.2)
    await shell.run("sleep 300 &", work_dir=tmp_path, timeout_s=30, output=CommandOutputRecorder())
    (group,) = registered_names(process_registry)
    os.killpg(int(group), 0)
    await shell.close()
    assert registered_names(process_registry) == []


async def test_a_command_that_was_just_starting_is_killed(
    process_registry: ProcessRegistry, orphan: "subprocess.Popen[bytes]"
) -> None:
    starting = process_registry.starting()
    starting.__enter__()  # then the program is killed
    assert await asyncio.to_thread(process_registry.kill_all) == 1
    assert orphan.wait(TEST_TIMEOUT_S) == -signal.SIGKILL
    assert registered_names(process_registry) == []


async def test_a_command_that_cannot_start_is_not_left_registered(
    tmp_path: Path, process_registry: ProcessRegistry
) -> None:
    shell = Shell(process_registry=process_registry)
    with pytest.raises(ShellUnavailable):
        await shell.run("true", work_dir=tmp_path / "gone", timeout_s=30, output=CommandOutputRecorder())
    assert registered_names(process_registry) == []


async def test_the_next_run_kills_what_was_left_running(
    process_registry: ProcessRegistry, orphan: "subprocess.Popen[bytes]"
) -> None:
    process_registry.register(orphan.pid)
    assert await asyncio.to_thread(process_registry.kill_all) == 1
    assert orphan.wait(TEST_TIMEOUT_S) == -signal.SIGKILL
    assert registered_names(process_registry) == []


def test_an_unrelated_group_with_the_same_number_is_not_killed(
    tmp_path: Path, orphan: "subprocess.Popen[bytes]"
) -> None:
    others = ProcessRegistry(tmp_path / "others")
    others.register(orphan.pid)
    assert others.kill_all() == 0
    assert orphan.poll() is None


def test_an_empty_registry_kills_nothing(process_registry: ProcessRegistry) -> None:
    assert process_registry.kill_all() == 0
