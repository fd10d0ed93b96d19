"""Forwarding of a sub-agent's events to the parent agent's event sender."""

import asyncio

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import ToolCallPart
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import envelope
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import (
    CostUpdate,
    Event,
    Notification,
    StatusUpdate,
    SubagentEvent,
    ToolOutput,
)
from kimi_tui.wire.fragments import merge_fragments

_FLUSH_DELAY_S = 0.05
"""Seconds for which fragments are buffered, so that several become one event."""


class SubagentEventForwarder:
    """Wraps a sub-agent's events in `SubagentEvent` and merges fragments.

    The session's usage is sent unwrapped.
    """

    def __init__(self, sender: EventSender, *, agent_id: str, kind: str, call_id: str | None) -> None:
        self._sender = sender
        self._agent_id = agent_id
        self._kind = kind
        self._call_id = call_id
        self._buffer: list[Outgoing] = []
        self._timer: asyncio.TimerHandle | None = None

    def send(self, event: Event, /) -> None:
        """Forward an event of the sub-agent."""
        match event:
            case TextPart() | ThinkPart() | ToolCallPart() | ToolOutput():
                self._buffer.append(event)
                if self._timer is None:
                    self._timer = asyncio.get_running_loop().call_later(_FLUSH_DELAY_S, self.flush)
            case CostUpdate() | Notification():
                self.flush()
                self._sender.send(event)
            case StatusUpdate(session_usage=usage):
                self._flush_and_forward(event)
                self._sender.send(StatusUpdate(session_usage=usage))
            case _:
                self._flush_and_forward(event)

    def flush(self) -> None:
        """Send the buffered fragments."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        events, self._buffer = merge_fragments(self._buffer), []
        for event in events:
            self._forward(event)

    def _flush_and_forward(self, event: Event) -> None:
        self.flush()
        self._forward(event)

    def _forward(self, event: Outgoing) -> None:
        self._sender.send(
            SubagentEvent(
                envelope(event),
                parent_tool_call_id=self._call_id,
                agent_id=self._agent_id,
                subagent_type=self._kind,
            )
        )
