"""Commands in the sandbox, by the bubblewrap of this machine."""

import asyncio
import shutil
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from kimi_tui.tools.sandbox.bounds import Bounds, bounds_of
from kimi_tui.tools.sandbox.sandbox import Sandbox, new_temp
from kimi_tui.tools.shell.process import Exit, Shell, ShellUnavailable
from tests.patience import PATIENCE_S


class Room:
    """A work dir and secrets beside it, outside of the folders that a sandbox makes anew."""

    def __init__(self, folder: Path) -> None:
        self.work_dir = folder / "work"
        (self.work_dir / ".git" / "hooks").mkdir(parents=True)
        self.secret = folder / "home" / ".ssh" / "id"
        self.secret.parent.mkdir(parents=True)
        self.secret.write_text("private")
        self.outside = folder / "outside"
        self.outside.write_text("as it was")
        self.temp = new_temp()
        self.shell = Shell(term_grace_s=0.3)

    def bounds(self, *, network: bool = False) -> Bounds:
        return bounds_of(
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

    async def run(self, command: str, timeout_s: float = 60) -> tuple[Exit, str]:
        output = bytearray()
        ended = await self.shell.run(
            command, work_dir=self.work_dir, timeout_s=timeout_s, on_output=output.extend
        )
        return ended, output.decode()


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    room = Room(tmp_path.resolve())
    sandbox = Sandbox(room.bounds())
    await sandbox.open()
    if sandbox.problem is not None:
        await sandbox.close()
        pytest.skip(sandbox.problem.what)
    room.shell.confinement = sandbox
    yield room
    await room.shell.close()
    await sandbox.close()
    assert not room.temp.exists()


async def test_only_the_work_dir_and_the_commands_own_temporary_files_can_be_changed(room: Room) -> None:
    _, said = await room.run(
        f"echo new > file; echo new > /tmp/mine; echo changed > {room.outside}; echo x > /usr/x"
    )
    assert (room.work_dir / "file").read_text() == "new\n"
    assert room.outside.read_text() == "as it was"
    assert said.count("Read-only file system") == 2
    _, kept = await room.run("cat /tmp/mine")
    assert kept == "new\n"
    assert not Path("/tmp/mine").exists()


async def test_secrets_look_empty_and_git_hooks_can_not_be_planted(room: Room) -> None:
    _, said = await room.run(
        f"cat {room.secret} || echo nothing; echo evil > .git/hooks/pre-commit; mv .git away; ls -A"
    )
    assert "private" not in said
    assert "nothing" in said
    assert not list((room.work_dir / ".git" / "hooks").iterdir())
    assert said.endswith("\n.git\n")


async def test_no_other_process_is_seen_and_nothing_counts_as_left_behind(room: Room) -> None:
    ended, said = await room.run("echo /proc/[0-9]*")
    assert ended == Exit(0)
    assert len(said.split()) <= 3


async def test_the_network_of_the_machine_is_out_of_reach_unless_it_is_allowed(room: Room) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"
        ended, _ = await room.run(f"bash -c '{command}'")
        assert ended.status != 0
        allowing = Sandbox(room.bounds(network=True))
        await allowing.open()
        room.shell.confinement = allowing
        _, said = await room.run(f"bash -c '{command}'")
    assert said == "connected\n"


async def test_a_timeout_ends_all_that_ran_in_the_sandbox(room: Room) -> None:
    ended, _ = await room.run("sleep 7411 & setsid sleep 7411 & wait", timeout_s=0.5)
    assert ended.timed_out
    async with asyncio.timeout(PATIENCE_S):  # the system ends them a moment after the sandbox
        while b"sleep\x007411\x00" in _command_lines():
            await asyncio.sleep(0.02)


def _command_lines() -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            found.append(path.read_bytes())
    return found


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
async def test_without_a_sandbox_no_command_runs(tmp_path: Path, platform: str) -> None:
    room = Room(tmp_path)
    sandbox = Sandbox(room.bounds(), platform=platform, path=str(tmp_path))
    await sandbox.open()
    room.shell.confinement = sandbox
    with pytest.raises(ShellUnavailable, match="--no-sandbox"):
        await room.run("touch created")
    assert not (room.work_dir / "created").exists()
    await sandbox.close()


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is Linux's")
async def test_a_bubblewrap_that_may_not_make_namespaces_is_told_in_its_own_words(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    fake = programs / "bwrap"
    fake.write_text(
        f"#!{shutil.which('sh')}\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    fake.chmod(0o755)
    room = Room(tmp_path / "room")
    sandbox = Sandbox(room.bounds(), path=str(programs))
    await sandbox.open()
    assert sandbox.problem is not None
    assert "No permissions to create new namespace" in sandbox.problem.what
    await sandbox.close()
