"""Scripts: what a scripted model plays, one script a model call.

A script is text of lines `kind: payload`. Blank lines, `#` comments, code fences and a bare `echo` are
skipped; quotes around a payload are stripped, and a payload that is a JSON string is read as one.

==================  ======================================================================================
`text`, `think`     words of the answer
`image_url`         an address, or JSON `{"url", "id"?}`
`tool_call`         JSON `{"id", "name", "arguments"?}`; arguments as JSON text or as an object
`tool_call_part`    a piece of the last call's arguments, or JSON `{"arguments_part", "tool_call_id"?}`
`id`, `usage`       the answer's id; token counts as JSON or `k=v`
`for`               keep the script for conversations whose latest words of the user hold this text: several
                    that go on at the same time have their own scripts so
`delay`             seconds to wait
`chunk`             stream text, thinking and arguments from here on at so many characters a second; 0: whole
`error`             the call fails before anything streams: `STATUS text`, `connection text`, `timeout text`,
                    `context text` (too long), `empty`
`error_after`       the same, once what stands before it has streamed
==================  ======================================================================================
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.errors import (
    APIConnectionError,
    APIEmptyResponseError,
    APIStatusError,
    APITimeoutError,
    ChatProviderError,
    ContextTooLong,
    ScriptError,
)
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.base.usage import TokenUsage
from kimi_tui.llm.provider import MessageStart, StreamPart
from kimi_tui.llm.script_payload import MalformedLine, json_value, mapping, quantity, text_value


@dataclass(frozen=True, slots=True)
class Emit:
    """Stream a part."""

    part: StreamPart


@dataclass(frozen=True, slots=True)
class Address:
    """Kept for conversations whose latest words of the user hold `words`."""

    words: str


@dataclass(frozen=True, slots=True)
class Delay:
    """Wait."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Chunk:
    """Stream what follows at `rate` characters a second; 0: whole."""

    rate: float


@dataclass(frozen=True, slots=True)
class Fail:
    """Fail; `at_once` before anything streams."""

    error: ChatProviderError
    at_once: bool


Action = Emit | Address | Delay | Chunk | Fail


def read_scripts(path: Path) -> tuple[str, ...]:
    """The scripts of a file: a JSON array of strings, or text split by lines of `---`. Raises ScriptError."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(
            f"The scripts in {path} can't be read: {error}.", hint="Name a UTF-8 file of scripts."
        ) from error
    return _json_scripts(text, path) if text.lstrip().startswith("[") else _text_scripts(text)


def parse_script(text: str, number: int) -> tuple[Action, ...]:
    """What script `number` plays, in order. Raises ScriptError naming the script and the line."""
    actions: list[Action] = []
    for line_number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith(("#", "```")) or line.lower() == "echo":
            continue
        try:
            action = _action(line)
        except MalformedLine as error:
            raise ScriptError(
                f"Script {number}, line {line_number}: {error}.",
                hint=f"Lines are `kind: payload`; the kinds are {', '.join(_KINDS)}.",
            ) from error
        if isinstance(action, Fail) and action.at_once:
            return (*(known for known in actions if isinstance(known, Delay)), action)
        actions.append(action)
    if not any(isinstance(action, Fail) or _is_content(action) for action in actions):
        raise ScriptError(
            f"Script {number} streams nothing.",
            hint="Give it a `text` line; `error: empty` plays an empty answer.",
        )
    return tuple(actions)


def _json_scripts(text: str, path: Path) -> tuple[str, ...]:
    hint = "It must be a JSON array of strings, or text split by lines of `---`."
    try:
        scripts = json.loads(text)
    except ValueError as error:
        raise ScriptError(f"The scripts in {path} are no JSON: {error}.", hint=hint) from error
    if not all(isinstance(script, str) for script in scripts):
        raise ScriptError(f"The JSON array in {path} holds something else than strings.", hint=hint)
    return tuple(scripts)


def _text_scripts(text: str) -> tuple[str, ...]:
    scripts: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip() == "---":
            scripts.append([])
        else:
            scripts[-1].append(line)
    joined = ("\n".join(lines) for lines in scripts)
    return tuple(script for script in joined if script.strip())


def _is_content(action: Action) -> bool:
    return isinstance(action, Emit) and not isinstance(action.part, MessageStart | TokenUsage)


def _action(line: str) -> Action:
    kind, colon, payload = line.partition(":")
    kind = kind.strip().lower()
    if not colon:
        raise MalformedLine(f"“{line[:60]}” has no kind")
    if kind not in _KINDS:
        raise MalformedLine(f"there is no kind “{kind[:60]}”")
    return _KINDS[kind](payload.strip())


def addressee(text: str) -> str | None:
    """What a script's `for` line says; None when it has none."""
    for line in text.split("\n"):
        kind, colon, payload = line.partition(":")
        if colon and kind.strip().lower() == "for":
            return text_value(payload.strip())
    return None


