"""A process that a run of the program left behind."""

import os
import subprocess
import time
from pathlib import Path

from kimi_tui.tools.shell.orphans import MARK


def left_behind(mark: str) -> "subprocess.Popen[bytes]":
    """A process that carries `mark` and leads a group of its own; the system tells of both."""
    process = subprocess.Popen(["sleep", "300"], start_new_session=True, env={**os.environ, MARK: mark})
    while mark.encode() not in Path(f"/proc/{process.pid}/environ").read_bytes():
        time.sleep(0.001)  # the system says that a program runs a moment before its environment can be read
    return process
