"""Runs commands in workspaces, as the Bash tool does, and compares directories."""

import os
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.tools.shell.shell import ExitStatus, Shell
from kimi_tui.workspaces.open_record import WorkspaceOwner
from kimi_tui.workspaces.overlay.supervisor_client import Mode
from kimi_tui.workspaces.workspace import Workspace
from kimi_tui.workspaces.workspaces import Workspaces
from tests.timeouts import TEST_TIMEOUT_S
from tests.tools.command_output_recorder import CommandOutputRecorder

OWNER = WorkspaceOwner(author=ChangeAuthor(who="call", session="s", call="c", command="test"))


@dataclass
class Ran:
    """What a command printed, and how it ended."""

    exit: ExitStatus
    output: str


class WorkspaceEnv:
    """A work dir, and the workspaces that cover it."""

    def __init__(self, folder: Path, mode: Mode) -> None:
        self.folder = folder
        self.mode = mode
        self.work = folder / "work"
        self.work.mkdir()
        self.data = folder / "data"
        self.workspaces = Workspaces(self.data, modes=(mode,))
        self.shell = Shell()

    async def run(self, workspace: Workspace, command: str, *, cwd: Path | None = None) -> Ran:
        output = CommandOutputRecorder()
        exit_ = await self.shell.run(
            command, work_dir=cwd or self.work, timeout_s=TEST_TIMEOUT_S, output=output, starter=workspace
        )
        return Ran(exit_, output.data.decode("utf-8", "surrogateescape"))

    async def commit(self, command: str) -> Ran:
        """Run `command` in a workspace and commit all of its effects, which must not conflict."""
        async with self.workspaces.open(self.work, owner=OWNER) as workspace:
            assert workspace.is_private, self.workspaces.problem
            ran = await self.run(workspace, command)
            assert await workspace.finish(ran.output) == ""
            plan = await workspace.plan()
            assert plan.conflicts == ()
            result = await workspace.commit(plan)
            assert result.failed == {}
        return ran


@dataclass(frozen=True)
class TreeEntry:
    """Everything about a path that a user could notice."""

    mode: int
    content: bytes
    owner: tuple[int, int]
    mtime_ns: int
    attributes: Mapping[str, bytes]
    names: tuple[str, ...]
    """All names of the same file."""


def read_tree(root: Path, *, times: bool = False) -> dict[str, TreeEntry]:
    """Return all entries below `root` by path; with `times`, also the mtimes of files."""
    found: dict[str, os.stat_result] = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = f"{folder}/{name}"
            found[os.path.relpath(path, root)] = os.lstat(path)
    names: dict[int, list[str]] = {}
    for path, info in found.items():
        if not stat.S_ISDIR(info.st_mode):
            names.setdefault(info.st_ino, []).append(path)
    return {
        path: TreeEntry(
            info.st_mode,
            _content(root / path, info),
            (info.st_uid, info.st_gid),
            info.st_mtime_ns if times and not stat.S_ISDIR(info.st_mode) else 0,
            {name: os.getxattr(root / path, name) for name in os.listxattr(root / path)}
            if stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)
            else {},
            tuple(sorted(names.get(info.st_ino, ()))),
        )
        for path, info in sorted(found.items())
    }


def _content(path: Path, info: os.stat_result) -> bytes:
    if stat.S_ISLNK(info.st_mode):
        return os.fsencode(path.readlink())
    if stat.S_ISREG(info.st_mode):
        return path.read_bytes()
    return b""


def copy_tree(source: Path, target: Path) -> None:
    """Copy a tree with everything that `read_tree` compares, except owners."""
    shutil.copytree(source, target, symlinks=True, copy_function=shutil.copy2)
