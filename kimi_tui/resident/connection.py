"""A client's connection to the resident engine."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kimi_tui.base.errors import EngineLost, KimiTuiError
from kimi_tui.base.json_codec import from_jsonable, to_json
from kimi_tui.base.message_text import msg
from kimi_tui.resident.close_writer import close_writer
from kimi_tui.resident.frames import (
    MAX_LINE_BYTES,
    EngineReply,
    Hello,
    InvalidFrame,
    parse_error,
    parse_object,
)
from kimi_tui.resident.peer import peer_uid
from kimi_tui.resident.socket_path import socket_path

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class EngineNotRunning(KimiTuiError):
    """No resident engine is running."""

    def __init__(self) -> None:
        super().__init__(
            "The resident engine isn't running.",
            hint="Start it with `kimi-tui serve`, or open a session with `kimi-tui --resident`.",
        )


@asynccontextmanager
async def connect(data_dir: Path, hello: Hello) -> AsyncIterator[tuple[Streams, EngineReply]]:
    """Connect to the engine of `data_dir` and send `hello`.

    Raises EngineNotRunning, and KimiTuiError if the engine refuses.
    """
    path = socket_path(data_dir)
    try:
        reader, writer = await asyncio.open_unix_connection(str(path), limit=MAX_LINE_BYTES)
    except OSError as error:
        raise EngineNotRunning from error
    try:
        uid = peer_uid(writer.get_extra_info("socket"))
        if uid is not None and uid != os.getuid():
            raise KimiTuiError(
                msg("The process at {path} belongs to another user.", path=path),
                hint=msg("Remove {path}.", path=path),
            )
        yield (reader, writer), await _greet(reader, writer, hello)
    finally:
        await close_writer(writer)


async def _greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, hello: Hello) -> EngineReply:
    try:
        writer.write(to_json(hello) + b"\n")
        line = await reader.readline()
        data = parse_object(line)
        if isinstance(error := data.get("error"), dict):
            raise parse_error(error)
        return from_jsonable(EngineReply, data.get("welcome"))
    except (OSError, ValueError, InvalidFrame) as error:
        raise EngineLost(
            "The resident engine didn't answer.", session_id="", hint="Run `kimi-tui serve --restart`."
        ) from error


async def send_hello(data_dir: Path, hello: Hello) -> EngineReply:
    """Send a request that needs one reply. Raises EngineNotRunning and KimiTuiError."""
    async with connect(data_dir, hello) as (_, welcome):
        return welcome
