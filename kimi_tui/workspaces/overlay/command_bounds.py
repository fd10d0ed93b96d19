"""Bounds of the commands in a workspace: runs them in bubblewrap, and reports what they tried."""

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from kimi_tui.workspaces.overlay.layer import Layer
from kimi_tui.workspaces.overlay.supervisor_client import CommandEnd, Observation
from kimi_tui.workspaces.run_report import RunReport, count_network_attempts
from kimi_tui.workspaces.sandbox.bubblewrap import bounded_command
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy


class CommandBounds:
    """Bounds of one workspace."""

    def __init__(
        self,
        program: str,
        policy: SandboxPolicy,
        *,
        layer: Layer,
        watched: Sequence[Path],
    ) -> None:
        """Create the bounds. `program` is bubblewrap's path, and `layer` is the workspace's.

        If a review comes before the commit, all of its roots are writable, since nothing reaches them before.
        """
        self._program = program
        roots = [Path(root) for root in layer.roots]
        self._policy = policy.with_roots(roots) if policy.is_reviewed else policy
        self._layer = layer
        self._watched = tuple(watched)
        self._names = tuple(map(str, watched))
        self._other_names: dict[str, str] = {}

    @property
    def temp(self) -> Path:
        """The directory for temporary files of commands."""
        return self._policy.temp

    def wrap_command(self, argv: Sequence[str], cwd: Path) -> tuple[list[str], Observation]:
        """Return the program and arguments that run a command within the bounds, and what to observe of it.

        Blocks.
        """
        if self._has_split_links:
            self._other_names = _find_other_names(self._names, self._layer.roots)
        observation = Observation(
            is_offline=not self._policy.network, watched=(*self._names, *self._other_names)
        )
        return bounded_command(self._program, self._policy, argv, cwd=cwd), observation

    def filter_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of `environment` that commands may see."""
        return self._policy.filter_environment(environment)

    def build_report(self, end: CommandEnd, status: int) -> RunReport:
        """Return what a command did that ended with `status`. Blocks."""
        names = (*self._names, *self._other_names.values())
        opened = {names[index] for index in end.opened}
        if self._has_split_links:
            opened |= {name for name in self._names if self._is_in_layer(name)}
        return RunReport(
            n_network_attempts=count_network_attempts(end.network, status),
            opened=tuple(path for path in self._watched if str(path) in opened),
        )

    @property
    def _has_split_links(self) -> bool:
        """Whether overlayfs treats each name of a file as a file of its own, as it does without an index.

        Then opening another name, old or new, isn't observed.
        """
        return self._layer.mode == "user"

    def _is_in_layer(self, name: str) -> bool:
        """Return whether a file was changed, removed, renamed, or linked to another name."""
        views = [view for view in self._layer.views() if name.startswith(f"{view.root}/")]
        if not views:
            return False
        path = views[-1].upper
        for part in name[len(views[-1].root) + 1 :].split("/"):
            path = f"{path}/{part}"
            try:
                mode = os.lstat(path).st_mode
            except OSError:
                return False
            if not stat.S_ISDIR(mode):
                return True  # also a parent that was removed
        return False


def written_folders(layer: Layer, bounds: CommandBounds | None) -> list[str]:
    """Return the directories that commands in a workspace write to, instead of the real ones."""
    temp = [str(bounds.temp)] if bounds is not None else []
    return [layer.folder, *temp]


def _find_other_names(names: Sequence[str], roots: Sequence[str]) -> dict[str, str]:
    """Return further names below `roots` of the files `names`, each with the one it is a name of."""
    linked: dict[tuple[int, int], str] = {}
    for name in names:
        try:
            info = os.stat(name)
        except OSError:
            continue
        if info.st_nlink > 1:
            linked[info.st_dev, info.st_ino] = name
    if not linked:
        return {}
    inodes = {inode for _, inode in linked}
    found: dict[str, str] = {}
    waiting = list(roots)
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.inode() in inodes:
                        info = os.lstat(entry.path)
                        name = linked.get((info.st_dev, info.st_ino), entry.path)
                        if name != entry.path:
                            found[entry.path] = name
        except OSError:
            continue
    return found
