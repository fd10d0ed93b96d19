"""Sender of replays: the history of a session for front ends."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from kimi_tui.base.content_parts import is_system_note
from kimi_tui.base.errors import SessionError
from kimi_tui.base.gc_control import gc_paused
from kimi_tui.base.message import Message
from kimi_tui.engine.recording.index import load_recording, merge_commands
from kimi_tui.engine.recording.replay import CheckpointPositions, replay_events
from kimi_tui.history.context import Context
from kimi_tui.history.journal import raw_lines
from kimi_tui.history.record_codec import DamagedLine, parse
from kimi_tui.history.session import Session
from kimi_tui.wire.events import Event, ReplayBegin, ReplayEnd

logger = logging.getLogger(__name__)

_LONG_JOURNAL_BYTES = 1 << 20
"""Journal size in bytes above which its tail is sent first."""
_TAIL_BYTES = 1 << 16
"""Size of the tail in bytes: more than one or two screens."""
_RECORDING_TAIL_BYTES = 1 << 18


async def send_replay(
    send: Callable[[Event], None], session: Session, context: Context, *, replace_previous: bool = False
) -> None:
    """Send the conversation between ReplayBegin and ReplayEnd. Send nothing if the conversation is empty.

    With `replace_previous`, front ends replace their conversation, even with an empty one.
    """
    if not (context.history or replace_previous):
        return
    history, positions = tuple(context.history), tuple(context.indexed_checkpoints)
    events = await asyncio.to_thread(_build_replay, session.wire_file, history, positions)
    send(ReplayBegin(replace_previous))
    for event in events:
        send(event)
    send(ReplayEnd())


def _build_replay(
    recording: Path, history: Sequence[Message], checkpoint_positions: CheckpointPositions
) -> list[Event]:
    """Return the events of a conversation.

    Runs in a thread, because a long conversation would block the event loop.
    """
    index = load_recording(recording)
    with gc_paused():
        events = replay_events(history, index.results, checkpoint_positions)
        return list(merge_commands(events, index.commands.values() if history else ()))


def read_replay_tail(session: Session) -> list[Event]:
    """Return the replay of the latest turns of a long conversation, which are shown while the rest loads.

    Incomplete, damaged and pending messages are left out; `send_replay` later replaces them. Empty for a
    short conversation. Blocks.
    """
    try:
        size = session.context_file.stat().st_size
        messages = _read_messages_from(session, size - _TAIL_BYTES) if size >= _LONG_JOURNAL_BYTES else []
    except (OSError, SessionError):
        logger.info("can't read the end of the conversation", exc_info=True)
        return []
    begin = next((at for at, message in enumerate(messages) if _starts_turn(message)), len(messages))
    if begin == len(messages):
        return []
    index = load_recording(session.wire_file, max_bytes=_RECORDING_TAIL_BYTES)
    return [ReplayBegin(), *replay_events(messages[begin:], index.results), ReplayEnd()]


def _read_messages_from(session: Session, start: int) -> list[Message]:
    """Return the messages in the complete lines after byte `start`. Raises SessionError."""
    messages = []
    for line in islice(raw_lines(session.context_file, start=start), 1, None):
        try:
            record, _ = parse(line.data)
        except DamagedLine:
            continue
        if isinstance(record, Message):
            messages.append(record)
    return messages


def _starts_turn(message: Message) -> bool:
    return message.role == "user" and not message.steer and not is_system_note(message.content)
