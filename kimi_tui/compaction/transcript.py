"""A conversation as text for a model to summarise: thinking left out, calls by name and key argument."""

import json
from collections.abc import Iterable, Sequence

from kimi_tui.base.compacted import SPEAKER_MARKS, is_summary, summary_text
from kimi_tui.base.content import ContentPart, TextPart, ThinkPart
from kimi_tui.base.message import Message, ToolCall
from kimi_tui.compaction.passage import is_own
from kimi_tui.history.estimate import BYTES_PER_TOKEN

LONGEST_RESULT = 4000
LONGEST_ARGUMENT = 200
_TELLING = ("path", "file_path", "command", "pattern", "query", "url", "title", "description")
"""Arguments that say best what a call is about, the best first."""


def entries(messages: Sequence[Message]) -> list[str]:
    """One text a message; a message with nothing to tell has none."""
    names = {call.id: call.function.name for message in messages for call in message.tool_calls or ()}
    return [text for message in messages if (text := _entry(message, names))]


def pieces(texts: Iterable[str], limit: int) -> list[str]:
    """`texts` joined into pieces of at most `limit` tokens; a text that is longer is cut into several."""
    together: list[list[str]] = []
    room = 0
    for text in texts:
        for part in _slices(text, limit * BYTES_PER_TOKEN):
            weight = len(part.encode("utf-8", "replace")) + 2
            if weight > room:
                together.append([part])
                room = limit * BYTES_PER_TOKEN - weight
            else:
                together[-1].append(part)
                room -= weight
    return ["\n\n".join(parts) for parts in together]


def clipped(text: str, longest: int) -> str:
    """`text` with its middle left out when it is longer than `longest` characters."""
    if len(text) <= longest:
        return text
    head = longest * 2 // 3
    return f"{text[:head]}\n… ({len(text) - longest} characters left out) …\n{text[head - longest :]}"


def key_argument(call: ToolCall) -> str:
    """The argument that tells best what a call is about; empty when none does."""
    texts = {
        key: value for key, value in arguments_of(call).items() if isinstance(value, str) and value.strip()
    }
    return next((texts[key] for key in _TELLING if key in texts), next(iter(texts.values()), ""))


def arguments_of(call: ToolCall) -> dict[str, object]:
    """The arguments of a call; empty when they are no JSON object."""
    try:
        values = json.loads(call.function.arguments or "{}", strict=False)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _entry(message: Message, names: dict[str, str]) -> str:
    text = "\n".join(filter(None, map(_words, message.content))).strip()
    match message.role:
        case "assistant":
            calls = [_called(call) for call in message.tool_calls or ()]
            return "\n".join([SPEAKER_MARKS["assistant"], *filter(None, [text]), *calls])
        case "tool":
            name = names.get(message.tool_call_id or "", "a tool")
            return f"[result of {name}]\n{clipped(text, LONGEST_RESULT)}"
        case _ if is_summary(message):
            return f"{SPEAKER_MARKS['summary']}\n{summary_text(message)}"
        case _ if is_own(message):
            return f"{SPEAKER_MARKS['user']}\n{text}"
        case _:
            return f"[note by the program]\n{text}"


def _called(call: ToolCall) -> str:
    argument = clipped(" ".join(key_argument(call).split()), LONGEST_ARGUMENT)
    return f"(calls {call.function.name}{': ' if argument else ''}{argument})"


def _words(part: ContentPart) -> str:
    match part:
        case TextPart(text=text):
            return text
        case ThinkPart():
            return ""
        case _:
            return f"({part.type.removesuffix('_url')})"


def _slices(text: str, size: int) -> list[str]:
    data = text.encode("utf-8", "replace")
    if len(data) <= size:
        return [text]
    return [data[at : at + size].decode("utf-8", "ignore") for at in range(0, len(data), size)]
