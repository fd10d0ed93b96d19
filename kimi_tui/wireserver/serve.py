"""Runs the Wire server until the client disconnects."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from kimi_tui.base.errors import KimiTuiError, ModelNotSet
from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.output_stream import OutputStream, RawStream
from kimi_tui.base.pipe_reader import read_in_thread
from kimi_tui.base.raw_input import LineTooLong
from kimi_tui.base.redaction import redact
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Shutdown
from kimi_tui.wireserver.client import WireClient
from kimi_tui.wireserver.jsonrpc import ErrorCode
from kimi_tui.wireserver.kimi_cli.dialect import KimiCliDialect
from kimi_tui.wireserver.server import WireServer

logger = logging.getLogger(__name__)

MAX_LINE_BYTES = 100 * 1024 * 1024
CLOSE_TIMEOUT_S = 10.0
"""Seconds to wait for the engine to stop its work and save."""
READ_TIMEOUT_S = 5.0
"""Seconds to wait for the client to read the remaining output when the server stops."""


class ClientLineReader(Protocol):
    """Source of the client's lines."""

    def readline(self, longest: int | None = None, /) -> bytes:
        """Return a line; empty at the end. Raises LineTooLong; the next call then returns the next line."""
        ...


async def run_wire_server(
    wire: Wire,
    *,
    version: str,
    start: Callable[[], Awaitable[None]],
    stdin: ClientLineReader,
    stdout: RawStream,
    interruption: ProcessInterrupt,
    for_kimi_cli: bool = False,
) -> int:
    """Serve until the client closes its side or a signal arrives. Return the exit code.

    `start` opens an engine behind `wire` and serves it until Shutdown. With `for_kimi_cli`, the output
    matches Kimi CLI's.
    Raises the error that prevented the engine from opening. A missing model isn't raised: the client gets the
    error when it sends a prompt.
    """
    out = OutputStream(stdout)
    async with asyncio.TaskGroup() as group:
        client = WireClient(out, dialect=KimiCliDialect() if for_kimi_cli else None)
        server = WireServer(wire=wire, client=client, version=version, tasks=group)
        forward_task = group.create_task(server.forward_events())
        closing = asyncio.Event()
        engine_task = group.create_task(_serve(start, wire, server, closing))
        read_task = group.create_task(_read(stdin, client, server))
        stop_tasks = [group.create_task(waiting) for waiting in (interruption.wait(), out.broken.wait())]
        await asyncio.wait([engine_task, read_task, *stop_tasks], return_when=asyncio.FIRST_COMPLETED)
        for task in (read_task, *stop_tasks):
            task.cancel()
        server.stop()
        closing.set()
        wire.command(Shutdown())
        await asyncio.wait([engine_task], timeout=CLOSE_TIMEOUT_S)
        engine_task.cancel()
        await asyncio.wait([forward_task], timeout=READ_TIMEOUT_S)
        forward_task.cancel()
    if not await out.close(within_s=READ_TIMEOUT_S):
        logger.warning("the client didn't read all output")
    failure = engine_task.result() if not engine_task.cancelled() else None
    if failure is not None:
        raise failure
    if interruption.signal_number is not None:
        return 128 + interruption.signal_number
    return ExitCode.PIPE_CLOSED if out.broken.is_set() else ExitCode.DONE


async def _serve(
    start: Callable[[], Awaitable[None]], wire: Wire, server: WireServer, closing: asyncio.Event
) -> KimiTuiError | None:
    """Run the engine. Return the error that ended it early, after `server` has been notified."""
    try:
        await start()
    except ModelNotSet as error:
        logger.warning("no model is configured: %s", error)
        server.fail(error)
        await closing.wait()
    except KimiTuiError as error:
        server.fail(error)
        return error
    except Exception as error:
        logger.exception("the engine failed")
        message = redact(f"The session ended with an internal error: {type(error).__name__}: {error}.")
        failure = KimiTuiError(message, hint="See the log for details. `kimi-tui info` shows its path.")
        server.fail(failure)
        return failure
    finally:
        wire.close()
    return None


async def _read(stdin: ClientLineReader, client: WireClient, server: WireServer) -> None:
    """Handle the client's lines until it closes its side."""
    while True:
        try:
            line = await read_in_thread(partial(stdin.readline, MAX_LINE_BYTES))
        except LineTooLong:
            message = f"The line is longer than {MAX_LINE_BYTES // (1024 * 1024)} MB."
            client.send_error(None, ErrorCode.BAD_REQUEST, message)
            continue
        except OSError:
            logger.warning("can't read standard input", exc_info=True)
            return
        if not line:
            return
        if line.strip():
            await server.handle_line(line)
