"""LLMSummaryCompaction: a model summarizes older messages."""

from collections.abc import Sequence

from kimi_tui.base.assets import read_asset
from kimi_tui.base.compaction_markers import SUMMARY_PREFIX, SUMMARY_REQUEST
from kimi_tui.base.errors import ContextTooLong
from kimi_tui.base.message import Message, user_message
from kimi_tui.compaction.boundaries import find_tail_start, is_user_or_model_message, user_messages
from kimi_tui.compaction.strategy import CompactionContext
from kimi_tui.compaction.summary_input import split_into_chunks, transcript_entries

CHUNK_SHARE = 0.6
"""Share of a request that a chunk of the conversation can use. The rest is for the instructions, the summary
so far and errors of the token estimate.
"""
MIN_CHUNK_TOKENS = 250
MAX_TAIL_SHARE = 0.5


class LLMSummaryCompaction:
    """Keeps the user's request and the newest messages of the user and the model. Summarizes the rest.

    If the conversation is too long for one request, it is summarized in chunks.
    """

    def __init__(self, *, max_preserved_messages: int = 2) -> None:
        self._max_preserved_messages = max_preserved_messages

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        """Return a summary, the user's request and the newest messages; None without messages to summarize.

        Raises: ChatProviderError.
        """
        history = context.history
        start = find_tail_start(history, self._tail_start(history), limit=int(context.room * MAX_TAIL_SHARE))
        kept = user_messages(history, context.request, end=start)
        old = [message for message in history[:start] if not any(message is it for it in kept)]
        if not any(is_user_or_model_message(message) or message.role == "tool" for message in old):
            return None
        summary = await _summarize(context, transcript_entries(history[:start]))
        return [user_message(f"{SUMMARY_PREFIX}\n\n{summary}"), *kept, *history[start:]]

    def _tail_start(self, history: Sequence[Message]) -> int:
        indexes = [at for at, message in enumerate(history) if is_user_or_model_message(message)]
        keep = self._max_preserved_messages
        return indexes[-keep] if 0 < keep <= len(indexes) else len(history) if keep <= 0 else 0


async def _summarize(context: CompactionContext, texts: Sequence[str]) -> str:
    """Summarize `texts` chunk by chunk. If the provider rejects a chunk as too long, use smaller chunks."""
    limit = max(MIN_CHUNK_TOKENS, int(context.room * CHUNK_SHARE))
    chunks = split_into_chunks(texts, limit)
    summary = ""
    while chunks:
        try:
            summary = await context.ask(
                _read_instructions(), _build_question(chunks[0], summary, context.focus)
            )
        except ContextTooLong:
            limit //= 2
            if limit < MIN_CHUNK_TOKENS:
                raise
            chunks = split_into_chunks(chunks, limit)
        else:
            chunks = chunks[1:]
    return summary.strip()


def _read_instructions() -> str:
    return read_asset("prompts", "compact.md").strip()


def _build_question(chunk: str, summary: str, focus: str) -> str:
    parts = [SUMMARY_REQUEST]
    if focus:
        parts.append(f"The user asks you to focus on this: {focus}")
    if summary:
        parts.append(f"<summary-so-far>\n{summary}\n</summary-so-far>")
    parts.append(f"<conversation>\n{chunk}\n</conversation>")
    return "\n\n".join(parts)
