"""What a server may say and ask by itself, while it is connected."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from kimi_tui.base.message import Message
from kimi_tui.base.value import value
from kimi_tui.tools.mcp.problem import McpProblem


@value(kw_only=True)
class Elicitation:
    """A server wants to know something of the user."""

    message: str
    schema: dict[str, Any] | None = None
    """An object of plain values to fill in; None when the user is to visit `url`."""
    url: str = ""


@value
class Elicited:
    """What the user made of it."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


@value(kw_only=True)
class Sampling:
    """A server wants the model to answer."""

    messages: Sequence[Message]
    system_prompt: str = ""


@value
class Sampled:
    """The model's answer."""

    text: str
    model: str


class Listener(Protocol):
    """Whoever is connected to a server."""

    def lost(self, problem: McpProblem) -> None:
        """The server is heard no more."""
        ...

    def offer_changed(self) -> None:
        """The server offers something else than before."""
        ...

    async def elicit(self, wanted: Elicitation) -> Elicited:
        """Ask the user."""
        ...

    async def sample(self, wanted: Sampling) -> Sampled:
        """Ask the model. Raises KimiTuiError when it may not or can't be asked."""
        ...
