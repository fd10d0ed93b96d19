"""Local model server with the chat completions API: `python -m benchmarks.server PLAN`.

PLAN is a JSON array with one response for each request. The last one is repeated, and `{"again": true}` as
the last one restarts the plan. A response is an object: `words` (number of words of Markdown), `end` (a last
token), `delay` (seconds before the first token), `rate` (tokens a second; unlimited if missing), `calls`
([[name, arguments], ...]). Prints its base URL, then a line for each request: seconds since the first.
"""

import asyncio
import json
import sys
import time
from typing import Any

from benchmarks.sample_text import markdown, tokens

BURST = 16_384
"""Bytes per write without a rate."""
REPORTED = 1_000
"""Maximum number of printed requests. More could fill a pipe that isn't read."""


def frames(response: dict[str, Any], number: int) -> list[bytes]:
    """Return the events of the stream, one for each token or tool call."""
    text = markdown(response["words"]) if "words" in response else ""
    last = ["\n\n", response["end"]] if "end" in response else []
    deltas: list[dict[str, Any]] = [{"content": token} for token in [*tokens(text), *last]]
    for index, (name, arguments) in enumerate(response.get("calls", ())):
        function = {"name": name, "arguments": json.dumps(arguments)}
        deltas.append(
            {
                "tool_calls": [
                    {"index": index, "id": f"call-{number}-{index}", "type": "function", "function": function}
                ]
            }
        )
    reason = "tool_calls" if response.get("calls") else "stop"
    events: list[dict[str, Any]] = [{"index": 0, "delta": it, "finish_reason": None} for it in deltas]
    events.append({"index": 0, "delta": {}, "finish_reason": reason})
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 100, "completion_tokens": len(deltas), "total_tokens": 100 + len(deltas)}
    encoded = [b"data: " + json.dumps({**chunk, "choices": [event]}).encode() + b"\n\n" for event in events]
    encoded.append(b"data: " + json.dumps({**chunk, "choices": [], "usage": usage}).encode() + b"\n\n")
    encoded.append(b"data: [DONE]\n\n")
    return encoded


class Model:
    """Responds according to a plan."""

    def __init__(self, plan: list[dict[str, Any]]) -> None:
        self._plan = plan
        self._n_requests = 0
        self._began = 0.0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle a connection, which can have several requests."""
        try:
            while await self._handle_request(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _handle_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            (
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            ),
            0,
        )
        await reader.readexactly(length)
        if not head.startswith(b"POST"):
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return True
        now = time.monotonic()
        self._began = self._began or now
        if self._n_requests < REPORTED:
            print(f"{now - self._began:.4f}", flush=True)
        response = self._next_response()
        self._n_requests += 1
        await asyncio.sleep(response.get("delay", 0))
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        await self._stream(writer, frames(response, self._n_requests), response.get("rate"))
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def _next_response(self) -> dict[str, Any]:
        last = len(self._plan) - 1
        if self._plan[last].get("again"):
            return self._plan[self._n_requests % last]
        return self._plan[min(self._n_requests, last)]

    async def _stream(self, writer: asyncio.StreamWriter, events: list[bytes], rate: float | None) -> None:
        began = asyncio.get_running_loop().time()
        pending = b""
        for number, event in enumerate(events):
            pending += event
            if rate is None and len(pending) < BURST:
                continue
            writer.write(b"%x\r\n%s\r\n" % (len(pending), pending))
            pending = b""
            await writer.drain()
            if rate is not None:
                due = began + (number + 1) / rate
                await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
        if pending:
            writer.write(b"%x\r\n%s\r\n" % (len(pending), pending))


async def main(plan: list[dict[str, Any]]) -> None:
    """Serve until killed."""
    server = await asyncio.start_server(Model(plan).serve, "127.0.0.1", 0, limit=1 << 26)
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
