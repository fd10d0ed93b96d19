"""Commands in the sandbox, with this machine's bubblewrap."""

import asyncio
import shutil
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from kimi_tui.base.errors import ShellUnavailable
from kimi_tui.tools.shell.shell import ExitStatus, Shell
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy, build_policy
from kimi_tui.workspaces.sandbox.sandbox import CommandSandbox, create_temp_dir
from tests.timeouts import TEST_TIMEOUT_S
from tests.tools.command_output_recorder import CommandOutputRecorder


class SandboxEnv:
    """A working directory and a secret next to it, outside of the directories that a sandbox replaces."""

    def __init__(self, folder: Path) -> None:
        self.work_dir = folder / "work"
        (self.work_dir / ".git" / "hooks").mkdir(parents=True)
        self.secret = folder / "home" / ".ssh" / "id"
        self.secret.parent.mkdir(parents=True)
        self.secret.write_text("private")
        self.outside = folder / "outside"
        self.outside.write_text("as it was")
        self.temp = create_temp_dir()
        self.shell = Shell(term_grace_s=0.3)

    def build_policy(self, *, network: bool = False) -> SandboxPolicy:
        return build_policy(
            work_dir=self.work_dir,
            additional_dirs=(),
            writable=(),
            readable=(self.outside,),
            hidden=(),
            home=self.secret.parent.parent,
            temp=self.temp,
            network=network,
            environment=(),
            secrets=frozenset(),
        )

    async def run(self, command: str, timeout_s: float = 60) -> tuple[ExitStatus, str]:
        output = CommandOutputRecorder()
        exit_status = await self.shell.run(
            command, work_dir=self.work_dir, timeout_s=timeout_s, output=output
        )
        return exit_status, output.data.decode()


@pytest.fixture
async def sandbox_env(tmp_path: Path) -> AsyncIterator[SandboxEnv]:
    sandbox_env = SandboxEnv(tmp_path.resolve())
    sandbox = CommandSandbox(sandbox_env.build_policy())
    await sandbox.open()
    if sandbox.problem is not None:
        await sandbox.close()
        pytest.skip(sandbox.problem.what)
    sandbox_env.shell.sandbox = sandbox
    yield sandbox_env
    await sandbox_env.shell.close()
    await sandbox.close()
    assert not sandbox_env.temp.exists()


async def test_only_the_work_dir_and_the_sandboxs_tmp_are_writable(
    sandbox_env: SandboxEnv,
) -> None:
    _, output = await sandbox_env.run(
        f"echo new > file; echo new > /tmp/mine; echo changed > {sandbox_env.outside}; echo x > /usr/x"
    )
    assert (sandbox_env.work_dir / "file").read_text() == "new\n"
    assert sandbox_env.outside.read_text() == "as it was"
    assert output.count("Read-only file system") == 2
    _, content = await sandbox_env.run("cat /tmp/mine")
    assert content == "new\n"
    assert not Path("/tmp/mine").exists()


async def test_secrets_are_hidden_and_git_hooks_cannot_be_installed(sandbox_env: SandboxEnv) -> None:
    _, output = await sandbox_env.run(
        f"cat {sandbox_env.secret} || echo nothing; echo evil > .git/hooks/pre-commit; mv .git away; ls -A"
    )
    assert "private" not in output
    assert "nothing" in output
    assert not list((sandbox_env.work_dir / ".git" / "hooks").iterdir())
    assert output.endswith("\n.git\n")


async def test_other_processes_are_invisible_and_none_counts_as_left_running(sandbox_env: SandboxEnv) -> None:
    exit_status, output = await sandbox_env.run("echo /proc/[0-9]*")
    assert exit_status == ExitStatus(0)
    assert len(output.split()) <= 3


async def test_the_network_is_unreachable_unless_it_is_allowed(sandbox_env: SandboxEnv) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"
        exit_status, _ = await sandbox_env.run(f"bash -c '{command}'")
        assert exit_status.status != 0
        allowing = CommandSandbox(sandbox_env.build_policy(network=True))
        await allowing.open()
        sandbox_env.shell.sandbox = allowing
        _, output = await sandbox_env.run(f"bash -c '{command}'")
    assert output == "connected\n"


async def test_a_timeout_ends_everything_in_the_sandbox(sandbox_env: SandboxEnv) -> None:
    exit_status, _ = await sandbox_env.run("sleep 7411 & setsid sleep 7411 & wait", timeout_s=0.5)
    assert exit_status.timed_out
    async with asyncio.timeout(TEST_TIMEOUT_S):  # the system kills them shortly after the sandbox
        while b"sleep\x007411\x00" in _command_lines():
            await asyncio.sleep(0.02)


def _command_lines() -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # the process has ended
            found.append(path.read_bytes())
    return found


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
async def test_without_a_sandbox_no_command_runs(tmp_path: Path, platform: str) -> None:
    sandbox_env = SandboxEnv(tmp_path)
    sandbox = CommandSandbox(sandbox_env.build_policy(), platform=platform, path=str(tmp_path))
    await sandbox.open()
    sandbox_env.shell.sandbox = sandbox
    with pytest.raises(ShellUnavailable, match="--no-sandbox"):
        await sandbox_env.run("touch created")
    assert not (sandbox_env.work_dir / "created").exists()
    await sandbox.close()


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap requires Linux")
async def test_the_error_of_bubblewrap_is_reported(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    fake = programs / "bwrap"
    fake.write_text(
        f"#!{shutil.which('sh')}\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    fake.chmod(0o755)
    sandbox_env = SandboxEnv(tmp_path / "sandbox_env")
    sandbox = CommandSandbox(sandbox_env.build_policy(), path=str(programs))
    await sandbox.open()
    assert sandbox.problem is not None
    assert "No permissions to create new namespace" in sandbox.problem.what
    await sandbox.close()
