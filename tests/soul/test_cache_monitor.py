"""Cache misses: recognized, and explained by what changed since the request before."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import Message
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.soul.cache_monitor import CacheMonitor, ObservedRequest
from kimi_tui.wire.session import CacheMiss, CacheMissCause


def message(text: str) -> Message:
    return Message("user", (TextPart(text),))


FIRST = ObservedRequest("m", "off", "You are an agent.", (), (message("a"),))
LONGER = replace(FIRST, history=(*FIRST.history, message("b")))
WRITTEN = TokenUsage(input_other=100, input_cache_creation=9_900)
READ = TokenUsage(input_other=300, input_cache_read=9_900)
MISSED = TokenUsage(input_other=10_300)


@pytest.fixture
def monitor() -> CacheMonitor:
    monitor = CacheMonitor()
    assert monitor.observe(FIRST, WRITTEN, now=0) is None
    return monitor


def test_a_request_that_was_in_the_cache_is_no_miss(monitor: CacheMonitor) -> None:
    assert monitor.observe(LONGER, READ, now=1) is None


Change = Callable[[ObservedRequest], ObservedRequest]


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda request: replace(request, model="other"), "model"),
        (lambda request: replace(request, effort="high"), "thinking"),
        (lambda request: replace(request, system_prompt="You are another."), "tools"),
        (lambda request: replace(request, tools=(ToolSchema("t", "does it", {}),)), "tools"),
        (lambda request: replace(request, history=(message("summary"),)), "conversation"),
        (lambda request: request, "server"),
    ],
)
def test_a_miss_names_what_changed(monitor: CacheMonitor, change: Change, cause: CacheMissCause) -> None:
    assert monitor.observe(change(LONGER), MISSED, now=1) == CacheMiss(10_300, cause)


def test_a_pause_explains_a_miss(monitor: CacheMonitor) -> None:
    assert monitor.observe(LONGER, MISSED, now=301) == CacheMiss(10_300, "idle")


def test_a_request_after_a_revert_that_is_shorter_but_cached_is_no_miss(monitor: CacheMonitor) -> None:
    monitor.observe(LONGER, READ, now=1)
    assert monitor.observe(FIRST, TokenUsage(input_other=50, input_cache_read=4_000), now=1) is None


def test_a_server_that_reports_no_cache_has_no_misses() -> None:
    monitor = CacheMonitor()
    assert monitor.observe(FIRST, MISSED, now=1) is None
    assert monitor.observe(LONGER, MISSED, now=1) is None


def test_short_requests_are_not_cached_and_not_missed() -> None:
    monitor = CacheMonitor()
    monitor.observe(FIRST, TokenUsage(input_other=10, input_cache_creation=1_000), now=1)
    assert monitor.observe(LONGER, TokenUsage(input_other=1_100), now=1) is None
