"""Loopback servers with the APIs of OpenAI and Anthropic, scripted with responses and faults.

In an async test::

    async with OpenAIServer([ScriptedResponse(text="hello"), Fault.reset_after(3)]) as server:
        ...                       # server.base_url, server.requests, server.bodies

In a test without an event loop, or one that runs the real program::

    with serving("anthropic", [ScriptedResponse(text="hello")]) as server:
        ...

As a process: `python -m tests.llm.servers --protocol openai --script FILE [--record FILE]` prints its base
URL and serves until it's killed. The script is a JSON array of items for `reply_from_json`. With `--record`,
each request's body is appended to that file as a line of JSON.
"""

import argparse
import asyncio
import json
import socket
import ssl
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Self

from tests.llm import anthropic_wire, http_protocol, openai_wire, responses_wire
from tests.llm.http_protocol import Request
from tests.llm.request_validity import assert_prefix_extension, assert_valid_request
from tests.llm.scripted_responses import Call, Fault, Quirk, Reply, ScriptedResponse, reply_from_json

__all__ = [
    "AnthropicServer",
    "Call",
    "Fault",
    "OpenAIServer",
    "Quirk",
    "Reply",
    "Request",
    "ResponsesServer",
    "ScriptedResponse",
    "ScriptedServer",
    "assert_prefix_extension",
    "assert_valid_request",
    "reply_from_json",
    "serving",
]

CERTIFICATE = Path(__file__).with_name("loopback.pem")
"""Key and certificate of the servers with TLS. Clients trust it through SSL_CERT_FILE."""

Protocol = Literal["openai", "openai_responses", "anthropic"]
Script = Sequence[Reply | Callable[["Request"], Reply]]


class ScriptedServer:
    """A server on a free port that sends one scripted reply per request, in order.

    A reply may be a function of the request. Requests beyond the script get status 500.
    """

    def __init__(
        self,
        script: Script,
        *,
        wire: ModuleType,
        prefix: str,
        tls: bool,
        on_request: Callable[[Request], None],
    ) -> None:
        self._script = list(script)
        self._tls = tls
        self._wire = wire
        self._prefix = prefix
        self._on_request = on_request
        self._server: asyncio.Server | None = None
        self._exchanges: set[asyncio.Task[None]] = set()
        self.requests: list[Request] = []
        self.connections = 0

    @property
    def base_url(self) -> str:
        """A provider's base_url for this server."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}{self._prefix}"

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """Bodies of the requests so far."""
        return [request.body for request in self.requests]

    @property
    def open_connections(self) -> int:
        return len(self._exchanges)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, ssl=_tls() if self._tls else None
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._exchanges):
            task.cancel()
        await asyncio.gather(*self._exchanges, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._exchanges.add(task)
        self.connections += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while (request := await http_protocol.read_request(reader)) is not None:
                    self.requests.append(request)
                    self._on_request(request)
                    if not await self._reply(self._next_reply(request), writer):
                        return
        except asyncio.CancelledError:
            pass
        finally:
            self._exchanges.discard(task)
            writer.close()

    def _next_reply(self, request: Request) -> Reply:
        if not request.path.endswith(self._wire.PATHS):
            return Fault.status_is(404, {"message": f"no such path: {request.path}"})
        if not self._script:
            return Fault.status_is(500, {"message": "the loopback server's script is exhausted"})
        reply = self._script.pop(0)
        return reply(request) if callable(reply) else reply

    async def _reply(self, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        """Send `reply`. Return whether the connection can serve another request."""
        match reply:
            case ScriptedResponse():
                if reply.has_quirk(Quirk.PLAIN_JSON):
                    return await http_protocol.send(
                        writer, 200, self._wire.document(reply), {"Content-Type": "application/json"}
                    )
                await http_protocol.begin_stream(writer)
                await http_protocol.stream(writer, self._wire.events(reply), reply.pause_s)
                return await http_protocol.end_stream(writer)
            case Fault(kind="status" | "raw"):
                return await http_protocol.send(writer, reply.status, reply.body, reply.headers)
            case Fault():
                await http_protocol.begin_stream(writer)
                await http_protocol.stream(
                    writer, self._wire.events(reply.of)[: reply.after], reply.of.pause_s
                )
                return await self._break(reply, writer)

    async def _break(self, fault: Fault, writer: asyncio.StreamWriter) -> bool:
        match fault.kind:
            case "reset":
                # A linger of 0 s makes the close a reset; the client must have read what came before.
                await asyncio.sleep(0.05)
                own_socket: socket.socket = writer.get_extra_info("socket")
                own_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
                return False
            case "cut":
                return False
            case "stall":
                await asyncio.Event().wait()
                return False
            case "malformed":
                await http_protocol.stream(writer, [b"data: " + fault.body + b"\n\n"], 0)
            case "error":
                await http_protocol.stream(writer, [self._wire.error_event(fault.body)], 0)
            case _:
                pass
        return await http_protocol.end_stream(writer)


class OpenAIServer(ScriptedServer):
    """Serves the Chat Completions API."""

    def __init__(
        self, script: Script, *, tls: bool = False, on_request: Callable[[Request], None] = lambda _: None
    ) -> None:
        super().__init__(script, wire=openai_wire, prefix="/v1", tls=tls, on_request=on_request)


class ResponsesServer(ScriptedServer):
    """Serves the Responses API."""

    def __init__(
        self, script: Script, *, tls: bool = False, on_request: Callable[[Request], None] = lambda _: None
    ) -> None:
        super().__init__(script, wire=responses_wire, prefix="/v1", tls=tls, on_request=on_request)


class AnthropicServer(ScriptedServer):
    """Serves the Messages API."""

    def __init__(
        self, script: Script, *, tls: bool = False, on_request: Callable[[Request], None] = lambda _: None
    ) -> None:
        super().__init__(script, wire=anthropic_wire, prefix="", tls=tls, on_request=on_request)


def server_of(
    protocol: Protocol, script: Script, *, on_request: Callable[[Request], None] = lambda _: None
) -> ScriptedServer:
    """Return the server for `protocol`, not yet started."""
    kinds = {
        "openai": OpenAIServer,
        "openai_responses": ResponsesServer,
        "anthropic": AnthropicServer,
    }
    return kinds[protocol](script, on_request=on_request)


@contextmanager
def serving(protocol: Protocol, script: Script) -> Iterator[ScriptedServer]:
    """Run a server in a thread. Its recorded requests can be read at any time."""
    started: threading.Event = threading.Event()
    server = server_of(protocol, script)
    stop: list[Callable[[], object]] = []

    async def run() -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        stop.append(lambda: loop.call_soon_threadsafe(stopped.set))
        async with server:
            started.set()
            await stopped.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    started.wait()
    try:
        yield server
    finally:
        stop[0]()
        thread.join()


def _tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


async def _serve_forever(protocol: Protocol, script: Path, record: Path | None) -> None:
    def write(request: Request) -> None:
        if record is not None:
            with record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(request.body) + "\n")

    replies = [reply_from_json(item) for item in json.loads(script.read_text("utf-8"))]
    async with server_of(protocol, replies, on_request=write) as server:
        print(server.base_url, flush=True)
        await asyncio.Event().wait()


def main(arguments: Sequence[str]) -> None:
    """Serve a script until killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.llm.servers", description=main.__doc__)
    parser.add_argument("--protocol", choices=["openai", "openai_responses", "anthropic"], required=True)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args(arguments)
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve_forever(options.protocol, options.script, options.record))


if __name__ == "__main__":
    main(sys.argv[1:])
