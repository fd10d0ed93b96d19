"""Conversations of any length, for tests."""

from kimi_tui.base.content import TextPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import (
    ReplayBegin,
    ReplayEnd,
    StepBegin,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)


def turn(number: int, *, lines: int = 3) -> list[Outgoing]:
    """A turn: a prompt, a command, and an answer of some paragraphs."""
    answer = "\n\n".join(f"answer {number} paragraph {line}" for line in range(lines))
    return [
        TurnBegin(f"prompt {number}"),
        StepBegin(1),
        ToolCall(f"call-{number}", FunctionCall("Bash", '{"command": "ls"}')),
        ToolResult(f"call-{number}", ToolReturn(output=f"file-{number}\n")),
        StepBegin(2),
        TextPart(answer),
        TurnEnd(),
    ]


def replay(turns: int) -> list[Outgoing]:
    """An earlier run of so many turns."""
    return [ReplayBegin(), *(message for number in range(turns) for message in turn(number)), ReplayEnd()]
