"""LLMSummaryCompaction: a model summarises what is older."""

from collections.abc import Sequence

from kimi_tui.base.assets import read_asset
from kimi_tui.base.compacted import SUMMARY_LEAD, SUMMARY_REQUEST
from kimi_tui.base.errors import ContextTooLong
from kimi_tui.base.message import Message, user_message
from kimi_tui.compaction.passage import is_own, tail_within, users_words
from kimi_tui.compaction.strategy import CompactionContext
from kimi_tui.compaction.transcript import entries, pieces

PIECE_SHARE = 0.6
"""How much of the room a piece of the conversation takes; the rest is for the instructions, for the summary
so far and for tokens that the estimate missed."""
SMALLEST_PIECE = 250
TAIL_SHARE = 0.5


class LLMSummaryCompaction:
    """Keeps the newest messages that are the user's and the model's own, and the user's request; summarises
    the rest, in pieces when it is too long for one request."""

    def __init__(self, *, max_preserved_messages: int = 2) -> None:
        self._max_preserved_messages = max_preserved_messages

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        """A summary, the user's request and the newest messages; None when nothing but them is there.

        Raises ChatProviderError.
        """
        history = context.history
        start = tail_within(history, self._tail_start(history), limit=int(context.room * TAIL_SHARE))
        kept = users_words(history, context.request, until=start)
        old = [message for message in history[:start] if not any(message is words for words in kept)]
        if not any(is_own(message) or message.role == "tool" for message in old):
            return None
        summary = await _summary(context, entries(history[:start]))
        return [user_message(f"{SUMMARY_LEAD}\n\n{summary}"), *kept, *history[start:]]

    def _tail_start(self, history: Sequence[Message]) -> int:
        own = [at for at, message in enumerate(history) if is_own(message)]
        keep = self._max_preserved_messages
        return own[-keep] if 0 < keep <= len(own) else len(history) if keep <= 0 else 0


async def _summary(context: CompactionContext, texts: Sequence[str]) -> str:
    """The summary of `texts`, piece by piece, in smaller ones when the model finds them too long."""
    limit = max(SMALLEST_PIECE, int(context.room * PIECE_SHARE))
    left = pieces(texts, limit)
    summary = ""
    while left:
        try:
            summary = await context.ask(_instructions(), _question(left[0], summary, context.focus))
        except ContextTooLong:
            limit //= 2
            if limit < SMALLEST_PIECE:
                raise
            left = pieces(left, limit)
        else:
            left = left[1:]
    return summary.strip()


def _instructions() -> str:
    return read_asset("prompts", "compact.md").strip()


def _question(piece: str, summary: str, focus: str) -> str:
    parts = [SUMMARY_REQUEST]
    if focus:
        parts.append(f"The user asks you to look at this above all: {focus}")
    if summary:
        parts.append(f"<summary-so-far>\n{summary}\n</summary-so-far>")
    parts.append(f"<conversation>\n{piece}\n</conversation>")
    return "\n\n".join(parts)
