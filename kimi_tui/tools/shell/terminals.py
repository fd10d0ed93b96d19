"""Terminals in which the user watches commands run, outside of the program."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from kimi_tui.tools.shell.process import Exit


class Terminals(Protocol):
    """A program that runs commands for us, such as an editor."""

    async def run(
        self,
        command: str,
        *,
        call_id: str,
        work_dir: Path,
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Exit | None:
        """Run `command`, which the tool call `call_id` asks for, to its end and hand on its output.

        None when there is no terminal for it: then nothing was run. A time-out or a cancellation ends it.
        """
        ...


class NoTerminals:
    """Commands are processes of the program's own."""

    async def run(
        self,
        command: str,
        *,
        call_id: str,
        work_dir: Path,
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Exit | None:
        """Nowhere."""
        return None


NO_TERMINALS = NoTerminals()
