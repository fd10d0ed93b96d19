"""A real bash in a temporary directory, with stub programs that only log their arguments."""

import os
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

_STUBS = ("cat", "evil", "find", "git", "grep", "ls", "make", "npm", "python", "sed", "sort", "touch")
_REAL = ("bash", "env", "nice", "nohup", "sh", "timeout", "xargs")
"""Programs that run other programs."""
_PLANTED = ("cat", "evil", "git", "grep", "ls")
_VARIABLE_RUNNERS = ("make", "npm")
"""Programs that a project's files can make run any variable: `$(cc)`, `$DEBUG`. They then log `obeys`."""
_HARMLESS = (
    "^(PATH|HOME|PWD|OLDPWD|SHLVL|_|CI|COLUMNS|DEBUG|LANG|LINES|TERM|TZ|VERBOSE|LC_[A-Z]+)"
    "=[a-zA-Z0-9_.,:/@%+=*-]*$"
)
_END = b"\x01\0"


@dataclass(frozen=True, slots=True)
class BashEffects:
    """Effects of a command line."""

    calls: tuple[tuple[str, ...], ...]
    """Programs that ran, with their arguments. A program planted in the working directory is `planted`."""
    changed: tuple[str, ...]
    """Files created, changed or removed outside of the directory `fine`."""


class SandboxedBash:
    """Runs command lines in `work_dir`, with planted programs in directories named `evil` and `0` to `9`."""

    def __init__(self, folder: Path) -> None:
        self._bash = shutil.which("bash") or pytest.skip("bash isn't installed")
        self._programs = folder / "bin"
        self._programs.mkdir()
        self._log = folder / "log"
        self.work_dir = folder / "work"
        for name in _STUBS:
            self._write_program(self._programs / name, name)
        self._planted = folder / "planted"
        self._planted.mkdir()
        for name in _PLANTED:
            self._write_program(self._planted / name, "planted")
        for name in _REAL:
            if real := shutil.which(name):
                (self._programs / name).symlink_to(real)
        self.reset()

    def run(self, text: str) -> BashEffects:
        """Run `text` in a fresh working directory and return its effects."""
        self.reset()
        self._log.write_bytes(b"")
        before = self._files()
        quiet = subprocess.DEVNULL
        with suppress(subprocess.TimeoutExpired):  # it waits for input or a process
            subprocess.run(
                [self._bash, "-c", text],
                env={"PATH": str(self._programs), "HOME": str(self.work_dir / "fine")},
                cwd=self.work_dir,
                stdin=quiet,
                stdout=quiet,
                stderr=quiet,
                timeout=10,
                check=False,
            )
        calls = [call.split(b"\0")[:-1] for call in self._log.read_bytes().split(_END) if call]
        after = self._files()
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        return BashEffects(tuple(tuple(map(os.fsdecode, call)) for call in calls), tuple(changed))

    def reset(self) -> None:
        """Restore the initial working directory."""
        shutil.rmtree(self.work_dir, ignore_errors=True)
        (self.work_dir / "fine").mkdir(parents=True)
        for folder in ("evil", *map(str, range(10))):
            (self.work_dir / folder).symlink_to(self._planted)
        (self.work_dir / "evil.sh").write_text("evil\n")
        for name in ("a", "-v", "ls;evil"):
            (self.work_dir / name).write_text("a\n")

    def _write_program(self, path: Path, name: str) -> None:
        text = f"#!/bin/sh\nprintf '%s\\0' '{name}' \"$@\" '\x01' >> {self._log}\n"
        if name in _VARIABLE_RUNNERS:
            text += (
                f"/usr/bin/env | /bin/grep -qvE '{_HARMLESS}' && printf '%s\\0' obeys '\x01' >> {self._log}\n"
            )
        path.write_text(text)
        path.chmod(0o700)

    def _files(self) -> dict[str, bytes]:
        paths = (path for path in self.work_dir.rglob("*") if "fine" not in path.parts)
        return {
            str(path.relative_to(self.work_dir)): path.read_bytes() if path.is_file() else b""
            for path in paths
        }
