"""Where the commands of the corpus run: variables, programs, packages, and copies of the sample project."""

import os
import shutil
import stat
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.workspaces.corpus.corpus_command import CorpusCommand
from tests.workspaces.corpus.local_packages import write_local_packages
from tests.workspaces.corpus.sample_project import LONG_AGO_S, make_sample_project, set_old_times

_GIT_CONFIG = """[user]
name = Sample
email = sample@example.org
[core]
trustctime = false
checkStat = minimal
[gc]
auto = 0
cruftPacks = false
[maintenance]
auto = false
[pack]
threads = 1
[init]
defaultBranch = main
[protocol "file"]
allow = always
[safe]
directory = *
[advice]
detachedHead = false
"""


class RootSetup:
    """A shell that keeps the rights of root when this process gives them up."""

    def __init__(self) -> None:
        self._shell = subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def run(self, script: str, folder: Path) -> None:
        """Run a script in a folder."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"(cd '{folder}'; {script}) > /dev/null; echo done\n")
        self._shell.stdin.flush()
        self._shell.stdout.readline()

    def close(self) -> None:
        """End the shell."""
        self._shell.communicate()


class CorpusEnvironment:
    """Everything that a command of the corpus finds around it."""

    def __init__(self, root: Path, *, root_setup: RootSetup | None = None) -> None:
        """Prepare `root`, a new directory."""
        self.area = root / "area"
        """Parent of the project that commands run in."""
        self.project = self.area / "project"
        self.data_dir = root / "data"
        self._root = root
        self._prepared = root / "prepared"
        self.template = root / "template"
        """What is copied for each command."""
        self._root_setup = root_setup
        packages, programs, home = root / "packages", root / "bin", root / "home"
        write_local_packages(packages)
        for folder in (programs, home, root / "tmp"):
            folder.mkdir()
        (home / ".gitconfig").write_text(_GIT_CONFIG)
        _write_programs(programs)
        self.variables = {
            "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(home),
            "TMPDIR": str(root / "tmp"),
            "PACKAGES": str(packages),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "EDITOR": "true",
            "GIT_AUTHOR_DATE": f"{LONG_AGO_S} +0000",
            "GIT_COMMITTER_DATE": f"{LONG_AGO_S} +0000",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "SOURCE_DATE_EPOCH": str(LONG_AGO_S),
            "PYTHONHASHSEED": "0",
            "npm_config_cache": str(home / ".npm"),
        }
        (self.template / "project").mkdir(parents=True)
        make_sample_project(self.template / "project", self.variables)

    def missing(self, command: CorpusCommand) -> str:
        """Return what a command needs and isn't there."""
        if command.root_setup and os.geteuid() and self._root_setup is None:
            return "root"
        path = self.variables["PATH"]
        return next((name for name in command.needs if shutil.which(name, path=path) is None), "")

    def prepare(self, command: CorpusCommand) -> None:
        """Run the command's setup in a copy of the sample project, to be copied by `reset`."""
        self.remove(self._prepared)
        self.remove(self.area)
        _copy(self.template, self.area)
        if command.setup:
            subprocess.run(
                ["bash", "-c", command.setup],
                cwd=self.project,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        if command.root_setup:
            if self._root_setup is not None:
                self._root_setup.run(command.root_setup, self.project)
            else:
                subprocess.run(["bash", "-c", command.root_setup], cwd=self.project)
        set_old_times(self.area)
        self.area.rename(self._prepared)

    def reset(self) -> None:
        """Put a copy of what was prepared in place."""
        self.remove(self.area)
        if self._root_setup is not None:
            self._root_setup.run(f"cp -a --sparse=always '{self._prepared}' '{self.area}'", self._root)
        else:
            _copy(self._prepared, self.area)

    def remove(self, folder: Path) -> None:
        """Remove a folder, whatever the modes in it."""
        if self._root_setup is not None:
            self._root_setup.run(f"rm -rf '{folder}'", self._root)
        elif folder.exists():
            if os.geteuid():
                subprocess.run(["chmod", "-R", "u+rwx", str(folder)], stderr=subprocess.DEVNULL)
            subprocess.run(["rm", "-rf", str(folder)], check=True)


def _copy(source: Path, target: Path) -> None:
    """Copy a folder. For users other than root, what they can't read is readable meanwhile."""
    modes = _unreadable_modes(source) if os.geteuid() else {}
    subprocess.run(["cp", "-a", "--sparse=always", str(source), str(target)], check=True)
    for path, mode in reversed(modes.items()):
        for folder in (source, target):
            (folder / path).chmod(mode)


def _unreadable_modes(folder: Path) -> dict[Path, int]:
    """Make everything in a folder readable. Return the modes of what wasn't, parents first."""
    modes = {}
    todo = [folder]
    while todo:
        path = todo.pop()
        mode = path.lstat().st_mode
        needed = 0o500 if stat.S_ISDIR(mode) else 0o400 if stat.S_ISREG(mode) else 0
        if mode & needed != needed:
            path.chmod(stat.S_IMODE(mode) | needed)
            modes[path.relative_to(folder)] = stat.S_IMODE(mode)
        if stat.S_ISDIR(mode):
            todo += path.iterdir()
    return modes


def _write_programs(folder: Path) -> None:
    """Write `python3` and, if this Python has it, `pip`, for users who can't read this environment."""
    python = usable_python()
    for name in ("python3", "python"):
        _write_script(folder / name, f'exec {python} "$@"')
    try:
        import pip
    except ImportError:
        return
    shutil.copytree(
        Path(pip.__file__).parent, folder / "lib" / "pip", ignore=shutil.ignore_patterns("__pycache__")
    )
    _write_script(
        folder / "pip", f'PYTHONPATH={folder / "lib"} PYTHONDONTWRITEBYTECODE=1 exec {python} -m pip "$@"'
    )


def _write_script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


@cache
def usable_python() -> str:
    """Return a Python outside of virtual environments that every user can run."""
    base = str(Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}").resolve())
    for candidate in (base, "/usr/bin/python3", sys.executable):
        folders = [Path(candidate), *Path(candidate).parents]
        if all(it.exists() and it.stat().st_mode & 0o005 for it in folders):
            return candidate
    return sys.executable
