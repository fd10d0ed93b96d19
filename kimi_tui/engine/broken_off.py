"""What the model had said of an answer when the program was ended in the middle of it."""

import asyncio

from kimi_tui.base.content import ContentPart, TextPart, ThinkPart, is_blank, merged
from kimi_tui.base.message import Message
from kimi_tui.engine.recorded import recorded_since
from kimi_tui.history.context import Context
from kimi_tui.history.conversation import broken_off
from kimi_tui.history.session import Session
from kimi_tui.wire.events import StepRetry


async def keep_what_broke_off(session: Session, context: Context) -> None:
    """Put what the recording has of an answer that the journal lacks into it, as an interrupt does.

    A step comes to the journal when it is whole; the recording is half a second behind what streams.
    """
    newest = context.checkpoints[-1] if context.checkpoints else None
    if newest is None or newest.kind != "step" or context.since_checkpoint:
        return
    partial = await asyncio.to_thread(_partial, session, newest.uid)
    if partial is not None:
        await context.append_step(broken_off(partial), token_count=None)


def _partial(session: Session, checkpoint: str) -> Message | None:
    said: list[ContentPart] = []
    before: list[ContentPart] = []
    for message in recorded_since(session.wire_file, checkpoint):
        match message:
            case TextPart() | ThinkPart():
                said.append(message)
            case StepRetry():
                said, before = [], said or before
            case _:
                pass
    parts = tuple(part for part in merged(said or before) if not is_blank((part,)))
    return Message("assistant", parts) if parts else None
