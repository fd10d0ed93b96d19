"""Reporter of an agent's context usage and the session's usage."""

import time

from kimi_tui.history.context import Context
from kimi_tui.soul.cache_monitor import CacheMonitor, ObservedRequest
from kimi_tui.soul.model_call import ModelResponse
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.usage_totals import UsageTotals
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import CostUpdate, StatusUpdate
from kimi_tui.wire.session import CacheMiss


class StatusReporter:
    """Sends the status of one agent."""

    def __init__(
        self,
        *,
        context: Context,
        runtime_settings: RuntimeSettings,
        usage_totals: UsageTotals,
        sender: EventSender,
    ) -> None:
        self._context = context
        self._runtime_settings = runtime_settings
        self._usage_totals = usage_totals
        self._sender = sender
        self._cache_monitor = CacheMonitor()
        self._cache_miss: CacheMiss | None = None
        """Cache miss for the next report, if any."""

    def observe_request(self, request: ObservedRequest, response: ModelResponse) -> None:
        """Record for the next report whether `request` missed the cache of the model's server."""
        if response.usage is not None:
            self._cache_miss = self._cache_monitor.observe(request, response.usage, now=time.monotonic())

    def report(self, response: ModelResponse | None = None) -> None:
        """Send the status. If a step has ended, `response` is its response."""
        llm = self._runtime_settings.llm
        tokens = self._context.token_count_with_pending
        cache_miss, self._cache_miss = self._cache_miss, None
        self._sender.send(
            StatusUpdate(
                context_usage=tokens / llm.max_context_size if llm is not None else None,
                context_tokens=tokens,
                max_context_tokens=llm.max_context_size if llm is not None else None,
                token_usage=response.usage if response is not None else None,
                message_id=response.message_id if response is not None else None,
                session_usage=self._usage_totals.usage,
                cache_miss=cache_miss,
            )
        )
        totals = self._usage_totals
        if totals.cost_usd is not None:
            self._sender.send(CostUpdate(totals.cost_usd, day=totals.day, day_cost_usd=totals.day_cost_usd))
