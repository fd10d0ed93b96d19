"""Commands end together with everything they started, however they end."""

import asyncio
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kimi_tui.base.errors import ShellUnavailable
from kimi_tui.tools.shell.shell import ExitStatus, Shell
from tests.loop_clock import LoopClock
from tests.timeouts import TEST_TIMEOUT_S
from tests.tools.command_output_recorder import CommandOutputRecorder


@pytest.fixture
async def shell() -> AsyncIterator[Shell]:
    shell = Shell(term_grace_s=0.3)
    yield shell
    await shell.close()


async def run(shell: Shell, command: str, work_dir: Path, timeout_s: float = 60) -> tuple[ExitStatus, str]:
    output = CommandOutputRecorder()
    exit_ = await shell.run(command, work_dir=work_dir, timeout_s=timeout_s, output=output)
    return exit_, output.data.decode()


def is_running(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] not in ("", "Z")


async def wait_for_exit(*pids: int) -> bool:
    deadline = time.monotonic() + TEST_TIMEOUT_S
    while any(map(is_running, pids)):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True


async def test_both_streams_arrive_in_the_order_written(shell: Shell, tmp_path: Path) -> None:
    exit_, output = await run(shell, "for i in 1 2 3; do echo out $i; echo err $i >&2; done", tmp_path)
    assert exit_ == ExitStatus(0)
    assert output == "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n"


async def test_a_command_runs_in_the_work_dir_without_pager_terminal_or_input(
    shell: Shell, tmp_path: Path
) -> None:
    _, output = await run(shell, "pwd; echo $PAGER $GIT_TERMINAL_PROMPT $TERM; read -r x; echo $?", tmp_path)
    assert output == f"{tmp_path.resolve()}\ncat 0 dumb\n1\n"


def test_a_command_does_not_read_what_the_user_types(tmp_path: Path) -> None:
    program = """
import asyncio, pathlib
from kimi_tui.tools.shell.shell import Shell
class Printer:
    def receive(self, data):
        print(data)
asyncio.run(Shell().run("cat", work_dir=pathlib.Path.cwd(), timeout_s=60, output=Printer()))
"""
    python = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert python.stdin is not None
    assert python.stdout is not None
    python.stdin.write(b"typed\n")
    python.stdin.flush()
    assert python.stdout.read() == b""
    python.stdin.close()
    assert python.wait() == 0
    python.stdout.close()


async def test_a_prompt_on_the_terminal_fails_immediately(shell: Shell, tmp_path: Path) -> None:
    _, output = await run(shell, "(read -r x < /dev/tty) 2>/dev/null || echo no terminal", tmp_path)
    assert output == "no terminal\n"


@pytest.mark.parametrize(
    ("command", "status"), [("exit 3", 3), ("kill -9 $$", -9), ("no-such-program-", 127)]
)
async def test_the_exit_status_is_returned(shell: Shell, tmp_path: Path, command: str, status: int) -> None:
    exit_, _ = await run(shell, command, tmp_path)
    assert exit_ == ExitStatus(status)


async def test_a_timeout_ends_the_whole_group(shell: Shell, tmp_path: Path) -> None:
    clock, output = LoopClock(), CommandOutputRecorder()
    command = f"sleep 1234 & echo $! > {tmp_path}/pid; echo before; sleep 1234"
    running = asyncio.ensure_future(shell.run(command, work_dir=tmp_path, timeout_s=200, output=output))
    await output.line()
    assert (await clock.advance_until(running, 200)).timed_out
    assert output.data == b"before\n"
    assert await wait_for_exit(int((tmp_path / "pid").read_text()))


async def test_a_canceled_command_ends_with_everything_it_started(shell: Shell, tmp_path: Path) -> None:
    output = CommandOutputRecorder()
    command = "(sleep 1234 & sleep 1234 & echo $$ $! $(jobs -p); wait)"
    running = asyncio.ensure_future(shell.run(command, work_dir=tmp_path, timeout_s=60, output=output))
    pids = [int(pid) for pid in (await output.line()).split()]
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(pids) >= 3
    assert await wait_for_exit(*pids)


async def test_a_command_that_will_not_stop_is_killed(shell: Shell, tmp_path: Path) -> None:
    output = CommandOutputRecorder()
    command = "trap '' TERM INT HUP; echo $$; while :; do sleep 1234; done"
    running = asyncio.ensure_future(shell.run(command, work_dir=tmp_path, timeout_s=60, output=output))
    pid = int(await output.line())
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await wait_for_exit(pid)


async def test_canceling_twice_still_kills(tmp_path: Path) -> None:
    shell = Shell(term_grace_s=60)
    output = CommandOutputRecorder()
    command = "trap '' TERM; echo $$; while :; do sleep 1234; done"
    running = asyncio.ensure_future(shell.run(command, work_dir=tmp_path, timeout_s=60, output=output))
    pid = int(await output.line())
    running.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await wait_for_exit(pid)


