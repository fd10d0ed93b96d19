"""Assembly of a response from its parts."""

from kimi_tui.base.content_parts import ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.soul.response_builder import ResponseBuilder


def test_thinking_after_a_call_keeps_its_position() -> None:
    builder = ResponseBuilder(reserved_ids=set())
    call = ToolCall("a", FunctionCall("Read", "{}"))
    for part in (ThinkPart("one"), ThinkPart("", "s1"), call, ThinkPart("t"), ThinkPart("wo", "s2")):
        builder.add(part)
    assert builder.build().content == (ThinkPart("one", "s1"), ThinkPart("two", "s2", calls_before=1))
