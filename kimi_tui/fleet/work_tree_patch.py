"""Patch of everything that changed in a directory, computed with a git repository outside of it."""

import os
import shutil
import subprocess
from pathlib import Path

from kimi_tui.base.child_environment import helper_environment

_TIMEOUT_S = 600
_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.looseCompression=0",  # the repository is temporary
    "core.fsync=none",
    "gc.auto=0",
    "core.quotePath=false",
    "safe.directory=*",
)


class WorkTreePatch:
    """Records the files of a directory, and later compares them. Files in its .gitignore don't count.

    The methods raise OSError and subprocess.SubprocessError. Without git, the patch is empty.
    """

    def __init__(self, work_dir: Path, git_dir: Path) -> None:
        self._work_dir = work_dir
        self._git_dir = git_dir
        self._git = shutil.which("git")
        self._before = ""

    def record(self) -> None:
        """Record the files before the agent starts."""
        if self._git is not None:
            self._run("init", "--quiet", "--template=")
            self._before = self._write_tree()

    def compute(self) -> str:
        """Return the changes since `record`."""
        if not self._before:
            return ""
        after = self._write_tree()
        if after == self._before:
            return ""
        return self._run(
            "diff", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", self._before, after
        )

    def _write_tree(self) -> str:
        self._run("add", "--all", ".")
        return self._run("write-tree").strip()

    def _run(self, *arguments: str) -> str:
        assert self._git is not None
        settings = [option for setting in _SETTINGS for option in ("-c", setting)]
        finished = subprocess.run(
            [self._git, *settings, *arguments],
            cwd=self._work_dir,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
        return finished.stdout.decode("utf-8", "surrogateescape")

    def _environment(self) -> dict[str, str]:
        return {
            **helper_environment(),
            "GIT_DIR": str(self._git_dir),
            "GIT_WORK_TREE": str(self._work_dir),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }
