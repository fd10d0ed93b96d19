"""Usage of the context window by kind of content."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import get_args

from kimi_tui.base.content_parts import ContentPart, TextPart, ThinkPart
from kimi_tui.base.message import Message, user_message
from kimi_tui.history.message_history import is_note
from kimi_tui.history.token_estimate import estimate_tokens
from kimi_tui.soul.agent import Agent, tool_text
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.context_usage import ContextUsageKind, ContextUsagePart

KindTokens = tuple[ContextUsageKind, int]
"""A kind, and the number of tokens of one item of that kind."""
_KINDS: tuple[ContextUsageKind, ...] = get_args(ContextUsageKind)


def context_breakdown(
    agent: Agent, messages: Iterable[Message], measured_tokens: int
) -> tuple[ContextUsagePart, ...]:
    """Return the tokens used by each kind of content, in the order in which a model reads the kinds.

    The numbers are scaled so that their sum is about `measured_tokens`, the provider's count. If
    `measured_tokens` is 0, they are estimates.
    """
    tokens: Counter[ContextUsageKind] = Counter()
    counts: Counter[ContextUsageKind] = Counter()
    items: list[KindTokens] = [("system prompt", estimate_tokens([user_message(agent.system_prompt)]))]
    items += [
        *_count_tool_tokens(agent.toolset),
        *(it for message in messages for it in _count_message_tokens(message)),
    ]
    for kind, count in items:
        tokens[kind] += count
        counts[kind] += 1
    scale = measured_tokens / tokens.total() if measured_tokens and tokens.total() else 1.0
    return tuple(
        ContextUsagePart(kind, round(tokens[kind] * scale), counts[kind]) for kind in _KINDS if tokens[kind]
    )


def _count_tool_tokens(toolset: Toolset) -> Iterator[KindTokens]:
    own = set(toolset.names)
    for schema in toolset.schemas:
        tokens = estimate_tokens([user_message(tool_text(schema))])
        yield "tools" if schema.name in own else "lent tools", tokens


def _count_message_tokens(message: Message) -> Iterator[KindTokens]:
    for part in message.content:
        yield _part_kind(message, part), estimate_tokens([Message(message.role, (part,))])
    for call in message.tool_calls or ():
        yield "tool calls", estimate_tokens([Message(message.role, (), tool_calls=(call,))])


def _part_kind(message: Message, part: ContentPart) -> ContextUsageKind:
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
