"""The client's lines, as the SDK's Connection takes them: a transport that no line can kill."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from kimi_tui.base.json_line import json_line
from kimi_tui.base.json_rpc import BAD_REQUEST, BadLine, RpcId, message_on
from kimi_tui.base.output import Output
from kimi_tui.base.raw_input import LineTooLong
from kimi_tui.base.threaded_read import read_in_thread

logger = logging.getLogger(__name__)

LONGEST_LINE = 100 * 1024 * 1024
CANCEL_REQUEST = "$/cancel_request"
_INTERNAL = -32603


class LineReader(Protocol):
    """Where the client's lines come from."""

    def readline(self, longest: int | None = None, /) -> bytes:
        """A line; empty at the end. Raises LineTooLong, after which the next line can be read."""
        ...


class Lines:
    """Messages to and from one client.

    The SDK takes whatever JSON it is given for a message, and dies of one that isn't; here, what is no
    message is answered and never reaches it. A message is on its way out when `send` first waits: what a
    handler's own tasks send comes after the handler's answer.
    """

    def __init__(
        self, stdin: LineReader, out: Output, *, cancel: Callable[[str, dict[str, Any]], None]
    ) -> None:
        self._stdin = stdin
        self._out = out
        self._cancel = cancel
        """Called with the method and the parameters of a request that the client wants cancelled."""
        self._running: dict[RpcId, tuple[str, dict[str, Any]]] = {}

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end."""
        while True:
            try:
                line = await read_in_thread(partial(self._stdin.readline, LONGEST_LINE))
            except LineTooLong:
                self._refuse(None, BAD_REQUEST, f"A line may have {LONGEST_LINE // (1024 * 1024)} MB.")
                continue
            except OSError:
                logger.warning("standard input can't be read", exc_info=True)
                return None
            if not line:
                return None
            if line.strip() and (message := self._taken(line)) is not None:
                return message

    async def send(self, message: dict[str, Any]) -> None:
        """Send `message`; waits while the client doesn't read."""
        message_id = message.get("id")
        if "method" not in message and message_id is not None:
            self._running.pop(message_id, None)
        try:
            line = json_line(message)
        except (TypeError, ValueError):
            logger.exception("a message can't be written as JSON")
            if message_id is not None and "method" not in message:
                self._refuse(message_id, _INTERNAL, "The answer can't be written as JSON. See the log.")
            return
        await self._out.write(line)

    async def close(self) -> None:
        """Nothing: whoever made the output closes it."""

    def _taken(self, line: bytes) -> dict[str, Any] | None:
        """The message on `line` if it is for the SDK."""
        try:
            message, message_id = message_on(line)
        except BadLine as error:
            self._refuse(error.id, error.code, error.message)
            return None
        params = message.get("params")
        if message.get("method") == CANCEL_REQUEST:
            self._cancel_request(params)
            return None
        if "method" in message and message_id is not None:
            self._running[message_id] = message["method"], params if isinstance(params, dict) else {}
        return message

    def _cancel_request(self, params: Any) -> None:
        request_id = params.get("requestId") if isinstance(params, dict) else None
        running = self._running.get(request_id) if isinstance(request_id, str | int) else None
        if running is not None:
            self._cancel(*running)

    def _refuse(self, message_id: RpcId | None, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        self._out.post(json_line({"jsonrpc": "2.0", "id": message_id, "error": error}))
