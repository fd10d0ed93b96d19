"""Random conversations as sessions have them: each tool call has one result, in order."""

import json
import random

from kimi_tui.base.content_parts import ContentPart, ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall

_TEXTS = (
    "",
    "fix it",
    "修好登录",
    "a\nb\n\tc",
    '{"x": [1, "2"]}',
    "🙂 e\u0301",
    "<system>x</system>",
    " ",
    "x" * 3000,
)
_TOOLS = ("Bash", "ReadFile", "WriteFile", "mcp__files__list")
_ARGUMENTS = (
    {},
    {"command": "ls -la"},
    {"path": "a b.txt", "content": "ü\n"},
    {"nested": {"list": [1, None, 2.5]}},
)
_IMAGE = MediaURL("data:image/png;base64,iVBORw0KGgo=")


def generate_conversation(seed: int) -> tuple[Message, ...]:
    """Return a conversation of one to five turns. The same seed gives the same conversation."""
    rng = random.Random(seed)
    messages: list[Message] = []
    for turn in range(rng.randint(1, 5)):
        messages.append(Message("user", _user_parts(rng)))
        for step in range(rng.randint(1, 4)):
            calls = tuple(
                ToolCall(
                    f"call_{seed}_{turn}_{step}_{number}",
                    FunctionCall(rng.choice(_TOOLS), json.dumps(rng.choice(_ARGUMENTS))),
                )
                for number in range(rng.randint(0, 3))
            )
            messages.append(Message("assistant", _response_parts(rng), tool_calls=calls or None))
            messages += [
                Message("tool", (TextPart(rng.choice(_TEXTS)),), tool_call_id=call.id) for call in calls
            ]
    return tuple(messages)


def _user_parts(rng: random.Random) -> tuple[ContentPart, ...]:
    parts: list[ContentPart] = [TextPart(f"{rng.choice(_TEXTS)} {rng.random()}")]
    if rng.random() < 0.2:
        parts.append(ImageURLPart(_IMAGE))
    return tuple(parts)


def _response_parts(rng: random.Random) -> tuple[ContentPart, ...]:
    parts: list[ContentPart] = []
    if rng.random() < 0.3:
        parts.append(ThinkPart(rng.choice(_TEXTS), rng.choice((None, "signature"))))
    return (*parts, TextPart(f"{rng.choice(_TEXTS)} {rng.random()}"))
