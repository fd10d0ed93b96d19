"""What a compaction strategy is, and what it gets to work with (`docs/compaction.md`)."""

from collections.abc import Sequence
from typing import Protocol

from kimi_tui.base.message import Message
from kimi_tui.base.value import value
from kimi_tui.llm.provider import LLM


class Ask(Protocol):
    """Puts one question to the model, without tools; failures that may pass are tried again."""

    async def __call__(self, system_prompt: str, question: str) -> str:
        """The answer's text. Raises ChatProviderError, ContextTooLong among them."""
        ...


@value(kw_only=True)
class CompactionContext:
    """A conversation that is to become shorter. All sizes are in tokens."""

    history: Sequence[Message]
    """Without what an earlier compaction restated: that is restated anew."""
    token_count: int
    """The weight of the conversation, with what is sent beside the history."""
    threshold: int
    """From this weight on, a compaction is due."""
    max_context_size: int
    reserved_context_size: int
    """How much of the model's window is kept free for its answer."""
    llm: LLM
    ask: Ask
    request: int | None = None
    """Where in the history the user's latest request stands. It, and what the user has said since, is kept
    word for word."""
    focus: str = ""
    """What the user asked a summary to look at above all."""

    @property
    def room(self) -> int:
        """How much a request to the model may weigh."""
        return max(1, self.max_context_size - self.reserved_context_size)


class CompactionStrategy(Protocol):
    """Makes a conversation shorter. Collaborators come in as a tool's do: positional, by annotation."""

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        """The messages that replace the history, or None when there is nothing to do.

        It may drop, replace and merge; it keeps the order, and each tool message that it keeps stays with its
        call. Raises ChatProviderError when the model fails it.
        """
        ...
