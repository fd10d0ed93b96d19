"""Builders of a step's records: the final records, and pending records written before the step ends."""

from collections.abc import Sequence

from kimi_tui.base.message import Message
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.message_history import message_with_results
from kimi_tui.history.record_codec import encode_sanitized
from kimi_tui.history.records import PendingRecord, Record, UsageRecord


def step_records(
    state: ConversationState, messages: Sequence[Message], usage: UsageRecord | None
) -> list[Record]:
    """Return the records for a complete step: the model's message, its tool results, and further messages.

    A call without a result gets its pending result, or one that says it was interrupted. Raises
    ValueError for a result that no call awaits.
    """
    response, *rest = messages
    if response.role != "assistant" or any(message.role == "assistant" for message in rest):
        raise ValueError("a step must start with its only assistant message")
    results = [message for message in rest if message.role == "tool"]
    pending_results = list(state.step.results) if state.step is not None else []
    response, *results = message_with_results(response, results, finished=pending_results)
    records: list[Record] = [response, *results, *(message for message in rest if message.role != "tool")]
    if usage is not None:
        records.insert(1, usage)
    closing = [] if state.step is not None else state.closing_messages()
    return [*closing, *records]


def pending_records(state: ConversationState, message: Message) -> list[Record]:
    """Return the records for a message of the running step; empty if its step has ended."""
    if message.role not in {"assistant", "tool"}:
        raise ValueError(f"a message with role {message.role} can't be pending")
    closing: list[Message] = []
    if message.role == "assistant":
        closing = state.closing_messages()
    elif state.step is None or not state.step.has_call_for(message):
        return []
    _, data = encode_sanitized(message)
    return [*closing, PendingRecord(data.rstrip())]
