"""Sample conversations of any length."""

from kimi_tui.base.content_parts import TextPart
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


def build_turn(number: int, *, lines: int = 3) -> list[Outgoing]:
    """Return a turn: a prompt, a command, and a response of several paragraphs."""
    response = "\n\n".join(f"answer {number} paragraph {line}" for line in range(lines))
    return [
        TurnBegin(f"prompt {number}"),
        StepBegin(1),
        ToolCall(f"call-{number}", FunctionCall("Bash", '{"command": "ls"}')),
        ToolResult(f"call-{number}", ToolReturn(output=f"file-{number}\n")),
        StepBegin(2),
        TextPart(response),
        TurnEnd(),
    ]


def build_replay(turns: int) -> list[Outgoing]:
    """Return the replay of an earlier run with `turns` turns."""
    return [
        ReplayBegin(),
        *(message for number in range(turns) for message in build_turn(number)),
        ReplayEnd(),
    ]
