"""FallbackCompaction: without a model, older messages are dropped, and the conversation says so."""

from collections import Counter
from collections.abc import Sequence

from kimi_tui.base.compacted import SUMMARY_LEAD, is_summary, summary_text
from kimi_tui.base.content import system_note
from kimi_tui.base.message import Message, user_message
from kimi_tui.compaction.passage import borders, is_own, tail_within, users_words
from kimi_tui.compaction.strategy import CompactionContext
from kimi_tui.compaction.transcript import clipped
from kimi_tui.history.estimate import BYTES_PER_TOKEN, estimated_tokens

TAIL_SHARE = 0.5
SUMMARY_SHARE = 0.2
_KINDS = {"user": "{} of the user's", "assistant": "{} of yours", "tool": "{} of tools"}


class FallbackCompaction:
    """Keeps the newest messages on group borders, the user's request and an earlier summary."""

    def __init__(self, *, kept_messages: int = 10) -> None:
        self._kept_messages = kept_messages

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        """A warning of what was dropped, the user's request and the newest messages.

        None when there is nothing to drop.
        """
        history = context.history
        start = tail_within(history, self._tail_start(history), limit=int(context.room * TAIL_SHARE))
        kept = users_words(history, context.request, until=start)
        summaries = [message for message in history[:start] if is_summary(message)][-1:]
        dropped = [
            message for message in history[:start] if not any(message is one for one in (*kept, *summaries))
        ]
        if not any(is_own(message) or message.role == "tool" for message in dropped):
            return None
        shortened = [_shortened(summary, context) for summary in summaries]
        return [*shortened, user_message((system_note(_warning(dropped)),)), *kept, *history[start:]]

    def _tail_start(self, history: Sequence[Message]) -> int:
        """Within the newest messages when a border lies there, else at the last one before them."""
        inside = [at for at in borders(history)[:-1] if at >= len(history) - self._kept_messages]
        return inside[0] if inside else borders(history)[-2] if history else 0


def _shortened(summary: Message, context: CompactionContext) -> Message:
    limit = int(context.room * SUMMARY_SHARE)
    if estimated_tokens([summary]) <= limit:
        return summary
    return user_message(f"{SUMMARY_LEAD}\n\n{clipped(summary_text(summary), limit * BYTES_PER_TOKEN // 3)}")


def _warning(dropped: Sequence[Message]) -> str:
    roles = Counter(message.role for message in dropped if is_own(message) or message.role == "tool")
    counts = ", ".join(_KINDS[role].format(count) for role, count in roles.items())
    return (
        "The conversation was too long and could not be summarised, so older messages were dropped: "
        f"{counts}. You don't know what was in it. Look again at the files that you need, and ask the user "
        "about what was agreed, before you rely on either."
    )
