"""The program in a pseudo-terminal, forked from the zygote, under pexpect."""

import os
import pty
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pexpect
from ptyprocess.ptyprocess import PtyProcess

from tests.e2e.zygote import Offspring


class ForkedSpawn(pexpect.spawn):
    """`pexpect.spawn` of `kimi-tui` whose process comes from the zygote."""

    def __init__(self, *arguments: Any, umask: int = 0o022, **options: Any) -> None:
        self._umask = umask
        super().__init__(*arguments, **options)

    def _spawnpty(self, args: Sequence[str | bytes], **options: Any) -> "_Session":
        arguments = [os.fsdecode(argument) for argument in args[1:]]
        return _Session(
            arguments, options["env"], Path(options["cwd"]), options["dimensions"], umask=self._umask
        )


class _Session(PtyProcess):  # type: ignore[misc]
    """A process that leads a session of its own; it is no child of ours, so the zygote tells how it ended."""

    def __init__(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        dimensions: tuple[int, int],
        *,
        umask: int,
    ) -> None:
        ours, theirs = pty.openpty()
        os.set_inheritable(ours, False)
        super().__init__(None, ours)
        self.setwinsize(*dimensions)
        self._offspring = Offspring(
            arguments,
            cwd=cwd,
            env=env,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            umask=umask,
            leads_session=True,
        )
        os.close(theirs)
        self.pid = self._offspring.pid

    def isalive(self) -> bool:
        if self.terminated:
            return False
        return self._seen(self._offspring.poll()) is None

    def wait(self) -> int | None:
        self._seen(self._offspring.wait())
        return self.exitstatus

    def _seen(self, status: int | None) -> int | None:
        if status is not None:
            self.terminated = True
            self.status = status if status < 0 else status << 8
            self.exitstatus = status if status >= 0 else None
            self.signalstatus = signal.Signals(-status).value if status < 0 else None
        return status
