"""ChatProvider protocol: takes a conversation and streams the parts of a response."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Literal, Protocol

from kimi_tui.base.content_parts import ImageURLPart, TextPart, ThinkPart
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message, ToolCall, ToolCallPart
from kimi_tui.base.thinking_effort import ThinkingEffort as ThinkingEffort
from kimi_tui.base.token_usage import TokenUsage

ProviderKind = Literal["kimi", "openai", "openai_responses", "anthropic", "scripted", "demo"]


@frozen
class ToolSchema:
    """A tool as a model sees it. `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


@frozen
class MessageStart:
    """The server sent the id of the response."""

    message_id: str


@frozen
class OutputLimitReached:
    """The response is incomplete, because it reached the model's output limit."""


StreamPart = (
    MessageStart
    | TextPart
    | ThinkPart
    | ImageURLPart
    | ToolCall
    | ToolCallPart
    | TokenUsage
    | OutputLimitReached
)
"""A streamed part. A TokenUsage replaces the previous one. A ToolCallPart belongs to the last call unless it
has a `tool_call_id`.
"""


class ChatProvider(Protocol):
    """A model that responds to conversations."""

    @property
    def model_name(self) -> str:
        """The model's name on its server."""
        ...

    def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        """Stream the model's response to `history`, without retries. Close the iterator to cancel.

        Raises APIConnectionError, APITimeoutError, APIStatusError, ContextTooLong and APIEmptyResponseError,
        possibly after parts have streamed.
        """
        ...

    def with_thinking(self, effort: ThinkingEffort) -> "ChatProvider":
        """Return this provider with another thinking level. Models that can't think ignore the level."""
        ...

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        """Prepare for a request that begins with `history`, to reduce its latency.

        Raises ChatProviderError.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections of this provider and of its copies from `with_thinking`."""
        ...


@frozen(kw_only=True)
class ProviderSettings:
    """Settings of a provider, from config and environment."""

    kind: ProviderKind
    model: str
    base_url: str | None = None
    api_key: str = ""
    headers: dict[str, str] | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    thinking_keep: str | None = None
    """For `kimi`: which earlier thinking the server keeps, such as `all`."""
    reasoning_key: str | None = None
    """For `openai`: message field for thinking. Empty to never send thinking back; None for the default."""
    idle_timeout_s: float = 120.0
    """Seconds without a byte after which the stream counts as stalled."""
    connect_timeout_s: float = 15.0
    scripts: str | None = None
    """For `scripted`: path of a JSON array of scripts, or of a text file with scripts separated by `---`."""
    session_id: str | None = None
    """Key for prompt caches that work per session."""
    capabilities: frozenset[str] | None = None
    """The model's capabilities, as in `LLM`. None: the known capabilities of the model."""


@frozen(kw_only=True)
class Price:
    """US dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0
    cached: float = 0.0


def cost_of(price: Price | None, usage: TokenUsage) -> float | None:
    """Return the cost of `usage` in US dollars, or None if the price is unknown."""
    if price is None:
        return None
    return (
        (usage.input_other + usage.input_cache_creation) * price.input
        + usage.input_cache_read * price.cached
        + usage.output * price.output
    ) / 1_000_000


@frozen(kw_only=True)
class LLM:
    """A provider, with the name, limits and price of its model."""

    chat_provider: ChatProvider
    kind: ProviderKind
    name: str
    """The model's name in the config, for `--model`."""
    max_context_size: int
    capabilities: frozenset[str] = frozenset()
    """A subset of `thinking`, `image_in` and `video_in`."""
    price: Price | None = None
    max_output_tokens: int | None = None
    """Output limit in the config, in tokens."""
    thinking_levels: tuple[ThinkingEffort, ...] = ()
    """Thinking levels of the model, from the least to the most thinking; empty if the model can't think."""

    def cost(self, usage: TokenUsage) -> float | None:
        """Return the cost of `usage` in US dollars, or None if the price is unknown."""
        return cost_of(self.price, usage)
