"""The ChatProvider protocol: a conversation in, a stream of parts out."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Literal, Protocol

from kimi_tui.base.content import ImageURLPart, TextPart, ThinkPart
from kimi_tui.base.message import Message, ToolCall, ToolCallPart
from kimi_tui.base.usage import TokenUsage
from kimi_tui.base.value import value

ThinkingEffort = Literal["off", "low", "medium", "high"]
ProviderKind = Literal["kimi", "openai", "anthropic", "scripted", "demo"]


@value
class ToolSchema:
    """A tool as a model sees it. `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


@value
class MessageStart:
    """The server named the answer."""

    message_id: str


StreamPart = MessageStart | TextPart | ThinkPart | ImageURLPart | ToolCall | ToolCallPart | TokenUsage
"""What a provider streams. A TokenUsage replaces the one before it. Fragments of a call that is not the last
carry its `tool_call_id`."""


class ChatProvider(Protocol):
    """A model that answers conversations."""

    @property
    def model_name(self) -> str:
        """The model's name as its server knows it."""
        ...

    def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        """Stream the model's answer to `history`. Close the iterator to abandon it.

        Raises APIConnectionError, APITimeoutError, APIStatusError, ContextTooLong and APIEmptyResponseError,
        also after parts have streamed; it never retries by itself.
        """
        ...

    def with_thinking(self, effort: ThinkingEffort) -> "ChatProvider":
        """The same provider with another thinking effort; models that can't think ignore it."""
        ...

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        """Get ready for a request that begins with `history`, so that its answer comes sooner.

        Raises ChatProviderError.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections of this provider and of those that `with_thinking` made of it."""
        ...


@value(kw_only=True)
class ProviderSettings:
    """What a provider needs to know to be built, from config and environment."""

    kind: ProviderKind
    model: str
    base_url: str | None = None
    api_key: str = ""
    headers: dict[str, str] | None = None
    max_output_tokens: int | None = None
    idle_timeout_s: float = 120.0
    """Seconds without a byte after which the stream counts as stalled."""
    connect_timeout_s: float = 15.0
    scripts: str | None = None
    """For `scripted`: the path of a JSON array of scripts, or of a text file of them split by `---`."""
    session_id: str | None = None
    """For prompt caches that are keyed by session."""
    capabilities: frozenset[str] | None = None
    """What the model can do, as in `LLM`; None for what it is known for."""


@value(kw_only=True)
class Price:
    """US dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0
    cached: float = 0.0


@value(kw_only=True)
class LLM:
    """A provider and what is known of its model."""

    chat_provider: ChatProvider
    kind: ProviderKind
    name: str
    """The name it has in the config, which `--model` takes."""
    max_context_size: int
    capabilities: frozenset[str] = frozenset()
    """Among `thinking`, `image_in`, `video_in`."""
    price: Price | None = None

    def cost(self, usage: TokenUsage) -> float | None:
        """What `usage` cost in US dollars; None without a price."""
        if self.price is None:
            return None
        return (
            (usage.input_other + usage.input_cache_creation) * self.price.input
            + usage.input_cache_read * self.price.cached
            + usage.output * self.price.output
        ) / 1_000_000
