"""The number of mounted widgets doesn't grow with the session."""

from typing import Any

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.wire.events import ToolResult, ToolReturn, TurnBegin, TurnEnd


def build_turn(number: int) -> list[Any]:
    call_id = f"call-{number}"
    return [
        TurnBegin(f"request {number}"),
        TextPart(f"- a list\n- of {number}\n\n```python\nreturn {number}\n```\n"),
        ToolCall(call_id, FunctionCall("Bash", '{"command": "ls"}')),
        ToolResult(call_id, ToolReturn(is_error=False, output="a.py", message="")),
        TextPart("| a | b |\n|---|---|\n| 1 | 2 |\n\ndone"),
        TurnEnd("finished"),
    ]


async def test_the_conversation_mounts_no_widgets(open_app: Any) -> None:
    async with open_app(size=(120, 40)) as harness:
        await harness.send(*build_turn(0))
        widget_count = len(list(harness.app.screen.walk_children()))
        await harness.send(*(message for number in range(1, 80) for message in build_turn(number)))
        transcript = harness.screen.controllers.session_view.transcript
        await harness.wait_until(lambda: not transcript.is_busy)
        assert "request 79" in harness.screen_text()
        assert len(list(harness.app.screen.walk_children())) == widget_count < 300
