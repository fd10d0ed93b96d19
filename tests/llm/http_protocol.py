"""HTTP/1.1 for the loopback servers: reads requests and writes responses. One chunk per event."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """A client's request. Header names are in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Return the next request. None at the end, and for data that isn't HTTP, such as the first byte of
    TLS.
    """
    first_byte = await reader.read(1)
    if not first_byte.isalpha():
        return None
    first_line = first_byte + await reader.readline()
    headers: dict[str, str] = {}
    while (line := (await reader.readline()).decode("latin-1").strip()) != "":
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(first_line.split()[1].decode(), headers, json.loads(body) if body else {})


async def send(writer: asyncio.StreamWriter, status: int, body: bytes, headers: dict[str, str]) -> bool:
    all_headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in all_headers.items())
    writer.write(f"HTTP/1.1 {status} scripted\r\n{lines}\r\n".encode() + body)
    await writer.drain()
    return True


async def begin_stream(writer: asyncio.StreamWriter) -> None:
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    await writer.drain()


async def stream(writer: asyncio.StreamWriter, frames: Sequence[bytes], pause_s: float) -> None:
    for frame in frames:
        writer.write(f"{len(frame):x}\r\n".encode() + frame + b"\r\n")
        await writer.drain()
        if pause_s:
            await asyncio.sleep(pause_s)


async def end_stream(writer: asyncio.StreamWriter) -> bool:
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True
