"""Delivery of a D-Mail: reverts the conversation, then adds the D-Mail's message."""

from kimi_tui.base.content_parts import TextPart, system_note
from kimi_tui.base.message import Message
from kimi_tui.compaction.boundaries import user_messages
from kimi_tui.history.context import Context
from kimi_tui.soul.checkpointer import Checkpointer, checkpoint_label
from kimi_tui.soul.turn_request import TurnRequest
from kimi_tui.tools.dmail import DMail
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import Reverted


async def deliver_dmail(
    dmail: DMail, *, context: Context, request: TurnRequest, checkpointer: Checkpointer, sender: EventSender
) -> None:
    """Revert to the target of `dmail` and add its message. The user's messages since `request` are kept.

    Raises: JournalWriteError.
    """
    history = context.history
    earlier_prompts = user_messages(history, 0, end=request.index)
    turn_prompts = user_messages(history, request.index, end=len(history))
    to_request = dmail.checkpoint_id == request.checkpoint
    result = await context.revert_to(dmail.checkpoint_id, reason="dmail", keep_user_message=to_request)
    sender.send(Reverted(result.to, result.from_id, "dmail", result.branch))
    n_messages = len(context.history)
    n_kept = max(0, len(user_messages(context.history, 0, end=n_messages)) - len(earlier_prompts))
    await checkpointer.create("dmail", checkpoint_label(dmail.message))
    if not n_kept:
        request.index = len(context.history)
    elif to_request:
        request.index = n_messages - n_kept
    await context.append_message([*turn_prompts[n_kept:], Message("user", (_build_dmail_note(dmail),))])


def _build_dmail_note(dmail: DMail) -> TextPart:
    return system_note(
        "You just received a D-Mail from your future self. What you did after this point has been reverted "
        "in the conversation, but not on disk. Act on the message without mentioning it to the user:"
        f"\n\n{dmail.message.strip()}"
    )
