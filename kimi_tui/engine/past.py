"""The past of a session, as front ends are told of it."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from kimi_tui.base.collection import uncollected
from kimi_tui.base.content import is_system_note
from kimi_tui.base.errors import SessionError
from kimi_tui.base.message import Message
from kimi_tui.engine.recorded import read_recording, with_commands
from kimi_tui.engine.replay import Marked, replayed
from kimi_tui.history.context import Context
from kimi_tui.history.journal import raw_lines
from kimi_tui.history.notation import DamagedLine, parse
from kimi_tui.history.session import Session
from kimi_tui.wire.events import Event, ReplayBegin, ReplayEnd

logger = logging.getLogger(__name__)

_LONG = 1 << 20
"""Bytes of a journal from which on its end is worth a look of its own."""
_END = 1 << 16
"""Bytes of its end that are looked at: more than a screen or two."""
_END_OF_RECORDING = 1 << 18


async def tell_past(
    send: Callable[[Event], None], session: Session, context: Context, *, anew: bool = False
) -> None:
    """Send what was said and run, between ReplayBegin and ReplayEnd; nothing for an empty conversation.

    With `anew` it takes the place of what was told before, also when it is empty.
    """
    if not (context.history or anew):
        return
    history, marked = tuple(context.history), tuple(context.marked)
    events = await asyncio.to_thread(_past_of, session.wire_file, history, marked)
    send(ReplayBegin(anew))
    for event in events:
        send(event)
    send(ReplayEnd())


def _past_of(recording: Path, history: Sequence[Message], marked: Marked) -> list[Event]:
    """What was said and run in a conversation: of a long one it takes too long to hold the loop for it."""
    recorded = read_recording(recording)
    with uncollected():
        said = replayed(history, recorded.results, marked)
        return list(with_commands(said, recorded.commands.values() if history else ()))


async def tell_end(send: Callable[[Event], None], session: Session) -> bool:
    """Send the latest turns of a long conversation, to be seen while it is read. Whether there are any.

    What is cut off, damaged or still open is left out: `tell_past` tells all of it, `anew`.
    """
    events = await asyncio.to_thread(_end_of, session)
    if events:
        send(ReplayBegin())
        for event in events:
            send(event)
        send(ReplayEnd())
    return bool(events)


def _end_of(session: Session) -> list[Event]:
    try:
        size = session.context_file.stat().st_size
        messages = _messages_from(session, size - _END) if size >= _LONG else []
    except (OSError, SessionError):
        logger.info("the end of the conversation can't be read", exc_info=True)
        return []
    begin = next((at for at, message in enumerate(messages) if _begins_turn(message)), len(messages))
    if begin == len(messages):
        return []
    recorded = read_recording(session.wire_file, last=_END_OF_RECORDING)
    return list(replayed(messages[begin:], recorded.results))


def _messages_from(session: Session, start: int) -> list[Message]:
    """The messages in the whole lines after byte `start`. Raises SessionError."""
    messages = []
    for line in islice(raw_lines(session.context_file, start=start), 1, None):
        try:
            record, _ = parse(line.data)
        except DamagedLine:
            continue
        if isinstance(record, Message):
            messages.append(record)
    return messages


def _begins_turn(message: Message) -> bool:
    return message.role == "user" and not message.steer and not is_system_note(message.content)
