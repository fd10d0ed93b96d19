"""The events of a sub-agent, as the agent above it tells them."""

import asyncio
from collections.abc import Callable

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.message import ToolCallPart
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import envelope
from kimi_tui.wire.events import (
    CostUpdate,
    Event,
    Notification,
    StatusUpdate,
    SubagentEvent,
    ToolOutput,
)
from kimi_tui.wire.fragments import merge_fragments

_GATHERED_S = 0.05
"""How long fragments are held back, so that more of them become one event."""


class NestedSend:
    """Wraps events, fragments merged. What the session has used is told as the session's own."""

    def __init__(
        self, send: Callable[[Event], None], *, agent_id: str, kind: str, call_id: str | None
    ) -> None:
        self._send = send
        self._agent_id = agent_id
        self._kind = kind
        self._call_id = call_id
        self._held: list[Outgoing] = []
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, event: Event, /) -> None:
        """Send `event`, which is the sub-agent's."""
        match event:
            case TextPart() | ThinkPart() | ToolCallPart() | ToolOutput():
                self._held.append(event)
                if self._timer is None:
                    self._timer = asyncio.get_running_loop().call_later(_GATHERED_S, self.flush)
            case CostUpdate() | Notification():
                self.flush()
                self._send(event)
            case StatusUpdate(session_usage=usage):
                self._wrap(event)
                self._send(StatusUpdate(session_usage=usage))
            case _:
                self._wrap(event)

    def flush(self) -> None:
        """Send what is held back."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        held, self._held = merge_fragments(self._held), []
        for event in held:
            self._send_wrapped(event)

    def _wrap(self, event: Event) -> None:
        self.flush()
        self._send_wrapped(event)

    def _send_wrapped(self, event: Outgoing) -> None:
        self._send(
            SubagentEvent(
                envelope(event),
                parent_tool_call_id=self._call_id,
                agent_id=self._agent_id,
                subagent_type=self._kind,
            )
        )
