"""Conversations to compact, and a fake model that summarizes them."""

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from kimi_tui.base.content_parts import TextPart, system_note
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.compaction.strategy import CompactionContext
from kimi_tui.history.message_history import complete_tool_results
from kimi_tui.history.token_estimate import estimate_tokens
from kimi_tui.llm.provider import LLM, StreamPart, ThinkingEffort, ToolSchema


class UnusedModel:
    """Must not be called."""

    model_name = "none"

    def with_thinking(self, effort: ThinkingEffort) -> "UnusedModel":
        return self

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        pass

    async def aclose(self) -> None:
        pass

    def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        raise AssertionError("a strategy bypassed `ask`")


class FakeSummarizer:
    """Raises its errors, then returns `SUMMARY n`."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.system_prompts: list[str] = []
        self.questions: list[str] = []

    async def __call__(self, system_prompt: str, question: str) -> str:
        self.system_prompts.append(system_prompt)
        self.questions.append(question)
        if self.errors:
            raise self.errors.pop(0)
        return f"SUMMARY {len(self.questions)}"


def build_llm(window: int, *, max_output_tokens: int | None = None) -> LLM:
    return LLM(
        chat_provider=UnusedModel(),
        kind="scripted",
        name="m",
        max_context_size=window,
        max_output_tokens=max_output_tokens,
    )


def build_context(
    history: Sequence[Message], *, ask: FakeSummarizer | None = None, window: int = 100_000, **more: Any
) -> CompactionContext:
    """Return the context of a conversation whose last user message is the request."""
    users = [at for at, it in enumerate(history) if it.role == "user" and "<system>" not in it.text]
    values: dict[str, Any] = {
        "history": history,
        "token_count": estimate_tokens(history),
        "threshold": window * 85 // 100,
        "max_context_size": window,
        "reserved_context_size": window // 2,
        "llm": build_llm(window),
        "ask": ask or FakeSummarizer(),
        "request": users[-1] if users else None,
        **more,
    }
    return CompactionContext(**values)


def user(text: str) -> Message:
    return user_message(text)


def note(text: str) -> Message:
    return user_message((system_note(text),))


def assistant(text: str) -> Message:
    return Message("assistant", (TextPart(text),))


def tool_step(number: int, *results: str, text: str = "", **arguments: str) -> list[Message]:
    """Return an assistant message with a call for each of `results`, and the results."""
    calls = tuple(
        ToolCall(
            f"c{number}-{index}", FunctionCall("ReadFile", json.dumps(arguments or {"path": f"{number}.py"}))
        )
        for index in range(len(results))
    )
    return [
        Message("assistant", (TextPart(text),) if text else (), calls),
        *(
            Message("tool", (TextPart(result),), tool_call_id=call.id)
            for call, result in zip(calls, results, strict=True)
        ),
    ]


def tool_steps(count: int, *, size: int = 10) -> list[Message]:
    return [message for number in range(count) for message in tool_step(number, f"r{number} " + "x" * size)]


def assert_sendable(messages: Sequence[Message]) -> None:
    assert complete_tool_results(messages) == list(messages)
    assert messages[0].role == "user"
