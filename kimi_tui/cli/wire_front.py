"""The wire server in front of an engine, on the process's own pipes and signals."""

import asyncio
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from kimi_tui import __version__
from kimi_tui.base.errors import UsageError
from kimi_tui.base.interruption import Interruption
from kimi_tui.base.raw_input import RawInput
from kimi_tui.cli.combinations import check_combination
from kimi_tui.cli.command_line import CommandLine
from kimi_tui.cli.opening import Opening, read_config_for
from kimi_tui.cli.places import places_of
from kimi_tui.cli.signals import stopping_signals
from kimi_tui.wire.channel import Wire
from kimi_tui.wireserver.running import run_wire_server


def run_wire_front(line: CommandLine) -> int:
    """Serve and return the exit code. Raises KimiTuiError."""
    check_combination(line)
    places = places_of(line)
    config = read_config_for(line, places)
    if config.untrusted is not None:
        sys.stderr.write(
            f"Ignored {config.untrusted.name}, since you haven't said that you trust it."
            " Start kimi-tui here once in a terminal to look at it.\n"
        )
    opening = Opening(line=line, places=places, config=config, interactive=False)
    with _own_pipes() as (stdin, stdout):
        return asyncio.run(_run(opening, stdin, stdout))


async def _run(opening: Opening, stdin: RawInput, stdout: io.FileIO) -> int:
    wire, interruption = Wire(), Interruption()
    with stopping_signals(interruption.stop):
        return await run_wire_server(
            wire,
            version=__version__,
            start=partial(opening.serve, wire),
            stdin=stdin,
            stdout=stdout,
            interruption=interruption,
        )


@contextmanager
def _own_pipes() -> Iterator[tuple[RawInput, io.FileIO]]:
    """The client's pipes, out of everybody else's reach.

    What a library or a child process prints goes to stderr, and one that reads finds nothing. The end that is
    read from stays open: a thread may still read from it. Raises UsageError.
    """
    if sys.stdin is None or sys.stdout is None:
        raise UsageError(
            "Standard input or output is closed.", hint="Start kimi-tui --wire with a pipe on both."
        )
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2 if sys.stderr is not None else nothing, 1)
    os.close(nothing)
    with io.FileIO(outgoing, "w") as stdout:
        yield RawInput(incoming), stdout
