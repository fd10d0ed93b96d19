"""Demo model: works offline, without an API key, and runs simple requests with real tools.

`demo.grammar` defines the requests that the model understands. For other requests, it explains what to type
and how to set up a real model. The model is stateless: each response depends only on the conversation.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Sequence

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.ids import new_id
from kimi_tui.base.message import Message, ToolCall, ToolCallPart
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.demo.grammar import parse_request
from kimi_tui.llm.demo.phrases import Phrases, phrases_for
from kimi_tui.llm.demo.response import DemoResponse, respond_to_parts
from kimi_tui.llm.demo.summary import respond_to_summary_request
from kimi_tui.llm.demo.tools import DemoTools
from kimi_tui.llm.demo.tour import respond_to_tour
from kimi_tui.llm.demo.turn import DemoTurn, read_turn
from kimi_tui.llm.provider import MessageStart, ProviderSettings, StreamPart, ThinkingEffort, ToolSchema
from kimi_tui.llm.scripted.chunking import fixed_chunks, split_into_chunks

_PACE_S = 0.012
_ARGUMENT_PIECES = 30
_WORD = re.compile(
    "[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]{1,2}|[^\\s\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]+\\s*|\\s+"
)
_GREETINGS = frozenset({"hello", "hi", "hey", "hello there", "hi there", "你好", "您好", "嗨", "哈喽"})
_TOUR_COMMANDS = frozenset({"tour", "the tour", "demo", "show me around", "导览", "演示"})
_HELP_COMMANDS = frozenset({"", "help", "what can you do", "帮助", "你会什么", "你能做什么"})


class DemoProvider:
    """ChatProvider that needs no network. `pace` is the delay between two streamed fragments, in seconds."""

    def __init__(
        self, settings: ProviderSettings, *, pace: float = _PACE_S, effort: ThinkingEffort = "off"
    ) -> None:
        self._settings = settings
        self._pace = pace
        self._effort = effort

    @property
    def model_name(self) -> str:
        """The name in the settings."""
        return self._settings.model

    def with_thinking(self, effort: ThinkingEffort) -> "DemoProvider":
        """Return a demo model that shows thinking unless `effort` is off."""
        return DemoProvider(self._settings, pace=self._pace, effort=effort)

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        """Do nothing: nothing needs loading."""

    async def aclose(self) -> None:
        """Do nothing: no connections are open."""

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        """Stream the response to `history`. Never fails."""
        response = next_response(read_turn(history), DemoTools(tools))
        output = ""
        yield MessageStart(new_id())
        for part in self._stream(response):
            await asyncio.sleep(self._pace)
            output += _text_of(part)
            yield part
        inputs = [system_prompt, *(tool.description for tool in tools), *map(_all_text, history)]
        yield TokenUsage(input_other=sum(map(_tokens, inputs)), output=_tokens(output))

    def _stream(self, response: DemoResponse) -> Iterator[StreamPart]:
        if self._effort != "off":
            yield from split_into_chunks(ThinkPart(response.thought), _WORD.findall)
        if response.text:
            yield from split_into_chunks(TextPart(response.text), _WORD.findall)
        for call in response.calls:
            size = len(call.function.arguments or "") // _ARGUMENT_PIECES
            yield from split_into_chunks(call, fixed_chunks(max(12, size)))


def next_response(turn: DemoTurn, tools: DemoTools) -> DemoResponse:
    """Return the demo model's next message in `turn`."""
    summary = respond_to_summary_request(turn.request)
    if summary is not None:
        return summary
    phrases = phrases_for(turn.request)
    command = turn.request.lower().strip(" \t\n.,!?。，！？~～")
    if command in _TOUR_COMMANDS:
        return respond_to_tour(turn, tools, phrases)
    if command in _GREETINGS:
        return DemoResponse(phrases.final_thought, phrases.greeting)
    parts = parse_request(turn.request)
    if parts:
        return respond_to_parts(turn, parts, tools, phrases)
    return _guide(turn, phrases, unknown="" if command in _HELP_COMMANDS else phrases.not_understood)


def _guide(turn: DemoTurn, phrases: Phrases, *, unknown: str) -> DemoResponse:
    image_notes = [phrases.no_image_support] if turn.has_images else []
    guide = phrases.guide.format(unknown=unknown)
    return DemoResponse(phrases.final_thought, "\n\n".join([*image_notes, guide, phrases.connect]))


def _tokens(text: str) -> int:
    """Return the approximate number of tokens of `text`: one per four bytes."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def _text_of(part: StreamPart) -> str:
    match part:
        case TextPart(text=text):
            return text
        case ThinkPart(think=think):
            return think
        case ToolCall(function=function):
            return function.name + (function.arguments or "")
        case ToolCallPart(arguments_part=piece):
            return piece or ""
        case _:
            return ""


def _all_text(message: Message) -> str:
    calls = (call.function for call in message.tool_calls or ())
    return message.text + "".join(call.name + (call.arguments or "") for call in calls)
