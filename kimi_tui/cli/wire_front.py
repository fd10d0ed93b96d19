"""The wire server in front of an engine, on the process's own pipes and signals."""

import asyncio
import io
import sys
from functools import partial

from kimi_tui import __version__
from kimi_tui.base.interruption import Interruption
from kimi_tui.base.raw_input import RawInput
from kimi_tui.cli.combinations import check_combination
from kimi_tui.cli.command_line import CommandLine
from kimi_tui.cli.opening import Opening, read_config_for
from kimi_tui.cli.pipes import own_pipes
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
    with own_pipes("--wire") as (stdin, stdout):
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
