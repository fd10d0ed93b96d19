"""Rendering of a conversation as text to summarize, without thinking and with shortened tool calls."""

import json
from collections.abc import Iterable, Sequence

from kimi_tui.base.compaction_markers import SPEAKER_LABELS, is_summary, summary_text
from kimi_tui.base.content_parts import ContentPart, TextPart, ThinkPart
from kimi_tui.base.message import Message, ToolCall
from kimi_tui.compaction.boundaries import is_user_or_model_message
from kimi_tui.history.token_estimate import BYTES_PER_TOKEN

MAX_RESULT_CHARACTERS = 4000
MAX_ARGUMENT_CHARACTERS = 200
_KEY_ARGUMENTS = ("path", "file_path", "command", "pattern", "query", "url", "title", "description")
"""Arguments that describe a call, most descriptive first."""


def transcript_entries(messages: Sequence[Message]) -> list[str]:
    """Return one text per message. Messages without content are left out."""
    names = {call.id: call.function.name for message in messages for call in message.tool_calls or ()}
    return [text for message in messages if (text := _format_entry(message, names))]


def split_into_chunks(texts: Iterable[str], limit: int) -> list[str]:
    """Join `texts` into chunks of at most `limit` tokens. A longer text is split."""
    chunks: list[list[str]] = []
    room = 0
    for text in texts:
        for part in _slices(text, limit * BYTES_PER_TOKEN):
            size = len(part.encode("utf-8", "replace")) + 2
            if size > room:
                chunks.append([part])
                room = limit * BYTES_PER_TOKEN - size
            else:
                chunks[-1].append(part)
                room -= size
    return ["\n\n".join(parts) for parts in chunks]


def truncate_middle(text: str, max_characters: int) -> str:
    """Return `text`. If it is longer than `max_characters`, the middle is replaced by a note."""
    if len(text) <= max_characters:
        return text
    head = max_characters * 2 // 3
    tail = text[head - max_characters :]
    return f"{text[:head]}\n… ({len(text) - max_characters} characters omitted) …\n{tail}"


def key_argument(call: ToolCall) -> str:
    """Return the argument that best describes a call; empty for a call without text arguments."""
    texts = {
        key: value for key, value in parse_arguments(call).items() if isinstance(value, str) and value.strip()
    }
    return next((texts[key] for key in _KEY_ARGUMENTS if key in texts), next(iter(texts.values()), ""))


def parse_arguments(call: ToolCall) -> dict[str, object]:
    """Return the arguments of a call; empty if they aren't a JSON object."""
    try:
        values = json.loads(call.function.arguments or "{}", strict=False)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _format_entry(message: Message, names: dict[str, str]) -> str:
    text = "\n".join(filter(None, map(_part_text, message.content))).strip()
    match message.role:
        case "assistant":
            calls = [_format_call(call) for call in message.tool_calls or ()]
            return "\n".join([SPEAKER_LABELS["assistant"], *filter(None, [text]), *calls])
        case "tool":
            name = names.get(message.tool_call_id or "", "a tool")
            return f"[result of {name}]\n{truncate_middle(text, MAX_RESULT_CHARACTERS)}"
        case _ if is_summary(message):
            return f"{SPEAKER_LABELS['summary']}\n{summary_text(message)}"
        case _ if is_user_or_model_message(message):
            return f"{SPEAKER_LABELS['user']}\n{text}"
        case _:
            return f"[system note]\n{text}"


def _format_call(call: ToolCall) -> str:
    argument = truncate_middle(" ".join(key_argument(call).split()), MAX_ARGUMENT_CHARACTERS)
    return f"(calls {call.function.name}{': ' if argument else ''}{argument})"


def _part_text(part: ContentPart) -> str:
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
