"""Messages about connecting MCP servers: Kimi CLI connects in the first turn, before its first step."""

from typing import Any

from kimi_tui.wireserver.event_filter import JsonMessage


class McpLoading:
    """Builds the messages about connecting and connected servers, in the order of Kimi CLI."""

    def __init__(self) -> None:
        self.tools: set[str] = set()
        """Names of the connected servers' tools."""
        self._first: dict[str, Any] | None = None
        self._last: dict[str, Any] | None = None
        self._is_announced = self._is_done = False
        self._held_step: JsonMessage | None = None

    def update(self, payload: dict[str, Any], *, in_turn: bool) -> list[JsonMessage]:
        """Handle a status of the servers. Return the messages to send."""
        status = payload["mcp_status"]
        self.tools |= {name for server in status["servers"] for name in server["tools"]}
        self._first = self._first or _as_connecting(payload)
        self._last = None if status["loading"] else payload
        return self.announce() if in_turn else []

    def announce(self) -> list[JsonMessage]:
        """Return the messages to send at this point of a turn."""
        messages: list[JsonMessage] = []
        if self._first is not None and not self._is_announced:
            self._is_announced = True
            messages += [_message("StatusUpdate", self._first), _message("MCPLoadingBegin")]
        if self._last is not None and self._is_announced and not self._is_done:
            self._is_done = True
            messages += [
                _message("StatusUpdate", self._last),
                _message("MCPLoadingEnd"),
                *self.release_step(),
            ]
        return messages

    def hold_step(self, message: JsonMessage) -> bool:
        """Hold the beginning of a step while servers are connecting. Return whether it's held."""
        if not self._is_announced or self._is_done:
            return False
        self._held_step = message
        return True

    def release_step(self) -> list[JsonMessage]:
        """Return the held message, if any."""
        held, self._held_step = self._held_step, None
        return [held] if held is not None else []


def _as_connecting(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the status from before any server connected."""
    status = payload["mcp_status"]
    servers = [{**server, "status": "connecting", "tools": []} for server in status["servers"]]
    first = {**status, "loading": True, "connected": 0, "tools": 0, "servers": servers}
    return {**payload, "mcp_status": first}


def _message(kind: str, payload: dict[str, Any] | None = None) -> JsonMessage:
    return {"type": kind, "payload": payload or {}}
