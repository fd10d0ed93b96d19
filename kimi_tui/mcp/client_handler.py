"""Interface for a connected server's notifications and requests."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.mcp.errors import McpServerError


@frozen(kw_only=True)
class ElicitationRequest:
    """A server's request for input from the user."""

    message: str
    schema: dict[str, Any] | None = None
    """JSON schema of an object with plain values; None if the user should visit `url` instead."""
    url: str = ""


@frozen
class ElicitationResult:
    """The user's response."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


@frozen(kw_only=True)
class SamplingRequest:
    """A server's request for a response of the model."""

    messages: Sequence[Message]
    system_prompt: str = ""


@frozen
class SamplingResult:
    """The model's response."""

    text: str
    model: str


class ClientHandler(Protocol):
    """Handles a connected server's notifications and requests."""

    def on_connection_lost(self, error: McpServerError) -> None:
        """Handle the loss of the connection."""
        ...

    def on_features_changed(self) -> None:
        """Handle a change of the server's features."""
        ...

    async def elicit(self, request: ElicitationRequest) -> ElicitationResult:
        """Ask the user."""
        ...

    async def sample(self, request: SamplingRequest) -> SamplingResult:
        """Ask the model. Raises KimiTuiError if sampling isn't allowed, or fails."""
        ...
