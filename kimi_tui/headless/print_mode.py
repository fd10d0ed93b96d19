"""Print mode: one run from its first prompt to its result (`docs/headless.md`)."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.interruption import Interruption
from kimi_tui.base.output import ByteStream, Output
from kimi_tui.headless.conversation import Conversation, internal_error
from kimi_tui.headless.input import ByteReader, prompts
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.printers import printer_of
from kimi_tui.headless.remarks import Remarks
from kimi_tui.headless.result import Ending, ending_of, result_of
from kimi_tui.headless.tally import Tally
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Shutdown

logger = logging.getLogger(__name__)

CLOSING_S = 10.0
"""How long the engine may take to stop what runs and to save."""
READING_S = 1.0
"""How long a reader may take for what is left, when the run was stopped; and always for remarks."""
PATIENCE_S = 3.0
"""How long stdin may be awaited without a word."""


async def run_print(
    wire: Wire,
    options: PrintOptions,
    *,
    start: Callable[[], Awaitable[None]],
    stdin: ByteReader | None,
    stdout: ByteStream,
    stderr: ByteStream,
    interruption: Interruption,
) -> int:
    """Run to the end and return the exit code.

    `start` opens an engine behind `wire` and serves it until Shutdown; what it raises becomes the result.
    `stdin` is None when it is a terminal.
    """
    run = _Run(wire, options, Output(stdout), Output(stderr), interruption)
    return await run.to_the_end(start, stdin)


class _Run:
    """One run, with all that takes part in it."""

    def __init__(
        self, wire: Wire, options: PrintOptions, out: Output, err: Output, interruption: Interruption
    ) -> None:
        self._wire = wire
        self._options = options
        self._out = out
        self._err = err
        self._interruption = interruption
        self._remarks = Remarks(err)
        self._printer = printer_of(options, out, self._remarks)
        self._tally = Tally()
        self._conversation = Conversation(
            wire=wire, printer=self._printer, tally=self._tally, schema=options.schema
        )
        self._began = time.monotonic()

    async def to_the_end(self, start: Callable[[], Awaitable[None]], stdin: ByteReader | None) -> int:
        """Hold the conversation, write the result, and return the exit code."""
        following = self._conversation.follow(self._wire.subscribe())
        async with asyncio.TaskGroup() as group:
            follower = group.create_task(following)
            serving = group.create_task(self._serve(start))
            holding = group.create_task(self._conversation.hold(prompts(self._options, stdin)))
            explaining = group.create_task(self._explain_waiting(stdin))
            stops = [
                group.create_task(waiting) for waiting in (self._interruption.wait(), self._out.broken.wait())
            ]
            await asyncio.wait([serving, holding, *stops], return_when=asyncio.FIRST_COMPLETED)
            stopped = any(stop.done() for stop in stops)
            for task in (holding, explaining, *stops):
                task.cancel()
            await self._shut_down(serving)
            if stopped:
                await asyncio.wait([follower], timeout=READING_S)
                follower.cancel()
        return await self._finish(stopped=stopped)

    async def _serve(self, start: Callable[[], Awaitable[None]]) -> None:
        """The engine, from the moment when there is something to send."""
        try:
            await self._conversation.wanted.wait()
            await start()
        except KimiTuiError as error:
            self._tally.fail(error)
        except Exception as error:
            logger.exception("the engine failed")
            self._tally.fail(internal_error(error))
        finally:
            self._wire.close()

    async def _shut_down(self, serving: asyncio.Task[None]) -> None:
        if self._conversation.wanted.is_set():
            self._wire.command(Shutdown())
            hurrying = asyncio.ensure_future(self._interruption.wait_for_more())
            await asyncio.wait([serving, hurrying], timeout=CLOSING_S, return_when=asyncio.FIRST_COMPLETED)
            hurrying.cancel()
        serving.cancel()

    async def _explain_waiting(self, stdin: ByteReader | None) -> None:
        if stdin is not None:
            await asyncio.sleep(PATIENCE_S)
            if not self._conversation.wanted.is_set():
                await self._remarks.say(
                    "Reading stdin until it ends. Use `< /dev/null` if nothing is to come."
                )

    async def _finish(self, *, stopped: bool) -> int:
        result = result_of(self._tally, self._ending(), duration_s=time.monotonic() - self._began)
        await self._printer.finish(result)
        await self._let_read(stopped=stopped)
        ending = self._ending()  # anew: a signal or a full disk may have cut off the last of the output
        if self._tally.error is not None and self._interruption.signal_number is None:
            await self._remarks.failure(self._tally.error)
        await self._err.close(within_s=READING_S)
        return ending.exit_code

    async def _let_read(self, *, stopped: bool) -> None:
        """Wait until the output has been read: for ever, unless the run was stopped or is stopped now."""
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(self._out.close())
            stop = group.create_task(asyncio.sleep(READING_S) if stopped else self._interruption.wait())
            await asyncio.wait([reading, stop], return_when=asyncio.FIRST_COMPLETED)
            reading.cancel()
            stop.cancel()

    def _ending(self) -> Ending:
        error = self._out.error
        output_closed = isinstance(error, BrokenPipeError)
        if error is not None and not output_closed:
            what = f"The output can't be written: {error.strerror or error}."
            self._tally.fail(KimiTuiError(what, hint="Make room, or name another file with -o."))
        return ending_of(
            self._tally,
            signal_number=self._interruption.signal_number,
            output_closed=output_closed,
            allow_denials=self._options.allow_denials,
        )
