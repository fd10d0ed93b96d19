"""Rebuilding a journal from memory after its file was deleted or moved."""

import time
from collections.abc import Iterator

from kimi_tui.history.conversation_state import CheckpointPosition, ConversationState
from kimi_tui.history.record_codec import encode_sanitized
from kimi_tui.history.records import Record, RepairRecord, UsageRecord


def rebuild_journal(state: ConversationState) -> tuple[ConversationState, list[bytes]]:
    """Return `state` with new offsets, and the lines of a new file after the system prompt's line."""
    new_state, lines, offset = ConversationState(), list[bytes](), 0
    new_state.system_prompt = state.system_prompt
    for record in _records(state):
        clean, data = encode_sanitized(record)
        new_state.apply(clean, offset=offset)
        lines.append(data)
        offset += len(data)
    return new_state, lines


def _records(state: ConversationState) -> Iterator[Record]:
    """Yield records that produce `state`, except for the system prompt."""
    n_messages, usage, n_reverts = 0, (0, 0), 0
    end = CheckpointPosition(0, len(state.history), state.token_count, state.n_counted, len(state.reverts))
    for position, checkpoint in (*zip(state.positions, state.checkpoints, strict=True), (end, None)):
        if (position.token_count, position.n_counted) != usage:
            usage = (position.token_count, position.n_counted)
            yield from state.history[n_messages : position.n_counted]
            n_messages = max(n_messages, position.n_counted)
            yield UsageRecord(position.token_count)
        yield from state.history[n_messages : position.messages]
        n_messages = position.messages
        yield from state.reverts[n_reverts : position.reverts]
        n_reverts = position.reverts
        if checkpoint is not None:
            yield checkpoint
    yield RepairRecord(next_id=state.next_id, time=time.time())
    if state.step is not None:
        yield from state.step.to_records()
