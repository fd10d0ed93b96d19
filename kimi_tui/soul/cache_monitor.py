"""Monitor of cache misses: requests that the model's server should have found in its cache, but didn't."""

from collections.abc import Sequence

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.base.thinking_effort import ThinkingEffort
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.wire.session import CacheMiss, CacheMissCause

_MIN_TOKENS = 2048
"""Minimum size in tokens. Servers don't cache shorter requests."""
_MIN_CACHED_SHARE = 0.5
"""Minimum cached share of the earlier request. Less counts as a miss. Servers cache in blocks, so a hit may
not reach 1.
"""
_CACHE_LIFETIME_S = 300.0
"""Shortest cache lifetime in the documentation of Anthropic, Kimi and OpenAI."""


@frozen
class ObservedRequest:
    """The parts of a request that determine its cache entry."""

    model: str
    effort: ThinkingEffort
    system_prompt: str
    tools: Sequence[ToolSchema]
    history: Sequence[Message]


class CacheMonitor:
    """Compares each request of an agent with the previous request."""

    def __init__(self) -> None:
        self._last: ObservedRequest | None = None
        self._last_input = 0
        self._last_time = 0.0
        self._server_caches = False
        """Whether the server has ever reported cached tokens. Not all servers do."""

    def observe(self, request: ObservedRequest, usage: TokenUsage, *, now: float) -> CacheMiss | None:
        """Return the cache miss of `request`; None for a hit, or if no hit was expected.

        `usage` is the usage that the response reported. `now` is the time of a monotonic clock in seconds.
        """
        miss = self._find_miss(request, usage, now)
        self._server_caches |= usage.input_cache_read > 0 or usage.input_cache_creation > 0
        self._last, self._last_input, self._last_time = request, usage.input, now
        return miss

    def _find_miss(self, request: ObservedRequest, usage: TokenUsage, now: float) -> CacheMiss | None:
        if self._last is None or not self._server_caches or self._last_input < _MIN_TOKENS:
            return None
        if usage.input_cache_read >= _MIN_CACHED_SHARE * min(self._last_input, usage.input):
            return None
        return CacheMiss(usage.input - usage.input_cache_read, self._cause(request, self._last, now))

    def _cause(self, request: ObservedRequest, last: ObservedRequest, now: float) -> CacheMissCause:
        if request.model != last.model:
            return "model"
        if request.effort != last.effort:
            return "thinking"
        if request.system_prompt != last.system_prompt or request.tools != last.tools:
            return "tools"
        if list(request.history[: len(last.history)]) != list(last.history):
            return "conversation"
        return "idle" if now - self._last_time > _CACHE_LIFETIME_S else "server"
