"""Token usage of the context window by kind of content."""

from typing import Literal

from kimi_tui.base.frozen import frozen

ContextUsageKind = Literal[
    "system prompt",
    "tools",
    "lent tools",
    "prompts",
    "notes",
    "answers",
    "thinking",
    "tool calls",
    "tool results",
    "media",
]


@frozen
class ContextUsagePart:
    """Usage by one kind of content.

    `lent tools` are tools of MCP servers and clients; `notes` are written by the program.
    """

    kind: ContextUsageKind
    tokens: int
    """Estimated tokens."""
    count: int
    """Number of items."""


@frozen
class WindowFilling:
    """Reply to `/context`. Not in kimi-cli."""

    parts: tuple[ContextUsagePart, ...]
    tokens: int
    """Total tokens."""
    max_tokens: int | None = None
    """Size of the model's context window; None without a model."""
    compacts_at: int | None = None
    """Number of tokens at which the conversation is compacted."""
    is_measured: bool = False
    """Whether `tokens` is based on the provider's count in its last response. Otherwise it is an estimate."""
