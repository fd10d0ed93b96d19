"""Daemon: print mode that keeps running. Each input line is a prompt with its own result; all share one
session.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.exit_codes import ExitCode, exit_code_of
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.message_text import msg
from kimi_tui.base.output_stream import OutputStream, RawStream
from kimi_tui.base.raw_input import LineTooLong
from kimi_tui.headless.daemon_client import MAX_LINE_BYTES, ClientListener, DaemonClient
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.print_mode import CLOSE_TIMEOUT_S, DRAIN_TIMEOUT_S
from kimi_tui.headless.printer import Printer
from kimi_tui.headless.printer_factory import create_printer
from kimi_tui.headless.prompt_input import parse_prompt_line
from kimi_tui.headless.run_result import build_result, determine_outcome
from kimi_tui.headless.run_stats import RunStats, to_turn_failure
from kimi_tui.headless.stderr_notices import StderrNotices
from kimi_tui.headless.turn_runner import TurnRunner, internal_error
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import Shutdown
from kimi_tui.wire.events import Event, SessionInfo

logger = logging.getLogger(__name__)


async def run_daemon(
    wire: Wire,
    options: PrintOptions,
    *,
    start: Callable[[], Awaitable[None]],
    listener: ClientListener,
    stderr: RawStream,
    interruption: ProcessInterrupt,
) -> int:
    """Serve the clients of `listener` until no more can connect or a signal arrives. Return the exit code.

    `start` opens an engine behind `wire` and serves it until Shutdown. A failed turn, an invalid line or a
    disconnected client doesn't affect other prompts. If the session can't be opened, the daemon exits.
    """
    return await _Daemon(wire, options, OutputStream(stderr), interruption).run(start, listener)


class _Daemon:
    """Runs one session for all clients."""

    def __init__(
        self, wire: Wire, options: PrintOptions, err: OutputStream, interruption: ProcessInterrupt
    ) -> None:
        self._wire = wire
        self._options = options
        self._err = err
        self._interruption = interruption
        self._notices = StderrNotices(err)
        self._idle_printer = _IdlePrinter(self._notices)
        self._stats = RunStats()
        self._turn_runner = TurnRunner(
            wire=wire, printer=self._idle_printer, stats=self._stats, schema=options.schema
        )
        self._turn = asyncio.Lock()
        """Held by the client whose turn is running. The others wait in the order of arrival."""
        self._client_tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._failure: KimiTuiError | None = None
        """Why the session could not be opened or has ended."""
        self._is_output_closed = False

    async def run(self, start: Callable[[], Awaitable[None]], listener: ClientListener) -> int:
        """Serve the clients. Return the exit code."""
        processing = self._turn_runner.process_events(self._wire.subscribe(live_only=True))
        async with asyncio.TaskGroup() as group:
            event_task = group.create_task(processing)
            engine_task = group.create_task(self._serve(start))
            accept_task = group.create_task(self._accept_clients(listener, group))
            signal_task = group.create_task(self._interruption.wait())
            await asyncio.wait([engine_task, accept_task, signal_task], return_when=asyncio.FIRST_COMPLETED)
            self._stopping.set()
            accept_task.cancel()
            signal_task.cancel()
            await self._shut_down(engine_task)
            await asyncio.wait([event_task], timeout=DRAIN_TIMEOUT_S)
            event_task.cancel()
            if self._client_tasks:
                await asyncio.wait(self._client_tasks, timeout=DRAIN_TIMEOUT_S)
            for client_task in self._client_tasks:
                client_task.cancel()
        if self._failure is not None and self._interruption.signal_number is None:
            await self._notices.report_failure(to_turn_failure(self._failure))
        await self._err.close(within_s=DRAIN_TIMEOUT_S)
        return self._exit_code()

    async def _serve(self, start: Callable[[], Awaitable[None]]) -> None:
        try:
            await start()
        except KimiTuiError as error:
            self._failure = error
        except Exception as error:
            logger.exception("the engine failed")
            self._failure = internal_error(error)
        finally:
            self._wire.close()
            self._turn_runner.opened.set()

    async def _shut_down(self, engine_task: asyncio.Task[None]) -> None:
        if self._turn.locked():
            self._turn_runner.interrupt()  # the resident engine would continue the turn
        self._wire.command(Shutdown())
        repeat_task = asyncio.ensure_future(self._interruption.wait_for_repeat())
        await asyncio.wait(
            [engine_task, repeat_task], timeout=CLOSE_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED
        )
        repeat_task.cancel()
        engine_task.cancel()

    async def _accept_clients(self, listener: ClientListener, group: asyncio.TaskGroup) -> None:
        """Accept clients. Return when no more can connect and all have disconnected."""
        async for client in listener.clients():
            client_task = group.create_task(self._serve_client(client))
            self._client_tasks.add(client_task)
            client_task.add_done_callback(self._client_tasks.discard)
        if self._client_tasks:
            await asyncio.wait(self._client_tasks)

    async def _serve_client(self, client: DaemonClient) -> None:
        """Process a client's lines until they end, the client disconnects or the daemon stops."""
        printer = create_printer(self._options, client.out, self._notices)
        await self._turn_runner.opened.wait()
        if self._turn_runner.info is None:
            failure = self._failure or KimiTuiError("The session has ended.", hint="Restart the daemon.")
            await self._run_prompt(client, printer, failure)
        else:
            await printer.begin(self._turn_runner.info)
            number = 0
            while (line := await self._read_line(client)) != b"":
                number += 1
                if line is None or line.strip():
                    async with self._turn:
                        await self._run_prompt(client, printer, self._parse_prompt(line, number))
        self._is_output_closed = client.out.broken.is_set()
        await client.close()

    async def _read_line(self, client: DaemonClient) -> bytes | None:
        """Return the next line, None if it is too long, or an empty string if no more lines are to be
        processed.
        """
        read_task = asyncio.ensure_future(client.read_line())
        stop_tasks = [asyncio.ensure_future(event.wait()) for event in (self._stopping, client.out.broken)]
        try:
            await asyncio.wait([read_task, *stop_tasks], return_when=asyncio.FIRST_COMPLETED)
            if not read_task.done() or any(task.done() for task in stop_tasks):
                return b""
            return read_task.result()
        except LineTooLong:
            return None
        finally:
            for task in (read_task, *stop_tasks):
                task.cancel()

    def _parse_prompt(self, line: bytes | None, number: int) -> UserInput | KimiTuiError:
        if line is None:
            what = msg(
                "Line {line} of the input exceeds {megabytes} MB.",
                line=number,
                megabytes=MAX_LINE_BYTES // (1024 * 1024),
            )
            return UsageError(what, hint="Refer to a file in the prompt instead.")
        if self._options.input_format == "text":
            return line.decode("utf-8", "replace").strip()
        try:
            return parse_prompt_line(line, number)
        except UsageError as error:
            return error

    async def _run_prompt(
        self, client: DaemonClient, printer: Printer, prompt: UserInput | KimiTuiError
    ) -> None:
        """Run a turn and write its result."""
        started_at = time.monotonic()
        self._stats = stats = self._stats.start_next()
        self._turn_runner.switch_output(printer, stats)
        if isinstance(prompt, KimiTuiError):
            stats.fail(prompt)
        elif not self._stopping.is_set():
            await self._run_turn(client, prompt)
        if self._failure is not None:
            stats.fail(self._failure)
        outcome = determine_outcome(
            stats,
            signal_number=self._interruption.signal_number,
            output_closed=client.out.broken.is_set(),
            allow_denials=self._options.allow_denials,
        )
        await printer.finish(build_result(stats, outcome, duration_s=time.monotonic() - started_at))
        self._stats = stats.start_next()
        self._turn_runner.switch_output(self._idle_printer, self._stats)
        if stats.error is not None and self._failure is None:
            await self._notices.report_failure(stats.error)

    async def _run_turn(self, client: DaemonClient, user_input: UserInput) -> None:
        """Run one turn. Interrupt it if its client disconnects."""
        async with asyncio.TaskGroup() as group:
            turn_task = group.create_task(self._turn_runner.run_prompt(user_input))
            disconnect_task = group.create_task(client.out.broken.wait())
            await asyncio.wait([turn_task, disconnect_task], return_when=asyncio.FIRST_COMPLETED)
            disconnect_task.cancel()
            if not turn_task.done():
                self._turn_runner.interrupt()

    def _exit_code(self) -> int:
        if self._interruption.signal_number is not None:
            return 128 + self._interruption.signal_number
        if self._failure is not None:
            return exit_code_of(self._failure)
        return ExitCode.PIPE_CLOSED if self._is_output_closed else ExitCode.DONE


class _IdlePrinter:
    """Printer between turns, while no client waits for output."""

    def __init__(self, notices: StderrNotices) -> None:
        self._notices = notices

    async def begin(self, info: SessionInfo) -> None:
        """Do nothing."""

    async def show(self, event: Outgoing) -> None:
        """Report an event on stderr."""
        await self._notices.report_event(event)

    async def reply(self, event: Event, text: str) -> None:
        """Do nothing."""

    async def finish(self, result: dict[str, Any]) -> None:
        """Do nothing."""
