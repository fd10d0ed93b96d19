"""Print mode in front of an engine, on the process's own streams and signals."""

import asyncio
import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.interruption import Interruption
from kimi_tui.base.json_line import json_line
from kimi_tui.base.raw_input import RawInput
from kimi_tui.cli.combinations import check_combination
from kimi_tui.cli.command_line import CommandLine
from kimi_tui.cli.opening import Opening, read_config_for
from kimi_tui.cli.output_file import output_file
from kimi_tui.cli.places import places_of
from kimi_tui.cli.print_options import print_options
from kimi_tui.cli.signals import stopping_signals
from kimi_tui.config.language import language_in
from kimi_tui.config.loading import RawConfig
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.print_mode import run_print
from kimi_tui.headless.result import result_of_failure
from kimi_tui.language.saying import say, speak
from kimi_tui.wire.channel import Wire


def run_print_front(line: CommandLine) -> int:
    """Run and return the exit code. Raises what ended the run before it began; its result is out by then."""
    with ExitStack() as stack:
        try:
            check_combination(line)
            places = places_of(line)
            config = read_config_for(line, places)
            speak(language_in(config.data))
            options = print_options(line)
            stdin = stack.enter_context(input_of(line))
            stdout = stack.enter_context(_output(line))
        except KimiTuiError as error:
            _write_failure(line, error)
            raise
        remark_untrusted(config)
        opening = Opening(line=line, places=places, config=config, interactive=False)
        return asyncio.run(_run(opening, options, stdin, stdout))


async def _run(opening: Opening, options: PrintOptions, stdin: RawInput | None, stdout: io.FileIO) -> int:
    wire, interruption = Wire(), Interruption()
    with stopping_signals(interruption.stop, patience=2), own_stderr() as stderr:
        return await run_print(
            wire,
            options,
            start=partial(opening.serve, wire),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            interruption=interruption,
        )


def remark_untrusted(config: RawConfig) -> None:
    """Say on stderr which config of the project was left out, if one was."""
    if config.untrusted is not None and sys.stderr is not None:
        sys.stderr.write(
            say(
                "Ignored {file}, since you haven't said that you trust it."
                " Start kimi-tui here once in a terminal to look at it.",
                file=config.untrusted.name,
            )
            + "\n"
        )


@contextmanager
def input_of(line: CommandLine) -> Iterator[RawInput | None]:
    """The file of `--input`, else stdin unless it is a terminal."""
    if line.input is None:
        yield None if sys.stdin is None or sys.stdin.isatty() else RawInput(0)
        return
    try:
        file = line.input.expanduser().open("rb")
    except OSError as error:
        raise UsageError(
            f"--input {line.input} can't be read: {error.strerror}.", hint="Name a file that is there."
        ) from error
    with file:
        yield RawInput(file.fileno())


@contextmanager
def _output(line: CommandLine) -> Iterator[io.FileIO]:
    """The file of `--output`, there whole at the end; else stdout; unbuffered."""
    if line.output is not None:
        with output_file(line.output) as file:
            yield file
    elif sys.stdout is None:
        raise UsageError("Standard output is closed.", hint="Name a file to write to with -o.")
    else:
        yield io.FileIO(1, "w", closefd=False)


def own_stderr() -> io.FileIO:
    """Unbuffered; when the process was started without one, what is said there goes nowhere."""
    return io.FileIO(2, "w", closefd=False) if sys.stderr is not None else io.FileIO(os.devnull, "w")


def _write_failure(line: CommandLine, error: KimiTuiError) -> None:
    """The result of a run that didn't begin, where a program is waiting for one."""
    if sys.stdout is None or line.output_format in (None, "text"):
        return
    result = result_of_failure(error)
    sys.stdout.write(json_line({**result, "result": ""} if line.output_format == "json" else result))
