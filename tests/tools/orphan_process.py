"""A process left behind by an earlier run of the program."""

import os
import subprocess
import time
from pathlib import Path

from kimi_tui.tools.shell.orphan_processes import MARKER_VARIABLE


def start_orphan(marker: str) -> "subprocess.Popen[bytes]":
    """Start a process that carries `marker` and leads its own group, and wait until the system shows both."""
    process = subprocess.Popen(
        ["sleep", "300"], start_new_session=True, env={**os.environ, MARKER_VARIABLE: marker}
    )
    while marker.encode() not in Path(f"/proc/{process.pid}/environ").read_bytes():
        time.sleep(0.001)  # the environment becomes readable shortly after the process has started
    return process
