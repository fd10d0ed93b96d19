"""A model on the loopback that speaks chat completions: `python -m benchmarks.server PLAN`.

PLAN is a JSON array with one answer a request; the last answers all further ones, and `{"again": true}` as
the last has it begin anew. An answer is an object: `words` (of Markdown), `end` (a last token of its own),
`rate` (tokens a second; as fast as they are read without it), `calls` ([[name, arguments], ...]). Prints its
base URL, then a line a request: the seconds since the first one.
"""

import asyncio
import json
import sys
import time
from typing import Any

from benchmarks.words import markdown, tokens

BURST = 16_384
"""Bytes in one write when there is no rate."""
REPORTED = 1_000
"""Requests that a line is printed for: more might fill the pipe where nobody reads it."""


def frames(answer: dict[str, Any], number: int) -> list[bytes]:
    """The stream's events, one a token or call."""
    text = markdown(answer["words"]) if "words" in answer else ""
    last = ["\n\n", answer["end"]] if "end" in answer else []
    deltas: list[dict[str, Any]] = [{"content": token} for token in [*tokens(text), *last]]
    for index, (name, arguments) in enumerate(answer.get("calls", ())):
        function = {"name": name, "arguments": json.dumps(arguments)}
        deltas.append(
            {
                "tool_calls": [
                    {"index": index, "id": f"call-{number}-{index}", "type": "function", "function": function}
                ]
            }
        )
    reason = "tool_calls" if answer.get("calls") else "stop"
    events: list[dict[str, Any]] = [{"index": 0, "delta": it, "finish_reason": None} for it in deltas]
    events.append({"index": 0, "delta": {}, "finish_reason": reason})
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 100, "completion_tokens": len(deltas), "total_tokens": 100 + len(deltas)}
    made = [b"data: " + json.dumps({**chunk, "choices": [event]}).encode() + b"\n\n" for event in events]
    made.append(b"data: " + json.dumps({**chunk, "choices": [], "usage": usage}).encode() + b"\n\n")
    made.append(b"data: [DONE]\n\n")
    return made


class Model:
    """Answers by a plan."""

    def __init__(self, plan: list[dict[str, Any]]) -> None:
        self._plan = plan
        self._asked = 0
        self._began = 0.0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, which may carry several requests."""
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
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
        if self._asked < REPORTED:
            print(f"{now - self._began:.4f}", flush=True)
        answer = self._answer()
        self._asked += 1
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        await self._stream(writer, frames(answer, self._asked), answer.get("rate"))
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def _answer(self) -> dict[str, Any]:
        last = len(self._plan) - 1
        if self._plan[last].get("again"):
            return self._plan[self._asked % last]
        return self._plan[min(self._asked, last)]

    async def _stream(self, writer: asyncio.StreamWriter, events: list[bytes], rate: float | None) -> None:
        began = asyncio.get_running_loop().time()
        waiting = b""
        for number, event in enumerate(events):
            waiting += event
            if rate is None and len(waiting) < BURST:
                continue
            writer.write(b"%x\r\n%s\r\n" % (len(waiting), waiting))
            waiting = b""
            await writer.drain()
            if rate is not None:
                due = began + (number + 1) / rate
                await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
        if waiting:
            writer.write(b"%x\r\n%s\r\n" % (len(waiting), waiting))


async def main(plan: list[dict[str, Any]]) -> None:
    """Serve until killed."""
    server = await asyncio.start_server(Model(plan).serve, "127.0.0.1", 0, limit=1 << 26)
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
