"""A model that answers what a test tells it to."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from kimi_tui.base.message import Message
from kimi_tui.llm.provider import StreamPart, ThinkingEffort, ToolSchema

Reply = Sequence[StreamPart | Exception | Callable[[], Any]]


class Model:
    """Answers with its replies in turn and remembers what it was sent; awaits the functions in a reply."""

    model_name = "model"

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.sent: list[tuple[Message, ...]] = []

    def with_thinking(self, effort: ThinkingEffort) -> "Model":
        return self

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        pass

    async def aclose(self) -> None:
        pass

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        self.sent.append(tuple(history))
        for part in self.replies.pop(0):
            if isinstance(part, Exception):
                raise part
            if callable(part):
                await part()
            else:
                yield part
