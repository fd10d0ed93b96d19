"""The model's window: what of the context it is filled with."""

from typing import Literal

from kimi_tui.base.value import value

WindowKind = Literal[
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


@value
class WindowPart:
    """What one kind takes. Lent tools are those of MCP servers and clients; notes are the program's own."""

    kind: WindowKind
    tokens: int
    """An estimate."""
    count: int
    """How many there are of it."""


@value
class WindowFilling:
    """Ours: the answer to `/context`."""

    parts: tuple[WindowPart, ...]
    tokens: int
    """All of it."""
    max_tokens: int | None = None
    """What the model's window holds; None without a model."""
    compacts_at: int | None = None
    """From how many tokens on the conversation is made shorter."""
    is_measured: bool = False
    """Whether `tokens` was counted by the provider, up to its last answer."""
