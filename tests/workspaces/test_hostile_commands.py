"""Commands that try to change files past their workspace, or to forge its effects."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.tools.shell.shell import ExitStatus, Shell, ShellUnavailable
from kimi_tui.workspaces.effects import Effects
from kimi_tui.workspaces.open_record import WorkspaceOwner
from kimi_tui.workspaces.workspace import Workspace
from kimi_tui.workspaces.workspaces import Workspaces
from tests.workspaces.tree_state import EntryState, read_tree

OWNER = WorkspaceOwner(author=ChangeAuthor(who="call", session="s", call="c", command="hostile"))
IS_ROOT = os.geteuid() == 0
MANY_FILES = 20_000

PYTHON = f"{sys.executable} -ISc"
PTRACE = f"""{PYTHON} 'import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
sys.exit(0 if libc.ptrace(16, int(os.environ["OUTSIDE_PID"]), 0, 0) == 0 else 3)'"""

ESCAPES = {
    "the working directory of a process": 'echo x > "/proc/$OUTSIDE_PID/cwd/escaped"',
    "the root of a process": 'echo x > "/proc/$OUTSIDE_PID/root/$WORK/escaped"',
    "a descriptor of a process": 'echo x > "/proc/$OUTSIDE_PID/fd/9/escaped"',
    "the root of its parent": 'echo x > "/proc/$PPID/root/$LAYERS/escaped"',
    "a descriptor of its parent": 'for f in /proc/$PPID/fd/*; do echo x > "$f/escaped"; done',
    "its own root": 'echo x > "/proc/self/root/$WORK/inside"; echo y > /proc/thread-self/cwd/inside',
    "the namespace of a process": 'nsenter -t "$OUTSIDE_PID" -m touch "$WORK/escaped"',
    "the user namespace of a process": 'nsenter -t "$OUTSIDE_PID" -U -m touch "$WORK/escaped"',
    "ptrace": PTRACE,
    "unmounting the view": 'umount -l "$WORK"; umount "$WORK"; touch "$WORK/inside"',
    "unmounting in another namespace": 'unshare -Urm sh -c \'umount -l "$WORK"; touch "$WORK/inside"\'',
    "a bind mount of a parent": (
        'unshare -Urm sh -c \'mkdir -p b; mount --bind "$AREA" b && touch b/work/inside; umount b; '
        "touch b/inside'"
    ),
    "a recursive bind mount": "unshare -Urm sh -c 'mkdir -p b; mount --rbind / b; touch \"b$WORK/inside\"'",
    "chroot": "unshare -Ur chroot / sh -c 'touch \"$WORK/inside\"'",
    "a setuid program": "cp /bin/sh inside; chmod 6755 inside; ./inside -c 'touch /inside'",
    "the layer": 'touch "$LAYERS/escaped"; find "$LAYERS" -mindepth 1 -exec touch {}/escaped ";"',
    "a hard link to the outside": 'ln "$AREA/outside/secret" inside; echo x >> inside',
    "an overlay of its own": (
        "mkdir l u w; unshare -Urm sh -c "
        "'mount -t overlay -o lowerdir=l,upperdir=u,workdir=w o \"$WORK\"; touch inside'"
    ),
}
"""What succeeds as root is no escape: root may do all of it without a workspace."""

OWN_PATHS = ("inside", "b", "b/inside", "b/work", "l", "u", "w")


@dataclass(frozen=True)
class HostileSession:
    """A work dir, files outside of it, and a process of the user's that is in it."""

    area: Path
    workspaces: Workspaces
    data_dir: Path

    @property
    def work(self) -> Path:
        """The work dir."""
        return self.area / "work"

    def state(self) -> dict[bytes, EntryState]:
        """Return the state of the work dir and of what is next to it."""
        return read_tree(os.fsencode(self.area), time.time_ns() - 10**9)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Workspace]:
        """Open a workspace of the work dir."""
        async with self.workspaces.open(self.work, owner=OWNER) as workspace:
            assert workspace.is_private
            yield workspace

    async def run(self, workspace: Workspace, script: str, **variables: str) -> ExitStatus:
        """Run a script in a workspace."""
        names = {"WORK": self.work, "AREA": self.area, "LAYERS": self.data_dir / "workspaces", **variables}
        exports = "".join(f"export {name}='{value}'\n" for name, value in names.items())
        shell = Shell(term_grace_s=0.2)
        try:
            return await shell.run(
                f"exec 2> /dev/null\n{exports}{script}",
                work_dir=self.work,
                timeout_s=60,
                output=self,
                starter=workspace,
            )
        finally:
            await shell.close()

    def receive(self, data: bytes) -> None:
        """Implement `OutputReceiver.receive`."""

    def below_work(self, effects: Effects) -> set[str]:
        """Return the paths of effects, relative to the work dir."""
        return {os.path.relpath(it.path, self.work) for it in effects.items}


