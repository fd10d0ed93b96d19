"""The client as the server sees it: what it can do, and what it is sent."""

import logging
from typing import Any

from kimi_tui.base.json_line import json_line
from kimi_tui.base.json_rpc import RpcId
from kimi_tui.base.output import Output
from kimi_tui.wireserver.jsonrpc import Call, ErrorCode, RpcError, error_to, event_of, request_of, result_to
from kimi_tui.wireserver.params import ClientCapabilities
from kimi_tui.wireserver.vocabulary import REQUEST_TYPES, Message, narrowed

logger = logging.getLogger(__name__)


class Client:
    """One client. Answers never wait; events wait while it doesn't read."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self.capabilities = ClientCapabilities()
        """What it said in the handshake; nothing without one."""

    def result(self, message_id: RpcId | None, result: dict[str, Any]) -> None:
        """Answer a call, if it wants an answer."""
        if message_id is not None:
            self._out.post(json_line(result_to(message_id, result)))

    def error(self, message_id: RpcId | None, code: ErrorCode, message: str) -> None:
        """Answer a call, or a line that is none, with an error."""
        self._out.post(json_line(error_to(message_id, code, message)))

    def refuse(self, call: Call, error: RpcError) -> None:
        """Answer `call` with `error`; what wants no answer leaves a trace in the log."""
        if call.id is not None:
            self.error(call.id, error.code, error.message)
        else:
            logger.info("%s was refused: %s", call.method, error.message)

    async def show(self, message: Message) -> bool:
        """Send an event or a request, as far as the client knows it. Whether it does."""
        known = message if self.capabilities.supports_timeline else narrowed(message)
        if known is None:
            return False
        rpc = request_of(known) if known["type"] in REQUEST_TYPES else event_of(known)
        await self._out.write(json_line(rpc))
        return True
