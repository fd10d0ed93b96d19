"""Delivering a D-Mail: the conversation goes back, and its earlier self reads the message."""

from kimi_tui.base.content import TextPart, system_note
from kimi_tui.base.message import Message
from kimi_tui.compaction.passage import users_words
from kimi_tui.history.context import Context
from kimi_tui.soul.checkpointing import Checkpoints, label_of
from kimi_tui.soul.request import Request
from kimi_tui.soul.send import Send
from kimi_tui.tools.dmail import DMail
from kimi_tui.wire.events import Reverted


async def deliver(
    dmail: DMail, *, context: Context, request: Request, checkpoints: Checkpoints, send: Send
) -> None:
    """Revert to where `dmail` goes. What the user said since `request` is kept wherever that is.

    Raises JournalWriteError.
    """
    history = context.history
    said_before = users_words(history, 0, until=request.index)
    said_now = users_words(history, request.index, until=len(history))
    to_request = dmail.checkpoint_id == request.checkpoint
    reversion = await context.revert_to(dmail.checkpoint_id, reason="dmail", keep_user_message=to_request)
    send(Reverted(reversion.to, reversion.from_id, "dmail", reversion.branch))
    kept = len(context.history)
    said_still = max(0, len(users_words(context.history, 0, until=kept)) - len(said_before))
    await checkpoints.make("dmail", label_of(dmail.message))
    if not said_still:
        request.index = len(context.history)
    elif to_request:
        request.index = kept - said_still
    await context.append_message([*said_now[said_still:], Message("user", (_from_the_future(dmail),))])


def _from_the_future(dmail: DMail) -> TextPart:
    return system_note(
        "You just received a D-Mail from your future self. What you did after this point has been taken "
        "back in the conversation, but not on disk. Act on it without telling the user of it: "
        f"\n\n{dmail.message.strip()}"
    )
