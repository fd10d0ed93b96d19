"""Child processes with a deadline, in process groups of their own."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.process_groups import register_group, unregister_group

_GRACE_S = 15.0
"""How long a process may take to end after SIGTERM."""
_TAIL = 4000


@frozen(kw_only=True)
class FinishedProcess:
    """Exit code and output of a child process."""

    exit_code: int
    timed_out: bool
    stdout: str
    stderr: str
    """Its end."""


def run_child(
    command: Sequence[str],
    *,
    work_dir: Path,
    environment: Mapping[str, str],
    timeout_s: float,
    merges_output: bool = False,
    on_start: Callable[[int], None] = lambda pid: None,
) -> FinishedProcess:
    """Run a command until it ends or times out, and kill everything that it left running. Raises OSError.

    Output goes to files, so that a process in the background can't block the end.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            _ending_with_parent(command),
            cwd=work_dir,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out if merges_output else err,
            start_new_session=True,
        )
        register_group(process.pid)
        try:
            on_start(process.pid)
            timed_out = not _wait(process, timeout_s)
        finally:
            kill_group(process.pid)
            process.wait()
            unregister_group(process.pid)
        out.seek(0)
        err.seek(max(0, err.seek(0, os.SEEK_END) - _TAIL))
        return FinishedProcess(
            exit_code=process.returncode,
            timed_out=timed_out,
            stdout=out.read().decode("utf-8", "replace"),
            stderr=err.read().decode("utf-8", "replace"),
        )


def _ending_with_parent(command: Sequence[str]) -> Sequence[str]:
    """Return a command that gets SIGTERM when the thread that starts it ends, where setpriv can do that.

    So nothing keeps running, and costing, when a driver or a Ray worker is killed.
    """
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    return (setpriv, "--pdeathsig", "TERM", *command) if setpriv else command


def _wait(process: "subprocess.Popen[bytes]", timeout_s: float) -> bool:
    """Return whether the process ended in time. Otherwise it gets SIGTERM and a grace period."""
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
        return False
    return True


def kill_group(group: int) -> None:
    """Kill a process group, if it still exists."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
