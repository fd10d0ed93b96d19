"""The wire server from its first line to its end."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from kimi_tui.base.errors import KimiTuiError, ModelNotSet
from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.interruption import Interruption
from kimi_tui.base.output import ByteStream, Output
from kimi_tui.base.raw_input import LineTooLong
from kimi_tui.base.secrets import blacked_out
from kimi_tui.base.threaded_read import read_in_thread
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Shutdown
from kimi_tui.wireserver.client import Client
from kimi_tui.wireserver.jsonrpc import ErrorCode
from kimi_tui.wireserver.server import Server

logger = logging.getLogger(__name__)

LONGEST_LINE = 100 * 1024 * 1024
CLOSING_S = 10.0
"""How long the engine may take to stop what runs and to save."""
READING_S = 5.0
"""How long the client may take for what is left when the server ends."""


class LineReader(Protocol):
    """Where the client's lines come from."""

    def readline(self, longest: int | None = None, /) -> bytes:
        """A line; empty at the end. Raises LineTooLong, after which the next line can be read."""
        ...


async def run_wire_server(
    wire: Wire,
    *,
    version: str,
    start: Callable[[], Awaitable[None]],
    stdin: LineReader,
    stdout: ByteStream,
    interruption: Interruption,
) -> int:
    """Serve until the client closes its side or a signal comes; returns the exit code.

    `start` opens an engine behind `wire` and serves it until Shutdown. Raises what kept it from opening,
    except for a missing model, which is told to whoever prompts.
    """
    out = Output(stdout)
    async with asyncio.TaskGroup() as group:
        server = Server(wire=wire, client=Client(out), version=version, tasks=group)
        following = group.create_task(server.follow())
        closing = asyncio.Event()
        serving = group.create_task(_serve(start, wire, server, closing))
        reading = group.create_task(_read(stdin, out, server))
        stops = [group.create_task(waiting) for waiting in (interruption.wait(), out.broken.wait())]
        await asyncio.wait([serving, reading, *stops], return_when=asyncio.FIRST_COMPLETED)
        for task in (reading, *stops):
            task.cancel()
        server.stop()
        closing.set()
        wire.command(Shutdown())
        await asyncio.wait([serving], timeout=CLOSING_S)
        serving.cancel()
        await asyncio.wait([following], timeout=READING_S)
        following.cancel()
    if not await out.close(within_s=READING_S):
        logger.warning("the client didn't read to the end")
    failure = serving.result() if not serving.cancelled() else None
    if failure is not None:
        raise failure
    if interruption.signal_number is not None:
        return 128 + interruption.signal_number
    return ExitCode.PIPE_CLOSED if out.broken.is_set() else ExitCode.DONE


async def _serve(
    start: Callable[[], Awaitable[None]], wire: Wire, server: Server, closing: asyncio.Event
) -> KimiTuiError | None:
    """The engine. What ended it early is returned once whoever waits for it has been told."""
    try:
        await start()
    except ModelNotSet as error:
        logger.warning("no model is set: %s", error)
        server.fail(error)
        await closing.wait()
    except KimiTuiError as error:
        server.fail(error)
        return error
    except Exception as error:
        logger.exception("the engine failed")
        what = blacked_out(f"An internal error ended the session: {type(error).__name__}: {error}.")
        failure = KimiTuiError(what, hint="The log has the details; `kimi-tui info` says where it is.")
        server.fail(failure)
        return failure
    finally:
        wire.close()
    return None


async def _read(stdin: LineReader, out: Output, server: Server) -> None:
    """Follow the client's lines until it closes its side."""
    while True:
        try:
            line = await read_in_thread(partial(stdin.readline, LONGEST_LINE))
        except LineTooLong:
            what = f"A line may have {LONGEST_LINE // (1024 * 1024)} MB."
            Client(out).error(None, ErrorCode.BAD_REQUEST, what)
            continue
        except OSError:
            logger.warning("standard input can't be read", exc_info=True)
            return
        if not line:
            return
        if line.strip():
            await server.take(line)