@pytest.fixture
async def hostile(tmp_path: Path) -> AsyncIterator[HostileSession]:
    """Return a session with a private backend."""
    workspaces = Workspaces(tmp_path / "data")
    status = await workspaces.status(tmp_path)
    if status.backend == "none":
        await workspaces.close()
        pytest.skip(f"No workspaces here: {status.problem}")
    session = HostileSession(tmp_path / "area", workspaces, tmp_path / "data")
    (session.work / "d" / "e").mkdir(parents=True)
    for name in ("a", "d/b", "d/e/c"):
        (session.work / name).write_text(f"{name}\n")
    (session.area / "outside").mkdir()
    (session.area / "outside" / "secret").write_text("secret\n")
    yield session
    await workspaces.close()


@contextmanager
def process_in(folder: Path) -> Iterator[int]:
    """Return a process of the user's, with the folder as its working directory and as descriptor 9."""
    process = subprocess.Popen(["bash", "-c", "exec 9< .; exec sleep 600"], cwd=folder)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(IS_ROOT, reason="root may do this with or without a workspace")
@pytest.mark.parametrize("escape", ESCAPES)
async def test_nothing_outside_changes_before_the_commit(escape: str, hostile: HostileSession) -> None:
    before = hostile.state()
    with process_in(hostile.work) as pid:
        async with hostile.open() as workspace:
            await hostile.run(workspace, ESCAPES[escape], OUTSIDE_PID=str(pid))
            assert hostile.state() == before
            assert hostile.below_work(await workspace.effects()) <= set(OWN_PATHS)
            await workspace.discard()
        assert hostile.state() == before
        os.kill(pid, 0)


async def test_a_command_inherits_no_descriptors(hostile: HostileSession) -> None:
    async with hostile.open() as workspace:
        await hostile.run(
            workspace, "for f in /proc/self/fd/*; do basename $f; done > inside; ls /proc/self/fd > list"
        )
        effects = (await workspace.effects()).by_path()
        listed = Path(effects[str(hostile.work / "list")].source).read_text().split()
    assert sorted(map(int, listed)) == [0, 1, 2, 3]  # ls opens the folder as 3


@pytest.mark.parametrize("prefix", ["user.overlay.", "trusted.overlay."])
@pytest.mark.parametrize("attribute", ["opaque=y", "whiteout=y", "redirect=/a", "origin=x", "metacopy=x"])
async def test_attributes_of_overlayfs_forge_no_effects(
    prefix: str, attribute: str, hostile: HostileSession
) -> None:
    name, value = attribute.split("=")
    before = hostile.state()
    script = (
        f"{PYTHON} 'import os\n"
        'os.makedirs("new", exist_ok=True); open("new/f", "w").close(); open("d/b", "a").close()\n'
        'for path in ("d", "new", "new/f", "d/b"):\n'
        f'    try: os.setxattr(path, "{prefix}{name}", b"{value}")\n'
        "    except OSError: pass'"
    )
    async with hostile.open() as workspace:
        assert (await hostile.run(workspace, script)).status == 0
        effects = await workspace.effects()
        deleted = [it.path for it in effects.items if it.kind == "delete"]
        assert deleted == []
        await workspace.commit(await workspace.plan())
    assert (hostile.work / "d" / "b").read_text() == "d/b\n"
    assert (hostile.work / "d" / "e" / "c").read_text() == "d/e/c\n"
    assert hostile.state().keys() - before.keys() == {b"work/new", b"work/new/f"}


async def test_a_device_like_a_whiteout_deletes_nothing(hostile: HostileSession) -> None:
    async with hostile.open() as workspace:
        await hostile.run(workspace, "mknod a2 c 0 0; rm -f d/b; mknod d/b c 0 0; mknod w c 0 0; mv -f w a")
        effects = await workspace.effects()
        assert {(Path(it.path).name, it.kind) for it in effects.items} <= {("b", "delete")}
        await workspace.commit(await workspace.plan())
    assert (hostile.work / "a").read_text() == "a\n"


