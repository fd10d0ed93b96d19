"""Fake model that plays scripted replies."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from kimi_tui.base.message import Message
from kimi_tui.llm.provider import StreamPart, ThinkingEffort, ToolSchema

Reply = Sequence[StreamPart | Exception | Callable[[], Any]]


class FakeModel:
    """Plays its replies in order and records the requests. Functions in a reply are awaited."""

    model_name = "model"

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[tuple[Message, ...]] = []

    def with_thinking(self, effort: ThinkingEffort) -> "FakeModel":
        return self

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        pass

    async def aclose(self) -> None:
        pass

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        self.requests.append(tuple(history))
        for part in self.replies.pop(0):
            if isinstance(part, Exception):
                raise part
            if callable(part):
                await part()
            else:
                yield part
