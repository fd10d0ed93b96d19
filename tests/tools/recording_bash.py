"""A real bash that runs no programs but records which ones it is asked to run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.timeouts import TEST_TIMEOUT_S


class RecordingBash:
    """Runs command lines in a bash that finds no programs, and returns the names it looked for."""

    def __init__(self, folder: Path) -> None:
        self._bash = shutil.which("bash") or pytest.skip("bash is not installed")
        self._log = folder / "log"
        self._folder = folder / "work"
        self._folder.mkdir()

    def executed_programs(self, text: str) -> set[str]:
        self._log.write_text("")
        recorder = '() { builtin printf \'%s\\0\' "$1" >> "$_LOG"; }'
        environment = {
            "PATH": "/nonexistent",
            "HOME": "/nonexistent",
            "_LOG": str(self._log),
            "BASH_FUNC_command_not_found_handle%%": recorder,
        }
        quiet = subprocess.DEVNULL
        subprocess.run(
            [self._bash, "-c", text],
            env=environment,
            cwd=self._folder,
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            timeout=TEST_TIMEOUT_S,
            check=False,
        )
        return {os.fsdecode(name) for name in self._log.read_bytes().split(b"\0")[:-1]}
