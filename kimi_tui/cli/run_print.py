"""Print mode on the process's streams and signals."""

import asyncio
import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.json_lines import dump_json_line
from kimi_tui.base.message_text import msg
from kimi_tui.base.raw_input import RawInput
from kimi_tui.cli.bootstrap import EngineSetup, read_config_for
from kimi_tui.cli.option_conflicts import check_conflicts
from kimi_tui.cli.options import CliOptions
from kimi_tui.cli.output_file import output_file
from kimi_tui.cli.print_options import to_print_options
from kimi_tui.cli.run_paths import resolve_paths
from kimi_tui.cli.signals import stopping_signals
from kimi_tui.config.language_setting import language_setting
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.print_mode import run_print
from kimi_tui.headless.run_result import build_failure_result
from kimi_tui.i18n.translate import set_language
from kimi_tui.wire.channel import Wire


def run_print_mode(cli_options: CliOptions) -> int:
    """Run and return the exit code. Raises errors that occur before the run starts, after writing their
    result.
    """
    with ExitStack() as stack:
        try:
            check_conflicts(cli_options)
            paths = resolve_paths(cli_options)
            config = read_config_for(cli_options, paths)
            set_language(language_setting(config.data))
            options = to_print_options(cli_options)
            stdin = stack.enter_context(open_input(cli_options))
            stdout = stack.enter_context(_open_output(cli_options))
        except KimiTuiError as error:
            _write_failure(cli_options, error)
            raise
        setup = EngineSetup(
            cli_options=cli_options,
            paths=paths,
            config=config,
            interactive=False,
            generates_title=False,
            runs_checks=False,
        )
        return asyncio.run(_run(setup, options, stdin, stdout))


async def _run(setup: EngineSetup, options: PrintOptions, stdin: RawInput | None, stdout: io.FileIO) -> int:
    wire, interruption = Wire(), ProcessInterrupt()
    with stopping_signals(interruption.request_stop, max_signals=2), raw_stderr() as stderr:
        return await run_print(
            wire,
            options,
            start=partial(setup.serve, wire),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            interruption=interruption,
        )


@contextmanager
def open_input(cli_options: CliOptions) -> Iterator[RawInput | None]:
    """Yield the file of `--input`, or stdin; None if stdin is a terminal or closed."""
    if cli_options.input is None:
        yield None if sys.stdin is None or sys.stdin.isatty() else RawInput(0)
        return
    try:
        file = cli_options.input.expanduser().open("rb")
    except OSError as error:
        raise UsageError(
            msg("Can't read --input {path}: {reason}.", path=cli_options.input, reason=error.strerror),
            hint="Choose a readable file.",
        ) from error
    with file:
        yield RawInput(file.fileno())


@contextmanager
def _open_output(cli_options: CliOptions) -> Iterator[io.FileIO]:
    """Yield the file of `--output`, complete only at the end, or unbuffered stdout."""
    if cli_options.output is not None:
        with output_file(cli_options.output) as file:
            yield file
    elif sys.stdout is None:
        raise UsageError("Standard output is closed.", hint="Use -o FILE to write to a file.")
    else:
        yield io.FileIO(1, "w", closefd=False)


def raw_stderr() -> io.FileIO:
    """Return stderr, unbuffered, or the null device if the process was started without one."""
    return io.FileIO(2, "w", closefd=False) if sys.stderr is not None else io.FileIO(os.devnull, "w")


def _write_failure(cli_options: CliOptions, error: KimiTuiError) -> None:
    """Write the result of a run that couldn't start, if the output format is for programs."""
    if sys.stdout is None or cli_options.output_format in (None, "text"):
        return
    result = build_failure_result(error)
    sys.stdout.write(
        dump_json_line({**result, "result": ""} if cli_options.output_format == "json" else result)
    )
