"""Interface of compaction strategies, and their input (`docs/compaction.md`)."""

from collections.abc import Sequence
from typing import Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.llm.provider import LLM


class AskModel(Protocol):
    """Asks the model one question, without tools. Temporary failures are retried."""

    async def __call__(self, system_prompt: str, question: str) -> str:
        """Return the text of the response.

        Raises: ChatProviderError, including ContextTooLong.
        """
        ...


@frozen(kw_only=True)
class CompactionContext:
    """A conversation to compact. All sizes are in tokens."""

    history: Sequence[Message]
    """The messages. The carry-over note of an earlier compaction is left out, because it is rebuilt."""
    token_count: int
    """Size of the conversation, including the system prompt and the tools."""
    threshold: int
    """Size at which a compaction is due."""
    max_context_size: int
    reserved_context_size: int
    """Part of the context window that is reserved for the response."""
    llm: LLM
    ask: AskModel
    request: int | None = None
    """Index of the user's latest request in the history. Keep it and later user messages verbatim."""
    focus: str = ""
    """Focus of the summary, as requested by the user; empty if not specified."""

    @property
    def room(self) -> int:
        """Maximum size of a request to the model."""
        return max(1, self.max_context_size - self.reserved_context_size)


class CompactionStrategy(Protocol):
    """Shortens a conversation. As for tools, positional constructor arguments are injected by annotation."""

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        """Return the messages that replace the history, or None to leave it unchanged.

        A strategy may drop, replace and merge messages. It must keep the order of the messages, and keep each
        tool message together with its call.

        Raises: ChatProviderError if the model fails.
        """
        ...
