"""A conversation as a file: Markdown to read, or JSON to work with."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kimi_tui.base.content import ImageURLPart, TextPart, ThinkPart, text_of
from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.encoding import to_jsonable
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.history.conversation import is_note

_FENCE = "```"


def as_markdown(history: Sequence[Message], *, title: str, session_id: str) -> str:
    """What was said and called, under headings; what the program told the model by itself is left out."""
    parts = [f"# {title or 'A conversation'}", f"Session {session_id}"]
    for message in history:
        if is_note(message):
            continue
        match message.role:
            case "user":
                parts += ["## You", _words(message)]
            case "assistant":
                parts += ["## Agent", _words(message)]
                for call in message.tool_calls or ():
                    parts.append(
                        f"**{call.function.name}**\n\n{_fenced(call.function.arguments or '', 'json')}"
                    )
            case "tool":
                parts.append(
                    f"<details><summary>Result</summary>\n\n{_fenced(_words(message))}\n\n</details>"
                )
            case _:
                pass
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def as_json(history: Sequence[Message], *, title: str, session_id: str, model: str) -> str:
    """Everything, message by message."""
    document: dict[str, Any] = {
        "session_id": session_id,
        "title": title,
        "model": model,
        "messages": [to_jsonable(message) for message in history],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, for the user alone. Raises KimiTuiError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise KimiTuiError(f"{path} is there already.", hint="Name another file.") from error
    except (OSError, ValueError) as error:
        raise KimiTuiError(
            f"{path} can't be written: {reason_of(error)}.", hint="Name another file."
        ) from error


def _words(message: Message) -> str:
    said = [_word(part) for part in message.content]
    return "\n\n".join(text for text in said if text)


def _word(part: Any) -> str:
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


def _fenced(text: str, language: str = "") -> str:
    fence = _FENCE
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
