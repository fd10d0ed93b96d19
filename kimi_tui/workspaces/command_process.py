"""Processes of commands, and how to start one."""

import asyncio
from asyncio.subprocess import DEVNULL
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol


class CommandProcess(Protocol):
    """A running command, which leads a session and a process group of its own."""

    @property
    def pid(self) -> int:
        """Its process and group, as this process sees them."""
        ...

    @property
    def returncode(self) -> int | None:
        """The exit status, or the negative number of the signal; None before the end has been noticed."""
        ...

    async def wait(self) -> int:
        """Wait for the end and return `returncode`."""
        ...


class ProcessStarter(Protocol):
    """Starts commands."""

    async def start_process(
        self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: int
    ) -> CommandProcess:
        """Start a program without input whose output and errors go to the descriptor `output`.

        Raises OSError, and ValueError for a zero byte in an argument.
        """
        ...


class DirectStarter:
    """Starts commands as children of this process."""

    async def start_process(
        self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: int
    ) -> CommandProcess:
        """Implement `ProcessStarter.start_process`."""
        return await asyncio.create_subprocess_exec(
            *argv,
            stdin=DEVNULL,
            stdout=output,
            stderr=output,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
