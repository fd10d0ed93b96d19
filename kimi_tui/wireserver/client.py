"""The server's view of its client: its capabilities, and the messages sent to it."""

import logging
from collections.abc import Iterable
from typing import Any

from kimi_tui.base.json_lines import dump_json_line
from kimi_tui.base.json_rpc import RpcId
from kimi_tui.base.output_stream import OutputStream
from kimi_tui.wireserver.event_filter import REQUEST_TYPES, JsonMessage, filter_for_client
from kimi_tui.wireserver.jsonrpc import (
    ErrorCode,
    RpcCall,
    RpcError,
    build_error,
    build_event,
    build_request,
    build_result,
)
from kimi_tui.wireserver.kimi_cli.dialect import KimiCliDialect
from kimi_tui.wireserver.params import ClientCapabilities

logger = logging.getLogger(__name__)


class WireClient:
    """One connected client.

    Sending a response never waits. Sending an event waits while the client doesn't read.
    """

    def __init__(self, out: OutputStream, *, dialect: KimiCliDialect | None = None) -> None:
        """`dialect`: translates messages for a client of Kimi CLI."""
        self._out = out
        self.dialect = dialect
        self.capabilities = ClientCapabilities()
        """Capabilities from the handshake. Before the handshake, the defaults."""

    def send_result(self, message_id: RpcId | None, result: dict[str, Any]) -> None:
        """Answer a call with `result`, unless it is a notification."""
        if message_id is not None:
            self._out.post(dump_json_line(build_result(message_id, result)))

    def send_error(
        self, message_id: RpcId | None, code: ErrorCode, message: str, *, method: str = ""
    ) -> None:
        """Answer a call of `method`, or an invalid line, with an error."""
        if self.dialect is not None:
            message = self.dialect.error_text(code, message, method)
        self._out.post(dump_json_line(build_error(message_id, code, message)))

    def reject(self, call: RpcCall, error: RpcError) -> None:
        """Answer `call` with `error`. For a notification, log the error instead."""
        if call.id is not None:
            self.send_error(call.id, error.code, error.message, method=call.method)
        else:
            logger.info("rejected the notification %s: %s", call.method, error.message)

    async def send(self, message: JsonMessage) -> bool:
        """Send the part of an event or request that the client supports. Return False if nothing was sent."""
        visible: JsonMessage | None = message
        if not self.capabilities.supports_timeline:
            visible = filter_for_client(message, keeps_effects=self.capabilities.supports_effects)
        if visible is None:
            return False
        await self.send_all([visible] if self.dialect is None else self.dialect.translate(visible))
        return True

    async def replay(self, message: JsonMessage) -> bool:
        """Send a recorded message like `send`. Clients of Kimi CLI don't get permission requests again."""
        if self.dialect is not None and self.dialect.is_left_out_of_replay(message):
            return False
        return await self.send(message)

    async def send_all(self, messages: Iterable[JsonMessage]) -> None:
        """Send messages without filtering or translating them."""
        for message in messages:
            rpc = build_request(message) if message["type"] in REQUEST_TYPES else build_event(message)
            await self._out.write(dump_json_line(rpc))
