"""Thinking costs nothing and changes nothing."""

from kimi_tui.tools.think import Think, ThinkParams
from tests.tools.calls import running_call


async def test_a_thought_is_heard() -> None:
    result = await Think().run(ThinkParams(thought="perhaps the cache is stale"), running_call())
    assert not result.is_error
    assert result.message
