"""Local web servers whose responses are given byte by byte."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Responder = Callable[[asyncio.StreamWriter], Awaitable[None]]


class FakeSite:
    """Serves `responders` by path, and records the requests."""

    def __init__(self) -> None:
        self.responders: dict[str, Responder] = {}
        self.requests: list[str] = []
        self.bodies: list[bytes] = []
        self.client_left = asyncio.Event()
        """Set when a client disconnects before its response has ended."""
        self.port = 0

    def url(self, path: str = "/", *, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def respond(
        self,
        path: str,
        body: bytes | str = b"",
        *,
        kind: str | None = "text/plain; charset=utf-8",
        status: str = "200 OK",
        **headers: str,
    ) -> None:
        data = body.encode() if isinstance(body, str) else body
        if kind is not None:
            headers["Content-Type"] = kind
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        head = "\r\n".join([f"HTTP/1.1 {status}", *lines, f"Content-Length: {len(data)}", "", ""])

        async def send_response(writer: asyncio.StreamWriter) -> None:
            writer.write(head.encode() + data)

        self.responders[path] = send_response

    def redirect(self, path: str, to: str) -> None:
        self.respond(path, status="302 Found", Location=to)

    def stream(self, path: str, chunk: bytes, *, pause: float = 0.0, **headers: str) -> None:
        """Respond with an endless repetition of `chunk`."""
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        head = "\r\n".join(["HTTP/1.1 200 OK", "Content-Type: text/plain", *lines, "", ""])

        async def send_response(writer: asyncio.StreamWriter) -> None:
            writer.write(head.encode())
            while True:
                writer.write(chunk)
                await writer.drain()
                await asyncio.sleep(pause)

        self.responders[path] = send_response

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.requests.append(head)
            length = next(
                (int(line.split(":")[1]) for line in head.lower().split("\r\n") if "content-length" in line),
                0,
            )
            self.bodies.append(await reader.readexactly(length))
            path = head.split(" ")[1]
            await self.responders[path](writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            self.client_left.set()
        finally:
            writer.close()


@asynccontextmanager
async def serve_site() -> AsyncIterator[FakeSite]:
    site = FakeSite()
    running: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        running.add(task)
        try:
            await site._serve(reader, writer)
        except asyncio.CancelledError:
            pass
        finally:
            running.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        for task in list(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await server.wait_closed()
