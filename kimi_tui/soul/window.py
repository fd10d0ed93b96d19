"""The window: what the model's context is filled with, by kind."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import get_args

from kimi_tui.base.content import ContentPart, TextPart, ThinkPart
from kimi_tui.base.message import Message, user_message
from kimi_tui.history.conversation import is_note
from kimi_tui.history.estimate import estimated_tokens
from kimi_tui.soul.agent import Agent, text_of_tool
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.window import WindowKind, WindowPart

Weighed = tuple[WindowKind, int]
"""A kind, and the tokens of one thing of it."""
_KINDS: tuple[WindowKind, ...] = get_args(WindowKind)


def window_parts(agent: Agent, messages: Iterable[Message], measured: int) -> tuple[WindowPart, ...]:
    """What takes how much of the window, in the order in which a model reads it.

    Together that is what the provider `measured`; where that is 0 they are bare estimates.
    """
    tokens: Counter[WindowKind] = Counter()
    counts: Counter[WindowKind] = Counter()
    weighed: list[Weighed] = [("system prompt", estimated_tokens([user_message(agent.system_prompt)]))]
    weighed += [*_weighed_tools(agent.toolset), *(it for message in messages for it in _weighed(message))]
    for kind, weight in weighed:
        tokens[kind] += weight
        counts[kind] += 1
    scale = measured / tokens.total() if measured and tokens.total() else 1.0
    return tuple(
        WindowPart(kind, round(tokens[kind] * scale), counts[kind]) for kind in _KINDS if tokens[kind]
    )


def _weighed_tools(toolset: Toolset) -> Iterator[Weighed]:
    own = set(toolset.names)
    for schema in toolset.schemas:
        tokens = estimated_tokens([user_message(text_of_tool(schema))])
        yield "tools" if schema.name in own else "lent tools", tokens


def _weighed(message: Message) -> Iterator[Weighed]:
    for part in message.content:
        yield _kind(message, part), estimated_tokens([Message(message.role, (part,))])
    for call in message.tool_calls or ():
        yield "tool calls", estimated_tokens([Message(message.role, (), tool_calls=(call,))])


def _kind(message: Message, part: ContentPart) -> WindowKind:
    match part, message.role:
        case ThinkPart(), _:
            return "thinking"
        case TextPart(), "tool":
            return "tool results"
        case TextPart(), "assistant":
            return "answers"
        case TextPart(), _:
            return "notes" if is_note(message) else "prompts"
        case _:
            return "media"
