"""Recovery of a response that was being streamed when the program was killed."""

import asyncio

from kimi_tui.base.content_parts import ContentPart, TextPart, ThinkPart, is_blank, merge_parts
from kimi_tui.base.message import Message
from kimi_tui.engine.recording.index import read_messages_since
from kimi_tui.history.context import Context
from kimi_tui.history.message_history import interrupted_messages
from kimi_tui.history.session import Session
from kimi_tui.wire.events import StepRetry


async def save_partial_response(session: Session, context: Context) -> None:
    """Append a partial response that is in the recording but not in the journal, as after an interrupt.

    The journal gets a step once the step is complete. The recording is up to 0.5 s behind the stream.
    """
    newest = context.checkpoints[-1] if context.checkpoints else None
    if newest is None or newest.kind != "step" or context.messages_since_checkpoint:
        return
    partial = await asyncio.to_thread(_read_partial_response, session, newest.uid)
    if partial is not None:
        await context.append_step(interrupted_messages(partial), token_count=None)


def _read_partial_response(session: Session, checkpoint: str) -> Message | None:
    parts: list[ContentPart] = []
    previous_attempt: list[ContentPart] = []
    for message in read_messages_since(session.wire_file, checkpoint):
        match message:
            case TextPart() | ThinkPart():
                parts.append(message)
            case StepRetry():
                parts, previous_attempt = [], parts or previous_attempt
            case _:
                pass
    content = tuple(part for part in merge_parts(parts or previous_attempt) if not is_blank((part,)))
    return Message("assistant", content) if content else None
