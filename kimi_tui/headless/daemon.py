"""The daemon: print mode that stays. Each line is a prompt and has its result; one session has them all."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from kimi_tui.base.content import UserInput
from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.exit_codes import ExitCode, exit_code_of
from kimi_tui.base.interruption import Interruption
from kimi_tui.base.output import ByteStream, Output
from kimi_tui.base.raw_input import LineTooLong
from kimi_tui.headless.client import LONGEST_LINE, Client, Door
from kimi_tui.headless.conversation import Conversation, internal_error
from kimi_tui.headless.input import message_in
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.print_mode import CLOSING_S, READING_S
from kimi_tui.headless.printer import Printer
from kimi_tui.headless.printers import printer_of
from kimi_tui.headless.remarks import Remarks
from kimi_tui.headless.result import ending_of, result_of
from kimi_tui.headless.tally import Tally, failure_of
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import Interrupt, Shutdown
from kimi_tui.wire.events import Event, SessionInfo

logger = logging.getLogger(__name__)


async def run_daemon(
    wire: Wire,
    options: PrintOptions,
    *,
    start: Callable[[], Awaitable[None]],
    door: Door,
    stderr: ByteStream,
    interruption: Interruption,
) -> int:
    """Answer the door's clients until no more can come or a signal does; returns the exit code.

    `start` opens an engine behind `wire` and serves it until Shutdown. A turn that fails, a line that is no
    prompt and a client that has gone end nothing but themselves; a session that can't be opened ends it all.
    """
    return await _Daemon(wire, options, Output(stderr), interruption).to_the_end(start, door)


class _Daemon:
    """One session with all that takes part in it."""

    def __init__(self, wire: Wire, options: PrintOptions, err: Output, interruption: Interruption) -> None:
        self._wire = wire
        self._options = options
        self._err = err
        self._interruption = interruption
        self._remarks = Remarks(err)
        self._nobody = _OnlyRemarks(self._remarks)
        self._tally = Tally()
        self._conversation = Conversation(
            wire=wire, printer=self._nobody, tally=self._tally, schema=options.schema
        )
        self._turn = asyncio.Lock()
        """Held by the client whose turn it is; the others wait in the order in which they came."""
        self._hosts: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._failure: KimiTuiError | None = None
        """Why there is no session (any more)."""
        self._reader_has_gone = False

    async def to_the_end(self, start: Callable[[], Awaitable[None]], door: Door) -> int:
        """Serve, and return the exit code."""
        following = self._conversation.follow(self._wire.subscribe())
        async with asyncio.TaskGroup() as group:
            follower = group.create_task(following)
            serving = group.create_task(self._serve(start))
            welcoming = group.create_task(self._welcome(door, group))
            stop = group.create_task(self._interruption.wait())
            await asyncio.wait([serving, welcoming, stop], return_when=asyncio.FIRST_COMPLETED)
            self._stopping.set()
            welcoming.cancel()
            stop.cancel()
            await self._shut_down(serving)
            await asyncio.wait([follower], timeout=READING_S)
            follower.cancel()
            if self._hosts:
                await asyncio.wait(self._hosts, timeout=READING_S)
            for host in self._hosts:
                host.cancel()
        if self._failure is not None and self._interruption.signal_number is None:
            await self._remarks.failure(failure_of(self._failure))
        await self._err.close(within_s=READING_S)
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
            self._conversation.opened.set()

    async def _shut_down(self, serving: asyncio.Task[None]) -> None:
        self._wire.command(Shutdown())
        hurrying = asyncio.ensure_future(self._interruption.wait_for_more())
        await asyncio.wait([serving, hurrying], timeout=CLOSING_S, return_when=asyncio.FIRST_COMPLETED)
        hurrying.cancel()
        serving.cancel()

    async def _welcome(self, door: Door, group: asyncio.TaskGroup) -> None:
        """Return when no more clients can come and all have gone."""
        async for client in door.clients():
            host = group.create_task(self._host(client))
            self._hosts.add(host)
            host.add_done_callback(self._hosts.discard)
        if self._hosts:
            await asyncio.wait(self._hosts)

    async def _host(self, client: Client) -> None:
        """Answer one client's lines until there are no more, it has gone, or the daemon stops."""
        printer = printer_of(self._options, client.out, self._remarks)
        await self._conversation.opened.wait()
        if self._conversation.info is None:
            failure = self._failure or KimiTuiError("The session has ended.", hint="Start the daemon again.")
            await self._answer(client, printer, failure)
        else:
            await printer.begin(self._conversation.info)
            number = 0
            while (line := await self._line_from(client)) != b"":
                number += 1
                if line is None or line.strip():
                    async with self._turn:
                        await self._answer(client, printer, self._prompt_on(line, number))
        self._reader_has_gone = client.out.broken.is_set()
        await client.close()

    async def _line_from(self, client: Client) -> bytes | None:
        """The next line, None for one that is too long; empty when nothing more is to be answered."""
        reading = asyncio.ensure_future(client.line())
        ends = [asyncio.ensure_future(end.wait()) for end in (self._stopping, client.out.broken)]
        try:
            await asyncio.wait([reading, *ends], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done() or any(end.done() for end in ends):
                return b""
            return reading.result()
        except LineTooLong:
            return None
        finally:
            for task in (reading, *ends):
                task.cancel()

    def _prompt_on(self, line: bytes | None, number: int) -> UserInput | KimiTuiError:
        if line is None:
            what = f"Line {number} of the input has more than {LONGEST_LINE // (1024 * 1024)} MB."
            return UsageError(what, hint="Name a file in the prompt instead of sending it.")
        if self._options.input_format == "text":
            return line.decode("utf-8", "replace").strip()
        try:
            return message_in(line, number)
        except UsageError as error:
            return error

    async def _answer(self, client: Client, printer: Printer, asked: UserInput | KimiTuiError) -> None:
        """Have a turn, and write its result."""
        began = time.monotonic()
        self._tally = tally = self._tally.next()
        self._conversation.hand_to(printer, tally)
        if isinstance(asked, KimiTuiError):
            tally.fail(asked)
        elif not self._stopping.is_set():
            await self._converse(client, asked)
        if self._failure is not None:
            tally.fail(self._failure)
        ending = ending_of(
            tally,
            signal_number=self._interruption.signal_number,
            output_closed=client.out.broken.is_set(),
            allow_denials=self._options.allow_denials,
        )
        await printer.finish(result_of(tally, ending, duration_s=time.monotonic() - began))
        self._tally = tally.next()
        self._conversation.hand_to(self._nobody, self._tally)
        if tally.error is not None and self._failure is None:
            await self._remarks.failure(tally.error)

    async def _converse(self, client: Client, user_input: UserInput) -> None:
        """One turn. What a client asked for who has gone is interrupted."""
        async with asyncio.TaskGroup() as group:
            turn = group.create_task(self._conversation.send(user_input))
            gone = group.create_task(client.out.broken.wait())
            await asyncio.wait([turn, gone], return_when=asyncio.FIRST_COMPLETED)
            gone.cancel()
            if not turn.done():
                self._wire.command(Interrupt())

    def _exit_code(self) -> int:
        if self._interruption.signal_number is not None:
            return 128 + self._interruption.signal_number
        if self._failure is not None:
            return exit_code_of(self._failure)
        return ExitCode.PIPE_CLOSED if self._reader_has_gone else ExitCode.DONE


class _OnlyRemarks:
    """The printer between turns, when nobody has asked for anything."""

    def __init__(self, remarks: Remarks) -> None:
        self._remarks = remarks

    async def begin(self, info: SessionInfo) -> None:
        """The session is open."""

    async def show(self, event: Outgoing) -> None:
        """Something happened."""
        await self._remarks.on(event)

    async def reply(self, event: Event, text: str) -> None:
        """Nobody asked for it."""

    async def finish(self, result: dict[str, Any]) -> None:
        """It is over."""
