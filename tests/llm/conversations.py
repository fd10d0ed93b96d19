"""Helpers that send conversations to a provider and collect its responses."""

from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from kimi_tui.base.content_parts import ContentPart, TextPart, ThinkPart, merge_parts, text_of
from kimi_tui.base.message import FunctionCall, Message, ToolCall, ToolCallPart, user_message
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.factory import create_provider
from kimi_tui.llm.provider import (
    ChatProvider,
    MessageStart,
    ProviderKind,
    ProviderSettings,
    StreamPart,
    ToolSchema,
)

HELLO = (user_message("hello"),)
READ_FILE = ToolSchema(
    "ReadFile",
    "Reads a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
PIXEL = "data:image/png;base64,aVZCT1J3MEtHZ28="


@dataclass
class CollectedResponse:
    """A complete response, assembled from its StreamParts."""

    parts: list[StreamPart] = field(default_factory=list)

    @property
    def message(self) -> Message:
        content: list[ContentPart] = [part for part in self.parts if isinstance(part, TextPart | ThinkPart)]
        calls: dict[str, ToolCall] = {}
        last = ""
        for part in self.parts:
            match part:
                case ToolCall():
                    assert part.id not in calls, "duplicate id"
                    calls[part.id] = part
                    last = part.id
                case ToolCallPart(arguments_part=fragment, tool_call_id=call_id):
                    call = calls[call_id or last]
                    whole = (call.function.arguments or "") + (fragment or "")
                    calls[call.id] = ToolCall(
                        call.id, FunctionCall(call.function.name, whole), extras=call.extras
                    )
                case _:
                    continue
        return Message("assistant", merge_parts(content), tuple(calls.values()) or None)

    @property
    def text(self) -> str:
        return text_of(self.message.content)

    @property
    def thought(self) -> str:
        return "".join(part.think for part in self.message.content if isinstance(part, ThinkPart))

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Return names and arguments of the tool calls."""
        return [(call.function.name, call.function.arguments or "") for call in self.message.tool_calls or ()]

    @property
    def usage(self) -> TokenUsage | None:
        usages = [part for part in self.parts if isinstance(part, TokenUsage)]
        return usages[-1] if usages else None

    @property
    def message_id(self) -> str | None:
        return next((part.message_id for part in self.parts if isinstance(part, MessageStart)), None)


def provider_for(kind: ProviderKind, base_url: str, **settings: Any) -> ChatProvider:
    """Return a provider with timeouts that suit a test."""
    defaults: dict[str, Any] = {"model": "loopback", "api_key": "sk-loopback-secret", "idle_timeout_s": 20.0}
    return create_provider(ProviderSettings(kind=kind, base_url=base_url, **{**defaults, **settings}))


async def ask(
    provider: ChatProvider,
    history: Sequence[Message] = HELLO,
    *,
    tools: Iterable[ToolSchema] = (),
    system_prompt: str = "You are a test.",
    into: CollectedResponse | None = None,
) -> CollectedResponse:
    """Return the provider's response to `history`. It's collected in `into` as it arrives."""
    reply = into or CollectedResponse()
    async with aclosing(provider.generate(system_prompt, tuple(tools), history)) as parts:  # type: ignore[type-var]
        async for part in parts:
            reply.parts.append(part)
    return reply


def results(message: Message, *outputs: str) -> list[Message]:
    """Return a result for each call of `message`."""
    calls = message.tool_calls or ()
    assert len(calls) == len(outputs)
    return [
        Message("tool", (TextPart(output),), tool_call_id=call.id)
        for call, output in zip(calls, outputs, strict=True)
    ]
