"""Parser for the scripts of the scripted model. Each model call plays one script.

A script consists of lines `kind: payload`. Blank lines, `#` comments, code fences and a bare `echo` are
skipped. Quotes around a payload are stripped, and a payload that is a JSON string is parsed as one.

==================  ======================================================================================
`text`, `think`     text of the response, thinking
`image_url`         a URL, or JSON `{"url", "id"?}`
`tool_call`         JSON `{"id", "name", "arguments"?}`; arguments as JSON text or as an object
`tool_call_part`    a fragment of the last call's arguments, or JSON `{"arguments_part", "tool_call_id"?}`
`id`, `usage`       the response's id; token counts as JSON or `k=v`
`for`               play the script only if the latest user message contains this text; gives concurrent
                    conversations their own scripts
`title`             the response to the request for a session's title; such a script is played for nothing
                    else, and without one no title is generated
`delay`             seconds to wait
`chunk`             stream the following text, thinking and arguments at this many characters per second; 0:
                    don't split
`error`             the call fails before anything streams: `STATUS text`, `connection text`, `timeout text`,
                    `context text` (too long), `empty`
`error_after`       the same, after the lines above it have streamed
==================  ======================================================================================
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
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
from kimi_tui.base.message_text import msg
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.provider import MessageStart, StreamPart
from kimi_tui.llm.scripted.payload import (
    ScriptSyntaxError,
    parse_json,
    parse_mapping,
    parse_quantity,
    parse_text,
)


@dataclass(frozen=True, slots=True)
class Emit:
    """Stream a part."""

    part: StreamPart


@dataclass(frozen=True, slots=True)
class Recipient:
    """Play the script only if the conversation's latest user message contains `text`."""

    text: str


@dataclass(frozen=True, slots=True)
class Delay:
    """Wait."""

    seconds: float


@dataclass(frozen=True, slots=True)
class StreamRate:
    """Stream the following parts at `rate` characters per second; 0: don't split them."""

    rate: float


@dataclass(frozen=True, slots=True)
class Fail:
    """Raise `error`. If `immediately`, nothing streams before the error."""

    error: ChatProviderError
    immediately: bool


Action = Emit | Recipient | Delay | StreamRate | Fail


def read_scripts(path: Path) -> tuple[str, ...]:
    """Return the scripts of a file: a JSON array of strings, or text separated by `---` lines. Raises
    ScriptError.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(
            msg("Can't read the scripts in {path}: {reason}.", path=path, reason=error),
            hint="Use a UTF-8 file of scripts.",
        ) from error
    return _json_scripts(text, path) if text.lstrip().startswith("[") else _text_scripts(text)


def parse_script(text: str, number: int) -> tuple[Action, ...]:
    """Return the actions of script `number`, in order. Raises ScriptError naming the script and the line."""
    actions: list[Action] = []
    for line_number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith(("#", "```")) or line.lower() == "echo":
            continue
        try:
            action = _parse_action(line)
        except ScriptSyntaxError as error:
            raise ScriptError(
                msg(
                    "Script {number}, line {line}: {problem}.", number=number, line=line_number, problem=error
                ),
                hint=msg("Write each line as `kind: payload`. Kinds: {kinds}.", kinds=", ".join(_PARSERS)),
            ) from error
        if isinstance(action, Fail) and action.immediately:
            return (*(earlier for earlier in actions if isinstance(earlier, Delay)), action)
        actions.append(action)
    if not any(isinstance(action, Fail) or _is_content(action) for action in actions):
        raise ScriptError(
            msg("Script {number} has no content.", number=number),
            hint="Add a `text` line, or `error: empty` for an empty response.",
        )
    return tuple(actions)


def _json_scripts(text: str, path: Path) -> tuple[str, ...]:
    hint = "Use a JSON array of strings, or text separated by `---` lines."
    try:
        scripts = json.loads(text)
    except ValueError as error:
        raise ScriptError(
            msg("The scripts in {path} aren't valid JSON: {problem}.", path=path, problem=error), hint=hint
        ) from error
    if not all(isinstance(script, str) for script in scripts):
        raise ScriptError(
            msg("The JSON array in {path} contains values that aren't strings.", path=path), hint=hint
        )
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


def _parse_action(line: str) -> Action:
    kind, colon, payload = line.partition(":")
    kind = kind.strip().lower()
    if not colon:
        raise ScriptSyntaxError(f"“{line[:60]}” has no kind")
    if kind not in _PARSERS:
        raise ScriptSyntaxError(f"unknown kind “{kind[:60]}”")
    return _PARSERS[kind](payload.strip())


def parse_recipient(text: str) -> str | None:
    """Return the payload of a script's `for` line; None without such a line."""
    for line in text.split("\n"):
        kind, colon, payload = line.partition(":")
        if colon and kind.strip().lower() == "for":
            return parse_text(payload.strip())
    return None


