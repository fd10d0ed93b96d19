"""The demo model: offline, without a key or a model; it does what its small grammar says, with real tools.

What it understands is in `demo_grammar`. To everything else it answers with what it is, what to type and how
to reach a real model. It keeps no state: each answer follows from the conversation alone.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Sequence

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.identity import new_id
from kimi_tui.base.message import Message, ToolCall, ToolCallPart
from kimi_tui.base.usage import TokenUsage
from kimi_tui.llm.demo_answer import Answer, answer_to_parts
from kimi_tui.llm.demo_grammar import parse_request
from kimi_tui.llm.demo_summary import answer_to_summary_request
from kimi_tui.llm.demo_tools import DemoTools
from kimi_tui.llm.demo_tour import answer_to_tour
from kimi_tui.llm.demo_turn import Turn, read_turn
from kimi_tui.llm.demo_words import Words, words_for
from kimi_tui.llm.fragments import every, fragments
from kimi_tui.llm.provider import MessageStart, ProviderSettings, StreamPart, ThinkingEffort, ToolSchema

_PACE_S = 0.012
_ARGUMENT_PIECES = 30
_WORD = re.compile(
    "[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]{1,2}|[^\\s\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]+\\s*|\\s+"
)
_HELLOS = frozenset({"hello", "hi", "hey", "hello there", "hi there", "你好", "您好", "嗨", "哈喽"})
_TOURS = frozenset({"tour", "the tour", "demo", "show me around", "导览", "演示"})
_HELPS = frozenset({"", "help", "what can you do", "帮助", "你会什么", "你能做什么"})


class DemoProvider:
    """A ChatProvider that needs no network. `pace` is the seconds between two pieces of its stream."""

    def __init__(
        self, settings: ProviderSettings, *, pace: float = _PACE_S, effort: ThinkingEffort = "off"
    ) -> None:
        self._settings = settings
        self._pace = pace
        self._effort = effort

    @property
    def model_name(self) -> str:
        """The name that the settings gave it."""
        return self._settings.model

    def with_thinking(self, effort: ThinkingEffort) -> "DemoProvider":
        """A demo that shows its thoughts, or keeps them to itself."""
        return DemoProvider(self._settings, pace=self._pace, effort=effort)

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        """Nothing needs loading."""

    async def aclose(self) -> None:
        """Nothing is open."""

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        """Stream the answer to `history`. Never fails."""
        answer = next_answer(read_turn(history), DemoTools(tools))
        said = ""
        yield MessageStart(new_id())
        for part in self._stream(answer):
            await asyncio.sleep(self._pace)
            said += _text_of(part)
            yield part
        heard = [system_prompt, *(tool.description for tool in tools), *map(_all_text, history)]
        yield TokenUsage(input_other=sum(map(_tokens, heard)), output=_tokens(said))

    def _stream(self, answer: Answer) -> Iterator[StreamPart]:
        if self._effort != "off":
            yield from fragments(ThinkPart(answer.thought), _WORD.findall)
        if answer.text:
            yield from fragments(TextPart(answer.text), _WORD.findall)
        for call in answer.calls:
            size = len(call.function.arguments or "") // _ARGUMENT_PIECES
            yield from fragments(call, every(max(12, size)))


def next_answer(turn: Turn, tools: DemoTools) -> Answer:
    """The demo's next message in `turn`."""
    summary = answer_to_summary_request(turn.request)
    if summary is not None:
        return summary
    words = words_for(turn.request)
    asked = turn.request.lower().strip(" \t\n.,!?。，！？~～")
    if asked in _TOURS:
        return answer_to_tour(turn, tools, words)
    if asked in _HELLOS:
        return Answer(words.thought_of_end, words.hello)
    parts = parse_request(turn.request)
    if parts:
        return answer_to_parts(turn, parts, tools, words)
    return _guide(turn, words, unknown="" if asked in _HELPS else words.unknown)


def _guide(turn: Turn, words: Words, *, unknown: str) -> Answer:
    pictures = [words.pictures] if turn.shows_pictures else []
    guide = words.guide.format(unknown=unknown)
    return Answer(words.thought_of_end, "\n\n".join([*pictures, guide, words.connect]))


def _tokens(text: str) -> int:
    """About as many tokens as a model would make of `text`: one for four bytes."""
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
