"""The program in a pseudo-terminal, forked from the zygote and controlled by pexpect."""

import os
import pty
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pexpect
from ptyprocess.ptyprocess import PtyProcess

from tests.e2e.zygote import ForkedProcess


class ForkedSpawn(pexpect.spawn):
    """`pexpect.spawn` of `kimi-tui` whose process comes from the zygote."""

    def __init__(self, *arguments: Any, umask: int = 0o022, **options: Any) -> None:
        self._umask = umask
        super().__init__(*arguments, **options)

    def kill(self, sig: int) -> None:
        """Send a signal. Do nothing if the process has ended and the zygote hasn't reported it yet."""
        with suppress(ProcessLookupError):
            super().kill(sig)

    def _spawnpty(self, args: Sequence[str | bytes], **options: Any) -> "_Session":
        arguments = [os.fsdecode(argument) for argument in args[1:]]
        return _Session(
            arguments, options["env"], Path(options["cwd"]), options["dimensions"], umask=self._umask
        )


class _Session(PtyProcess):  # type: ignore[misc]
    """Session leader in a pseudo-terminal. It isn't our child process, so the zygote reports its exit
    status.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        dimensions: tuple[int, int],
        *,
        umask: int,
    ) -> None:
        parent_fd, child_fd = pty.openpty()
        os.set_inheritable(parent_fd, False)
        super().__init__(None, parent_fd)
        self.setwinsize(*dimensions)
        self._process = ForkedProcess(
            arguments,
            cwd=cwd,
            env=env,
            stdin=child_fd,
            stdout=child_fd,
            stderr=child_fd,
            umask=umask,
            leads_session=True,
        )
        os.close(child_fd)
        self.pid = self._process.pid

    def isalive(self) -> bool:
        if self.terminated:
            return False
        return self._record_exit(self._process.poll()) is None

    def wait(self) -> int | None:
        self._record_exit(self._process.wait())
        return self.exitstatus

    def _record_exit(self, status: int | None) -> int | None:
        if status is not None:
            self.terminated = True
            self.status = status if status < 0 else status << 8
            self.exitstatus = status if status >= 0 else None
            self.signalstatus = signal.Signals(-status).value if status < 0 else None
        return status