async def test_a_command_canceled_while_it_starts_does_not_keep_running(shell: Shell, tmp_path: Path) -> None:
    running = asyncio.ensure_future(
        shell.run(
            f"echo $$ > {tmp_path}/pid; sleep 1234",
            work_dir=tmp_path,
            timeout_s=60,
            output=CommandOutputRecorder(),
        )
    )
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    text = (tmp_path / "pid").read_text() if (tmp_path / "pid").exists() else ""
    assert not text or await wait_for_exit(int(text))


async def test_a_child_that_keeps_the_output_open_does_not_block_the_command(
    shell: Shell, tmp_path: Path
) -> None:
    exit_, output = await run(shell, "echo begun; sleep 1234 & echo $!", tmp_path)
    begun, pid = output.split()
    assert begun == "begun"
    assert exit_ == ExitStatus(0, left_children=True)
    assert is_running(int(pid))
    await shell.close()
    assert await wait_for_exit(int(pid))


async def test_processes_left_running_can_still_print(shell: Shell, tmp_path: Path) -> None:
    command = f"(while [ ! -e {tmp_path}/go ]; do sleep 0.01; done; seq 100000; echo > {tmp_path}/done) &"
    exit_, _ = await run(shell, command, tmp_path)
    assert exit_.left_children
    (tmp_path / "go").touch()
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while not (tmp_path / "done").exists():  # its output doesn't block
            await asyncio.sleep(0.01)


async def test_closing_ends_children_without_output(tmp_path: Path) -> None:
    shell = Shell()
    exit_, output = await run(shell, "sleep 1234 > /dev/null 2>&1 & echo $!", tmp_path)
    assert exit_.left_children
    await shell.close()
    assert await wait_for_exit(int(output))


DAEMON = (
    "setsid sh -c 'echo $$ > daemon.pid; exec sleep 60' > /dev/null 2>&1 < /dev/null & "
    "until [ -s daemon.pid ]; do sleep 0.01; done"
)
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/environ").exists() or shutil.which("setsid") is None,
    reason="processes in other sessions are found in /proc",
)


@needs_proc
async def test_closing_ends_processes_in_sessions_of_their_own(tmp_path: Path) -> None:
    shell = Shell(term_grace_s=0.3)
    exit_, _ = await run(shell, DAEMON, tmp_path)
    assert exit_.status == 0
    pid = int((tmp_path / "daemon.pid").read_text())
    assert is_running(pid)
    await shell.close()
    assert await wait_for_exit(pid)


@needs_proc
async def test_a_timeout_ends_processes_in_sessions_of_their_own_but_not_those_of_other_commands(
    shell: Shell, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    await run(shell, DAEMON, other)
    exit_, _ = await run(shell, f"{DAEMON}; sleep 60", tmp_path, timeout_s=1)
    assert exit_.timed_out
    assert await wait_for_exit(int((tmp_path / "daemon.pid").read_text()))
    assert is_running(int((other / "daemon.pid").read_text()))


async def test_large_output_is_complete(shell: Shell, tmp_path: Path) -> None:
    _, output = await run(shell, "seq 200000", tmp_path)
    assert output.splitlines() == [str(number) for number in range(1, 200_001)]


async def test_commands_run_concurrently(shell: Shell, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    results = await asyncio.gather(
        run(shell, "cat fifo", tmp_path), run(shell, "echo through the pipe > fifo", tmp_path)
    )
    assert results[0][1] == "through the pipe\n"


async def test_a_missing_work_dir_is_reported(shell: Shell, tmp_path: Path) -> None:
    with pytest.raises(ShellUnavailable, match="doesn't exist"):
        await run(shell, "true", tmp_path / "gone")


async def test_a_command_too_long_for_the_system_is_reported(shell: Shell, tmp_path: Path) -> None:
    with pytest.raises(ShellUnavailable, match="Can't start the command"):
        await run(shell, "#" * 5_000_000, tmp_path)


async def test_no_descriptors_are_left_open(shell: Shell, tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        pytest.skip("descriptors can't be counted on this system")
    await run(shell, "true", tmp_path)
    before = len(list(descriptors.iterdir()))
    for command in ("true", "exit 1", "sleep 1234 &"):
        await run(shell, command, tmp_path)
    await run(shell, "sleep 1234", tmp_path, timeout_s=0.01)
    with pytest.raises(ShellUnavailable):
        await run(shell, "true", tmp_path / "gone")
    await shell.close()
    assert len(list(descriptors.iterdir())) <= before


async def test_sh_replaces_a_missing_bash_and_the_lack_of_both_is_reported(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sh = shutil.which("sh")
    assert sh is not None
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ShellUnavailable, match="Neither bash nor sh"):
        await run(shell, "true", tmp_path)
    (tmp_path / "sh").symlink_to(sh)
    assert (await run(shell, "echo here", tmp_path))[1] == "here\n"