def is_title_script(text: str) -> bool:
    """Return whether a script responds to the request for a title."""
    return any(line.partition(":")[0].strip().lower() == "title" for line in text.split("\n"))


def _parse_for(payload: str) -> Action:
    return Recipient(parse_text(payload))


def _parse_text_action(payload: str) -> Action:
    return Emit(TextPart(parse_text(payload)))


def _parse_think(payload: str) -> Action:
    return Emit(ThinkPart(parse_text(payload)))


def _parse_image(payload: str) -> Action:
    value = parse_json(payload)
    url, image_id = (value.get("url"), value.get("id")) if isinstance(value, dict) else (value, None)
    if not isinstance(url, str) or not isinstance(image_id, str | None):
        raise ScriptSyntaxError("image_url must be a URL, or JSON with `url` and optionally `id`")
    return Emit(ImageURLPart(MediaURL(url, image_id)))


def _parse_tool_call(payload: str) -> Action:
    call = parse_mapping(payload)
    function = call.get("function")
    inner = function if isinstance(function, dict) else {}
    call_id, name = call.get("id"), call.get("name", inner.get("name"))
    arguments = call.get("arguments", inner.get("arguments"))
    if not isinstance(call_id, str) or not isinstance(name, str):
        raise ScriptSyntaxError("tool_call must be JSON with the strings `id` and `name`")
    if isinstance(arguments, dict | list):
        arguments = json.dumps(arguments, ensure_ascii=False)
    if not isinstance(arguments, str | None):
        raise ScriptSyntaxError("the arguments of a tool_call must be JSON text or an object")
    extras = call.get("extras")
    if not isinstance(extras, dict | None):
        raise ScriptSyntaxError("the extras of a tool_call must be an object")
    return Emit(ToolCall(call_id, FunctionCall(name, arguments), extras=extras))


def _parse_tool_call_part(payload: str) -> Action:
    value = parse_json(payload)
    if not (isinstance(value, dict) and "arguments_part" in value):
        return Emit(ToolCallPart((value if isinstance(value, str) else payload) or None))
    fragment, call_id = value["arguments_part"], value.get("tool_call_id")
    if isinstance(fragment, dict | list):
        fragment = json.dumps(fragment, ensure_ascii=False)
    if not isinstance(fragment, str | None) or not isinstance(call_id, str | None):
        raise ScriptSyntaxError("arguments_part and tool_call_id must be strings")
    return Emit(ToolCallPart(fragment or None, call_id))


def _parse_message_id(payload: str) -> Action:
    return Emit(MessageStart(parse_text(payload)))


def _parse_usage(payload: str) -> Action:
    names = tuple(field.name for field in fields(TokenUsage))
    counts = {}
    for name, value in parse_mapping(payload).items():
        if name not in names:
            raise ScriptSyntaxError(f"usage has no field “{name}”, only {', '.join(names)}")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ScriptSyntaxError(f"{name} must be a whole number, not {value!r}")
        counts[name] = value
    return Emit(TokenUsage(**counts))


def _parse_delay(payload: str) -> Action:
    return Delay(parse_quantity("delay", payload, "seconds"))


def _parse_chunk(payload: str) -> Action:
    return StreamRate(parse_quantity("chunk", payload, "characters per second"))


def _parse_error(payload: str) -> Action:
    return Fail(_build_error(payload), immediately=True)


def _parse_error_after(payload: str) -> Action:
    return Fail(_build_error(payload), immediately=False)


def _build_error(payload: str) -> ChatProviderError:
    kind, _, text = payload.partition(" ")
    text = text.strip()
    match kind.lower():
        case "connection":
            return APIConnectionError(text or "The scripted connection failed.")
        case "timeout":
            return APITimeoutError(text or "The scripted model timed out.")
        case "context":
            return ContextTooLong(text or "The scripted context is too long.", status_code=400)
        case "empty":
            return APIEmptyResponseError(text or "The scripted response is empty.")
        case status if status.isdecimal() and 400 <= int(status) < 600:
            return APIStatusError(
                text or f"The scripted model returned status {status}.", status_code=int(status)
            )
        case _:
            raise ScriptSyntaxError(
                "the error must be connection, timeout, context, empty or a status from 400 to 599, "
                f"not “{kind}”"
            )


_PARSERS: dict[str, Callable[[str], Action]] = {
    "text": _parse_text_action,
    "title": _parse_text_action,
    "think": _parse_think,
    "image_url": _parse_image,
    "tool_call": _parse_tool_call,
    "tool_call_part": _parse_tool_call_part,
    "id": _parse_message_id,
    "usage": _parse_usage,
    "for": _parse_for,
    "delay": _parse_delay,
    "chunk": _parse_chunk,
    "error": _parse_error,
    "error_after": _parse_error_after,
}
