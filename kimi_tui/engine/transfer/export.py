"""Export of a conversation as Markdown or JSON."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kimi_tui.base.content_parts import ImageURLPart, TextPart, ThinkPart, text_of
from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.history.message_history import is_note

_FENCE = "```"


def to_markdown(history: Sequence[Message], *, title: str, session_id: str) -> str:
    """Return the prompts, responses and tool calls under headings. Notes from the program are omitted."""
    parts = [f"# {title or 'Conversation'}", f"Session {session_id}"]
    for message in history:
        if is_note(message):
            continue
        match message.role:
            case "user":
                parts += ["## You", _message_text(message)]
            case "assistant":
                parts += ["## Agent", _message_text(message)]
                for call in message.tool_calls or ():
                    parts.append(
                        f"**{call.function.name}**\n\n{_fence_block(call.function.arguments or '', 'json')}"
                    )
            case "tool":
                parts.append(
                    f"<details><summary>Result</summary>\n\n{_fence_block(_message_text(message))}\n\n</details>"
                )
            case _:
                pass
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def to_json(history: Sequence[Message], *, title: str, session_id: str, model: str) -> str:
    """Return all messages as a JSON document."""
    document: dict[str, Any] = {
        "session_id": session_id,
        "title": title,
        "model": model,
        "messages": [to_jsonable(message) for message in history],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def write_exclusive(path: Path, text: str) -> None:
    """Create a file that only the user can read, with its parent directories.

    Raises KimiTuiError if the file exists or can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise KimiTuiError(
            msg("{path} already exists.", path=path), hint="Choose another file name."
        ) from error
    except (OSError, ValueError) as error:
        raise KimiTuiError(
            msg("Can't write {path}: {reason}.", path=path, reason=reason_of(error)),
            hint="Choose another file name.",
        ) from error


def _message_text(message: Message) -> str:
    texts = [_part_text(part) for part in message.content]
    return "\n\n".join(text for text in texts if text)


def _part_text(part: Any) -> str:
    match part:
        case TextPart(text=text):
            return text.strip()
        case ThinkPart(think=think):
            quoted = "\n".join(f"> {line}" for line in think.strip().split("\n"))
            return quoted if think.strip() else ""
        case ImageURLPart():
            return "*(an image)*"
        case _:
            return text_of((part,))


def _fence_block(text: str, language: str = "") -> str:
    fence = _FENCE
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
