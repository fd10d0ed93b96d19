"""A real bash that runs nothing and tells what it was asked to run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S


class TellTaleBash:
    """Runs command lines in a bash that knows no program, and tells which ones it was asked for."""

    def __init__(self, folder: Path) -> None:
        self._bash = shutil.which("bash") or pytest.skip("bash is not there")
        self._log = folder / "log"
        self._folder = folder / "work"
        self._folder.mkdir()

    def programs(self, text: str) -> set[str]:
        self._log.write_text("")
        teller = '() { builtin printf \'%s\\0\' "$1" >> "$_LOG"; }'
        environment = {
            "PATH": "/nonexistent",
            "HOME": "/nonexistent",
            "_LOG": str(self._log),
            "BASH_FUNC_command_not_found_handle%%": teller,
        }
        quiet = subprocess.DEVNULL
        subprocess.run(
            [self._bash, "-c", text],
            env=environment,
            cwd=self._folder,
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            timeout=PATIENCE_S,
            check=False,
        )
        return {os.fsdecode(name) for name in self._log.read_bytes().split(b"\0")[:-1]}
