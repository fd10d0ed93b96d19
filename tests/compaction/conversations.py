"""Conversations to compact, and a model that summarises them."""

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from kimi_tui.base.content import TextPart, system_note
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.compaction.strategy import CompactionContext
from kimi_tui.history.conversation import sendable
from kimi_tui.history.estimate import estimated_tokens
from kimi_tui.llm.provider import LLM, StreamPart, ThinkingEffort, ToolSchema


class NoModel:
    """Must not be called."""

    model_name = "none"

    def with_thinking(self, effort: ThinkingEffort) -> "NoModel":
        return self

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        pass

    async def aclose(self) -> None:
        pass

    def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        raise AssertionError("a strategy went past `ask`")


class Summariser:
    """Answers `SUMMARY n`, and raises its errors first."""

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


def context_of(
    history: Sequence[Message], *, ask: Summariser | None = None, window: int = 100_000, **more: Any
) -> CompactionContext:
    """A conversation of which the last thing that the user said is the request."""
    users = [at for at, said in enumerate(history) if said.role == "user" and "<system>" not in said.text]
    values: dict[str, Any] = {
        "history": history,
        "token_count": estimated_tokens(history),
        "threshold": window * 85 // 100,
        "max_context_size": window,
        "reserved_context_size": window // 2,
        "llm": LLM(chat_provider=NoModel(), kind="scripted", name="m", max_context_size=window),
        "ask": ask or Summariser(),
        "request": users[-1] if users else None,
        **more,
    }
    return CompactionContext(**values)


def said(text: str) -> Message:
    return user_message(text)


def note(text: str) -> Message:
    return user_message((system_note(text),))


def answered(text: str) -> Message:
    return Message("assistant", (TextPart(text),))


def step(number: int, *results: str, text: str = "", **arguments: str) -> list[Message]:
    """An assistant message that makes a call for each of `results`, and the results."""
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


def steps(count: int, *, size: int = 10) -> list[Message]:
    return [message for number in range(count) for message in step(number, f"r{number} " + "x" * size)]


def assert_sendable(messages: Sequence[Message]) -> None:
    assert sendable(messages) == list(messages)
    assert messages[0].role == "user"