def _for(payload: str) -> Action:
    return Address(text_value(payload))


def _text(payload: str) -> Action:
    return Emit(TextPart(text_value(payload)))


def _think(payload: str) -> Action:
    return Emit(ThinkPart(text_value(payload)))


def _image(payload: str) -> Action:
    value = json_value(payload)
    url, image_id = (value.get("url"), value.get("id")) if isinstance(value, dict) else (value, None)
    if not isinstance(url, str) or not isinstance(image_id, str | None):
        raise MalformedLine("image_url wants an address, or JSON with `url` and perhaps `id`")
    return Emit(ImageURLPart(MediaURL(url, image_id)))


def _tool_call(payload: str) -> Action:
    call = mapping(payload)
    function = call.get("function")
    inner = function if isinstance(function, dict) else {}
    call_id, name = call.get("id"), call.get("name", inner.get("name"))
    arguments = call.get("arguments", inner.get("arguments"))
    if not isinstance(call_id, str) or not isinstance(name, str):
        raise MalformedLine("tool_call wants JSON with the strings `id` and `name`")
    if isinstance(arguments, dict | list):
        arguments = json.dumps(arguments, ensure_ascii=False)
    if not isinstance(arguments, str | None):
        raise MalformedLine("the arguments of a tool_call are JSON text or an object")
    extras = call.get("extras")
    if not isinstance(extras, dict | None):
        raise MalformedLine("the extras of a tool_call are an object")
    return Emit(ToolCall(call_id, FunctionCall(name, arguments), extras=extras))


def _tool_call_part(payload: str) -> Action:
    value = json_value(payload)
    if not (isinstance(value, dict) and "arguments_part" in value):
        return Emit(ToolCallPart((value if isinstance(value, str) else payload) or None))
    piece, call_id = value["arguments_part"], value.get("tool_call_id")
    if isinstance(piece, dict | list):
        piece = json.dumps(piece, ensure_ascii=False)
    if not isinstance(piece, str | None) or not isinstance(call_id, str | None):
        raise MalformedLine("arguments_part and tool_call_id are strings")
    return Emit(ToolCallPart(piece or None, call_id))


def _message_id(payload: str) -> Action:
    return Emit(MessageStart(text_value(payload)))


def _usage(payload: str) -> Action:
    names = tuple(field.name for field in fields(TokenUsage))
    counts = {}
    for name, value in mapping(payload).items():
        if name not in names:
            raise MalformedLine(f"usage has no “{name}”, only {', '.join(names)}")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise MalformedLine(f"usage wants a whole number for {name}, not {value!r}")
        counts[name] = value
    return Emit(TokenUsage(**counts))


def _delay(payload: str) -> Action:
    return Delay(quantity("delay", payload, "seconds"))


def _chunk(payload: str) -> Action:
    return Chunk(quantity("chunk", payload, "characters per second"))


def _error(payload: str) -> Action:
    return Fail(_failure(payload), at_once=True)


def _error_after(payload: str) -> Action:
    return Fail(_failure(payload), at_once=False)


def _failure(payload: str) -> ChatProviderError:
    what, _, text = payload.partition(" ")
    text = text.strip()
    match what.lower():
        case "connection":
            return APIConnectionError(text or "The scripted connection failed.")
        case "timeout":
            return APITimeoutError(text or "The scripted model kept silent.")
        case "context":
            return ContextTooLong(text or "The scripted context is too long.", status_code=400)
        case "empty":
            return APIEmptyResponseError(text or "The scripted answer is empty.")
        case status if status.isdecimal() and 400 <= int(status) < 600:
            return APIStatusError(text or f"The scripted model answered {status}.", status_code=int(status))
        case _:
            raise MalformedLine(
                f"an error is a status of 400 to 599, connection, timeout, context or empty, not “{what}”"
            )


_KINDS: dict[str, Callable[[str], Action]] = {
    "text": _text,
    "think": _think,
    "image_url": _image,
    "tool_call": _tool_call,
    "tool_call_part": _tool_call_part,
    "id": _message_id,
    "usage": _usage,
    "for": _for,
    "delay": _delay,
    "chunk": _chunk,
    "error": _error,
    "error_after": _error_after,
}
