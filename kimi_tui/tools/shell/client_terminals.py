"""Interface to terminals of a client, in which the user watches commands run."""

from pathlib import Path
from typing import Protocol

from kimi_tui.tools.shell.output_pipe import OutputReceiver
from kimi_tui.tools.shell.shell import ExitStatus


class Terminals(Protocol):
    """Runs commands in a client's terminals, such as those of an editor."""

    @property
    def is_available(self) -> bool:
        """Whether the client has terminals."""
        ...

    async def run(
        self,
        command: str,
        *,
        call_id: str,
        work_dir: Path,
        timeout_s: float,
        output: OutputReceiver,
    ) -> ExitStatus | None:
        """Run `command` for the tool call `call_id` and pass on its output.

        Return None if no terminal is available; then nothing was run. A timeout or a cancellation ends the
        command.
        """
        ...


class NoTerminals:
    """Stands for the absence of terminals: commands are processes of this program."""

    is_available = False

    async def run(
        self,
        command: str,
        *,
        call_id: str,
        work_dir: Path,
        timeout_s: float,
        output: OutputReceiver,
    ) -> ExitStatus | None:
        """Return None: nothing is run."""
        return None


NO_TERMINALS = NoTerminals()
