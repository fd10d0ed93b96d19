"""Think acknowledges thoughts."""

from kimi_tui.tools.think import Think, ThinkParams
from tests.tools.call_context import build_context


async def test_a_thought_is_acknowledged() -> None:
    result = await Think().run(ThinkParams(thought="perhaps the cache is stale"), build_context())
    assert not result.is_error
    assert result.message
