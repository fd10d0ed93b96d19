"""The daemon in front of an engine, on the process's own pipes or a socket, and its signals."""

import asyncio
import io
import sys
from functools import partial

from kimi_tui.base.errors import UsageError
from kimi_tui.base.interruption import Interruption
from kimi_tui.base.output import Output
from kimi_tui.base.raw_input import RawInput
from kimi_tui.cli.combinations import check_combination
from kimi_tui.cli.command_line import CommandLine
from kimi_tui.cli.opening import Opening, read_config_for
from kimi_tui.cli.pipes import own_pipes
from kimi_tui.cli.places import places_of
from kimi_tui.cli.print_front import input_of, own_stderr, remark_untrusted
from kimi_tui.cli.print_options import print_options
from kimi_tui.cli.signals import stopping_signals
from kimi_tui.config.language import language_in
from kimi_tui.headless.client import Door, OwnPipes
from kimi_tui.headless.daemon import run_daemon
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.socket_door import listening
from kimi_tui.language.saying import speak
from kimi_tui.wire.channel import Wire


def run_daemon_front(line: CommandLine) -> int:
    """Serve and return the exit code. Raises KimiTuiError."""
    check_combination(line)
    places = places_of(line)
    config = read_config_for(line, places)
    speak(language_in(config.data))
    remark_untrusted(config)
    options = print_options(line)
    opening = Opening(line=line, places=places, config=config, interactive=False)
    if line.socket is not None:
        with listening(line.socket.expanduser().absolute()) as door:
            sys.stderr.write(f"Listening at {line.socket}.\n")
            return asyncio.run(_run(opening, options, door))
    with input_of(line) as given, own_pipes("--daemon") as (stdin, stdout):
        if given is None:
            raise UsageError(
                "A daemon reads its prompts from stdin, which is a terminal.",
                hint="Pipe them in, name a file with --input, or listen with --socket PATH.",
            )
        return asyncio.run(_on_pipes(opening, options, stdin if line.input is None else given, stdout))


async def _on_pipes(opening: Opening, options: PrintOptions, stdin: RawInput, stdout: io.FileIO) -> int:
    return await _run(opening, options, OwnPipes(stdin, Output(stdout)))


async def _run(opening: Opening, options: PrintOptions, door: Door) -> int:
    wire, interruption = Wire(), Interruption()
    with stopping_signals(interruption.stop), own_stderr() as stderr:
        return await run_daemon(
            wire,
            options,
            start=partial(opening.serve, wire),
            door=door,
            stderr=stderr,
            interruption=interruption,
        )