async def test_a_fifo_in_the_layer_blocks_nobody(hostile: HostileSession) -> None:
    async with hostile.open() as workspace:
        await hostile.run(workspace, "mkfifo pipe; rm a; mkfifo a; rm -r d; mkfifo d")
        await workspace.effects()
        plan = await workspace.plan()
        assert not plan.conflicts
        result = await workspace.commit(plan)
        assert not result.failed
    assert all((hostile.work / name).is_fifo() for name in ("pipe", "a", "d"))


@pytest.mark.parametrize("link", ["d", "d/e"])
async def test_a_link_that_replaces_a_folder_before_the_commit_is_not_followed(
    link: str, hostile: HostileSession
) -> None:
    async with hostile.open() as workspace:
        await hostile.run(
            workspace, "echo new > d/e/new; echo more >> d/e/c; rm d/b; mkdir d/e/f; touch d/e/f/g"
        )
        plan = await workspace.plan()
        (hostile.work / link).rename(hostile.area / "moved")
        (hostile.work / link).symlink_to(hostile.area / "outside")
        (hostile.area / "outside" / "b").write_text("mine\n")
        (hostile.area / "outside" / "e").mkdir()
        before = read_tree(os.fsencode(hostile.area / "outside"), 0)
        result = await workspace.commit(plan)
        assert result.failed
    assert read_tree(os.fsencode(hostile.area / "outside"), 0) == before


async def test_links_swapped_during_the_commit_lead_nowhere(hostile: HostileSession) -> None:
    swap = (
        'while :; do mv -T "$1/d" "$1/../aside"; ln -s ../outside "$1/d"; '
        'rm "$1/d"; mv -T "$1/../aside" "$1/d"; done'
    )
    async with hostile.open() as workspace:
        await hostile.run(workspace, "for n in $(seq 300); do echo $n > d/e/new$n; echo $n > d/new$n; done")
        plan = await workspace.plan()
        swapping = subprocess.Popen(
            ["bash", "-c", swap, "swap", str(hostile.work)], stderr=subprocess.DEVNULL
        )
        try:
            await workspace.commit(plan)
        finally:
            swapping.send_signal(signal.SIGKILL)
            swapping.wait()
    assert sorted(it.name for it in (hostile.area / "outside").iterdir()) == ["secret"]


async def test_links_out_of_the_work_dir_are_committed_as_links(hostile: HostileSession) -> None:
    async with hostile.open() as workspace:
        await hostile.run(
            workspace,
            "rm -r d && ln -s ../outside d && ln -s ../outside/secret s && mkdir n && ln -s / n/root",
        )
        await workspace.commit(await workspace.plan())
    assert (hostile.work / "d").readlink() == Path("../outside")
    assert (hostile.work / "n" / "root").readlink() == Path("/")
    assert sorted(it.name for it in (hostile.area / "outside").iterdir()) == ["secret"]


async def test_names_of_any_bytes_are_committed(hostile: HostileSession) -> None:
    (hostile.work / "names").mkdir()
    script = f"""cd names; {PYTHON} 'for n in range(1, 256):
    if n not in b"/.": open(bytes([n]), "wb").write(bytes([n]))'"""
    async with hostile.open() as workspace:
        assert (await hostile.run(workspace, script)).status == 0
        result = await workspace.commit(await workspace.plan())
        assert not result.failed
    for name in (bytes([byte]) for byte in range(1, 256) if byte not in b"/."):
        assert (hostile.work / "names" / os.fsdecode(name)).read_bytes() == name


async def test_many_files_are_committed(hostile: HostileSession) -> None:
    async with hostile.open() as workspace:
        script = f"mkdir many && cd many && seq {MANY_FILES} | xargs touch && rm $(seq 1 2 200)"
        assert (await hostile.run(workspace, script)).status == 0
        plan = await workspace.plan()
        assert len(plan.items) == MANY_FILES - 100 + 1
        result = await workspace.commit(plan)
        assert not result.failed
    assert len(list((hostile.work / "many").iterdir())) == MANY_FILES - 100


async def test_a_command_that_kills_its_parent_ends_and_changes_nothing(hostile: HostileSession) -> None:
    before = hostile.state()
    async with hostile.open() as workspace:
        async with asyncio.timeout(60):
            with suppress(ShellUnavailable):  # the parent is killed before or after it has answered
                await hostile.run(workspace, "echo x > inside; kill -9 $PPID; sleep 60")
        assert hostile.state() == before
        await workspace.discard()
    assert hostile.state() == before
    async with hostile.open() as workspace:
        await hostile.run(workspace, "echo x > inside")
        await workspace.commit(await workspace.plan())
    assert (hostile.work / "inside").read_text() == "x\n"
