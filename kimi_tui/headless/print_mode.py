"""Print mode: runs from the first prompt to the result (`docs/headless.md`)."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.message_text import msg
from kimi_tui.base.output_stream import OutputStream, RawStream
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.printer_factory import create_printer
from kimi_tui.headless.prompt_input import ByteReader, read_prompts
from kimi_tui.headless.run_result import RunOutcome, build_result, determine_outcome
from kimi_tui.headless.run_stats import RunStats
from kimi_tui.headless.stderr_notices import StderrNotices
from kimi_tui.headless.turn_runner import TurnRunner, internal_error
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Shutdown

logger = logging.getLogger(__name__)

CLOSE_TIMEOUT_S = 10.0
"""How long the engine may take to stop and save."""
DRAIN_TIMEOUT_S = 1.0
"""How long to wait for unread output after the run was stopped. For stderr, this applies always."""
STDIN_HINT_DELAY_S = 3.0
"""How long to wait for stdin before printing a hint."""


async def run_print(
    wire: Wire,
    options: PrintOptions,
    *,
    start: Callable[[], Awaitable[None]],
    stdin: ByteReader | None,
    stdout: RawStream,
    stderr: RawStream,
    interruption: ProcessInterrupt,
) -> int:
    """Run to the end. Return the exit code.

    `start` opens an engine behind `wire` and serves it until Shutdown. An error that it raises becomes the
    result. `stdin` is None if it is a terminal.
    """
    run = _PrintRun(wire, options, OutputStream(stdout), OutputStream(stderr), interruption)
    return await run.run(start, stdin)


class _PrintRun:
    """A run of print mode."""

    def __init__(
        self,
        wire: Wire,
        options: PrintOptions,
        out: OutputStream,
        err: OutputStream,
        interruption: ProcessInterrupt,
    ) -> None:
        self._wire = wire
        self._options = options
        self._out = out
        self._err = err
        self._interruption = interruption
        self._notices = StderrNotices(err)
        self._printer = create_printer(options, out, self._notices)
        self._stats = RunStats()
        self._turn_runner = TurnRunner(
            wire=wire, printer=self._printer, stats=self._stats, schema=options.schema
        )
        self._started_at = time.monotonic()

    async def run(self, start: Callable[[], Awaitable[None]], stdin: ByteReader | None) -> int:
        """Run the conversation and write the result. Return the exit code."""
        processing = self._turn_runner.process_events(self._wire.subscribe(live_only=True))
        async with asyncio.TaskGroup() as group:
            event_task = group.create_task(processing)
            engine_task = group.create_task(self._serve(start))
            prompt_task = group.create_task(self._turn_runner.run_prompts(read_prompts(self._options, stdin)))
            hint_task = group.create_task(self._show_stdin_hint(stdin))
            stop_tasks = [
                group.create_task(waiting) for waiting in (self._interruption.wait(), self._out.broken.wait())
            ]
            await asyncio.wait([engine_task, prompt_task, *stop_tasks], return_when=asyncio.FIRST_COMPLETED)
            stopped = any(task.done() for task in stop_tasks)
            for task in (prompt_task, hint_task, *stop_tasks):
                task.cancel()
            await self._shut_down(engine_task)
            if stopped:
                await asyncio.wait([event_task], timeout=DRAIN_TIMEOUT_S)
                event_task.cancel()
        return await self._finish(stopped=stopped)

    async def _serve(self, start: Callable[[], Awaitable[None]]) -> None:
        """Start and serve the engine once there is a prompt."""
        try:
            await self._turn_runner.has_prompts.wait()
            await start()
        except KimiTuiError as error:
            self._stats.fail(error)
        except Exception as error:
            logger.exception("the engine failed")
            self._stats.fail(internal_error(error))
        finally:
            self._wire.close()

    async def _shut_down(self, engine_task: asyncio.Task[None]) -> None:
        if self._turn_runner.has_prompts.is_set():
            self._wire.command(Shutdown())
            repeat_task = asyncio.ensure_future(self._interruption.wait_for_repeat())
            await asyncio.wait(
                [engine_task, repeat_task], timeout=CLOSE_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED
            )
            repeat_task.cancel()
        engine_task.cancel()

    async def _show_stdin_hint(self, stdin: ByteReader | None) -> None:
        if stdin is not None:
            await asyncio.sleep(STDIN_HINT_DELAY_S)
            if not self._turn_runner.has_prompts.is_set():
                await self._notices.write_line(
                    "Waiting for standard input to end. Use `< /dev/null` if there is no input."
                )

    async def _finish(self, *, stopped: bool) -> int:
        duration_s = time.monotonic() - self._started_at
        await self._printer.finish(build_result(self._stats, self._run_outcome(), duration_s=duration_s))
        await self._drain_output(stopped=stopped)
        outcome = self._run_outcome()  # again: a signal or a full disk may have cut off the output
        if self._stats.error is not None and self._interruption.signal_number is None:
            await self._notices.report_failure(self._stats.error)
        await self._err.close(within_s=DRAIN_TIMEOUT_S)
        return outcome.exit_code

    async def _drain_output(self, *, stopped: bool) -> None:
        """Wait until all output has been read, without a limit unless the run is stopped."""
        async with asyncio.TaskGroup() as group:
            close_task = group.create_task(self._out.close())
            stop_task = group.create_task(
                asyncio.sleep(DRAIN_TIMEOUT_S) if stopped else self._interruption.wait()
            )
            await asyncio.wait([close_task, stop_task], return_when=asyncio.FIRST_COMPLETED)
            close_task.cancel()
            stop_task.cancel()

    def _run_outcome(self) -> RunOutcome:
        error = self._out.error
        output_closed = isinstance(error, BrokenPipeError)
        if error is not None and not output_closed:
            what = msg("Can't write the output: {reason}.", reason=error.strerror or error)
            self._stats.fail(KimiTuiError(what, hint="Free some disk space, or choose another file with -o."))
        return determine_outcome(
            self._stats,
            signal_number=self._interruption.signal_number,
            output_closed=output_closed,
            allow_denials=self._options.allow_denials,
        )
