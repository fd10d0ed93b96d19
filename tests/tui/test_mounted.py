"""How many widgets are mounted, however long a session is."""

from typing import Any

from kimi_tui.base.content import TextPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.wire.events import ToolResult, ToolReturn, TurnBegin, TurnEnd


def turn(number: int) -> list[Any]:
    call = f"call-{number}"
    return [
        TurnBegin(f"request {number}"),
        TextPart(f"- a list\n- of {number}\n\n```python\nreturn {number}\n```\n"),
        ToolCall(call, FunctionCall("Bash", '{"command": "ls"}')),
        ToolResult(call, ToolReturn(is_error=False, output="a.py", message="")),
        TextPart("| a | b |\n|---|---|\n| 1 | 2 |\n\ndone"),
        TurnEnd("finished"),
    ]


async def test_a_conversation_mounts_no_widget_of_its_own(open_desk: Any) -> None:
    async with open_desk(size=(120, 40)) as desk:
        await desk.say(*turn(0))
        few = len(list(desk.app.screen.walk_children()))
        await desk.say(*(message for number in range(1, 80) for message in turn(number)))
        transcript = desk.screen.furnished.workbench.transcript
        await desk.until(lambda: not transcript.busy)
        assert "request 79" in desk.shown()
        assert len(list(desk.app.screen.walk_children())) == few < 300
