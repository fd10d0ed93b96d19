"""Transport of JSON-RPC lines for the SDK's Connection. Invalid lines don't break the connection."""

import logging
from functools import partial
from typing import Any, Protocol

from kimi_tui.base.json_lines import dump_json_line
from kimi_tui.base.json_rpc import INVALID_REQUEST, InvalidRpcLine, RpcId, parse_message
from kimi_tui.base.output_stream import OutputStream
from kimi_tui.base.pipe_reader import read_in_thread
from kimi_tui.base.raw_input import LineTooLong

logger = logging.getLogger(__name__)

MAX_LINE_BYTES = 100 * 1024 * 1024
CANCEL_REQUEST = "$/cancel_request"
_INTERNAL_ERROR = -32603


class AcpLineReader(Protocol):
    """Source of the client's lines."""

    def readline(self, longest: int | None = None, /) -> bytes:
        """Return a line; empty at the end. Raises LineTooLong; the next line can still be read."""
        ...


class RequestCanceler(Protocol):
    """Cancels the client's requests."""

    def cancel_request(self, method: str, params: dict[str, Any], /) -> None:
        """Cancel the running request with this method and these parameters."""
        ...


class LineTransport:
    """Sends and receives the messages of one client.

    The SDK treats any JSON as a message and fails on other text. This transport answers invalid messages, so
    that the SDK never sees them. `send` queues a message before its first `await`. Therefore a handler's
    response precedes the messages of the handler's tasks.
    """

    def __init__(self, stdin: AcpLineReader, out: OutputStream, canceler: RequestCanceler) -> None:
        self._stdin = stdin
        self._out = out
        self._canceler = canceler
        self._running: dict[RpcId, tuple[str, dict[str, Any]]] = {}

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None at the end."""
        while True:
            try:
                line = await read_in_thread(partial(self._stdin.readline, MAX_LINE_BYTES))
            except LineTooLong:
                self._send_error(
                    None, INVALID_REQUEST, f"The line is longer than {MAX_LINE_BYTES // (1024 * 1024)} MB."
                )
                continue
            except OSError:
                logger.warning("can't read standard input", exc_info=True)
                return None
            if not line:
                return None
            if line.strip() and (message := self._parse_line(line)) is not None:
                return message

    async def send(self, message: dict[str, Any]) -> None:
        """Send `message`. Waits while the client reads nothing."""
        message_id = message.get("id")
        if "method" not in message and message_id is not None:
            self._running.pop(message_id, None)
        try:
            line = dump_json_line(message)
        except (TypeError, ValueError):
            logger.exception("can't write a message as JSON")
            if message_id is not None and "method" not in message:
                self._send_error(
                    message_id, _INTERNAL_ERROR, "Can't write the response as JSON. See the log for details."
                )
            return
        await self._out.write(line)

    async def close(self) -> None:
        """Do nothing: the owner of the output closes it."""

    def _parse_line(self, line: bytes) -> dict[str, Any] | None:
        """Return the message in `line`; None if the SDK needn't handle it."""
        try:
            message, message_id = parse_message(line)
        except InvalidRpcLine as error:
            self._send_error(error.id, error.code, error.message)
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
            self._canceler.cancel_request(*running)

    def _send_error(self, message_id: RpcId | None, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        self._out.post(dump_json_line({"jsonrpc": "2.0", "id": message_id, "error": error}))
