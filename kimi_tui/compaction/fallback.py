"""FallbackCompaction: drops older messages without asking a model."""

from collections import Counter
from collections.abc import Sequence

from kimi_tui.base.compaction_markers import SUMMARY_PREFIX, is_summary, summary_text
from kimi_tui.base.content_parts import system_note
from kimi_tui.base.message import Message, user_message
from kimi_tui.compaction.boundaries import (
    cut_points,
    find_tail_start,
    is_user_or_model_message,
    user_messages,
)
from kimi_tui.compaction.strategy import CompactionContext
from kimi_tui.compaction.summary_input import truncate_middle
from kimi_tui.history.token_estimate import BYTES_PER_TOKEN, estimate_tokens

MAX_TAIL_SHARE = 0.5
MAX_SUMMARY_SHARE = 0.2
_KINDS = {"user": "{} from the user", "assistant": "{} from you", "tool": "{} from tools"}


class FallbackCompaction:
    """Keeps the newest messages, the user's request and an earlier summary.

    A tool call is never separated from its results.
    """

    def __init__(self, *, kept_messages: int = 10) -> None:
        self._kept_messages = kept_messages

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        """Return a warning about the dropped messages, the user's request and the newest messages.

        Return None if no messages can be dropped.
        """
        history = context.history
        start = find_tail_start(history, self._tail_start(history), limit=int(context.room * MAX_TAIL_SHARE))
        kept = user_messages(history, context.request, end=start)
        summaries = [message for message in history[:start] if is_summary(message)][-1:]
        dropped = [
            message for message in history[:start] if not any(message is one for one in (*kept, *summaries))
        ]
        if not any(is_user_or_model_message(message) or message.role == "tool" for message in dropped):
            return None
        shortened = [_truncate_summary(summary, context) for summary in summaries]
        return [*shortened, user_message((system_note(_build_warning(dropped)),)), *kept, *history[start:]]

    def _tail_start(self, history: Sequence[Message]) -> int:
        """Return the first cut point among the newest messages, or the last cut point before them."""
        inside = [at for at in cut_points(history)[:-1] if at >= len(history) - self._kept_messages]
        return inside[0] if inside else cut_points(history)[-2] if history else 0


def _truncate_summary(summary: Message, context: CompactionContext) -> Message:
    limit = int(context.room * MAX_SUMMARY_SHARE)
    if estimate_tokens([summary]) <= limit:
        return summary
    return user_message(
        f"{SUMMARY_PREFIX}\n\n{truncate_middle(summary_text(summary), limit * BYTES_PER_TOKEN // 3)}"
    )


def _build_warning(dropped: Sequence[Message]) -> str:
    roles = Counter(
        message.role for message in dropped if is_user_or_model_message(message) or message.role == "tool"
    )
    counts = ", ".join(_KINDS[role].format(count) for role, count in roles.items())
    return (
        "The conversation was too long and could not be summarized, so older messages were dropped: "
        f"{counts}. You don't know what they contained. Read the files that you need again, and ask the user "
        "about earlier decisions before you rely on them."
    )
