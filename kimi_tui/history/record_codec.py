"""Codec between records and lines of JSON, lenient towards other writers and damaged lines."""

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar, assert_never, cast, get_args

from kimi_tui.base import json_codec
from kimi_tui.base.content_parts import ContentPart
from kimi_tui.base.json_codec import from_json, from_jsonable, to_json, to_jsonable
from kimi_tui.base.message import Message, Role
from kimi_tui.base.message_text import add_texts, restore_texts
from kimi_tui.history.records import (
    Checkpoint,
    FileStateRecord,
    IgnoredRecord,
    PendingRecord,
    Record,
    RepairRecord,
    RevertRecord,
    StepSummary,
    SystemPrompt,
    UsageRecord,
)
from kimi_tui.history.repair_report import FindingKind, RepairFinding
from kimi_tui.wire.timeline import CheckpointKind, FileChanges, RevertReason

T = TypeVar("T")

MAX_ID = 2**53
"""Checkpoint ids stay below this limit, so that every JSON reader represents them exactly."""


class DamagedLine(ValueError):
    """A line that isn't a valid record; the message says why."""


class UnknownRole(DamagedLine):
    """A message with a role that no provider knows; the exception text is the role."""


def prebuild_codecs() -> None:
    """Build the codecs for the records of a turn, so that the first write doesn't have to wait for them."""
    json_codec.build_codecs(Message, Checkpoint, FileStateRecord)


def encode(record: Record) -> bytes:
    """Return `record` as a line, including the newline."""
    match record:
        case Message():
            return to_json(record) + b"\n"
        case SystemPrompt(content=content):
            return _encode_line("_system_prompt", content=content)
        case Checkpoint():
            return _encode_line("_checkpoint", **add_texts(to_jsonable(record), record))
        case FileStateRecord():
            return _encode_line("_files", **add_texts(to_jsonable(record), record))
        case UsageRecord(token_count=token_count, model=model, cost_usd=cost_usd):
            optional = {"model": model or None, "cost_usd": cost_usd}
            known = {name: value for name, value in optional.items() if value is not None}
            return _encode_line("_usage", token_count=token_count, **known)
        case RevertRecord():
            return _encode_line("_revert", **to_jsonable(record))
        case RepairRecord():
            return _encode_line("_repair", **to_jsonable(record))
        case PendingRecord(data=data):
            return b"%b%b}\n" % (_PENDING, data)
        case IgnoredRecord():
            raise TypeError("can't write a record of an unknown type")
        case _:
            assert_never(record)


def encode_sanitized(record: Record) -> tuple[Record, bytes]:
    """Return `record` and its line, with lone surrogates replaced: UTF-8 can't encode them.

    Lone surrogates come from file names that aren't valid UTF-8.
    """
    try:
        return record, encode(record)
    except ValueError:
        clean = from_jsonable(type(record), replace_surrogates(to_jsonable(record)))
        return clean, encode(clean)


def parse(data: bytes) -> tuple[Record, str]:
    """Return the record in a line, and a description of any data that couldn't be read ("" if complete).

    Raises DamagedLine.
    """
    role = role_of(data)
    if (record_type := _FAST_TYPES.get(role or "")) is not None:
        try:
            record = cast("Record", from_json(record_type, data))
        except ValueError:
            pass  # the lenient parser below handles the line
        else:
            if not isinstance(record, Checkpoint) or 0 <= record.id < MAX_ID:
                return _restore_texts(record, data), ""
    elif data.startswith(_PENDING) and (end := data.rstrip()).endswith(b"}}"):
        return PendingRecord(end[len(_PENDING) : -1]), ""
    text, loss = _decode_text(data)
    try:
        value = _LENIENT.decode(text.strip("\0\ufeff \t\r\n"))
        return _to_record(replace_surrogates(value) if _SURROGATE.search(data) else value, loss)
    except json.JSONDecodeError as error:
        raise DamagedLine(f"invalid JSON at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, DamagedLine) else DamagedLine(_first_sentence(error)) from error


def pending_message(pending: PendingRecord) -> Message:
    """Return the message in a pending record. Raises DamagedLine."""
    record, _ = parse(pending.data)
    if not isinstance(record, Message):
        raise DamagedLine("the pending record holds no message")
    return record


def role_of(data: bytes) -> str | None:
    """Return the role of a line without parsing it.

    None if `role` isn't the first field; all known writers put it first.
    """
    match = _ROLE_FIRST.match(data)
    return match[1].decode() if match else None


def replace_surrogates(value: Any) -> Any:
    """Return a JSON value with its lone surrogates, which UTF-8 can't encode, replaced."""
    match value:
        case str():
            if value.isascii():
                return value
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [replace_surrogates(item) for item in value]
        case dict():
            return {replace_surrogates(key): replace_surrogates(item) for key, item in value.items()}
        case _:
            return value


_ROLES = frozenset(get_args(Role))
_FAST_TYPES: dict[str, type[Any]] = {
    **dict.fromkeys(_ROLES, Message),
    "_checkpoint": Checkpoint,
    "_files": FileStateRecord,
    "_usage": UsageRecord,
}
"""Frequent records: in the form written by this module, they are parsed without intermediate dicts."""
_LENIENT = json.JSONDecoder(strict=False)
_PENDING = b'{"role":"_pending","message":'
_TEXTS = b',"texts":{'
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ROLE_FIRST = re.compile(rb'\s*\{\s*"role"\s*:\s*"(\w+)"')


def _encode_line(role: str, **fields: Any) -> bytes:
    return json.dumps({"role": role, **fields}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _restore_texts(record: Record, data: bytes) -> Record:
    if _TEXTS not in data or not isinstance(record, Checkpoint | FileStateRecord):
        return record
    restored: Record = restore_texts(record, json.loads(data).get("texts"))
    return restored


def _decode_text(data: bytes) -> tuple[str, str]:
    """Return the text, and a description of any data lost in decoding."""
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), "invalid UTF-8 was replaced"


def _to_record(value: Any, loss: str) -> tuple[Record, str]:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        raise DamagedLine("not a record: it has no role")
    role = value["role"]
    if role in _ROLES:
        return _to_message(value, loss)
    if (read := _READERS.get(role)) is not None:
        return read(value), loss
    if role.startswith("_"):
        return IgnoredRecord(), loss
    raise UnknownRole(role)


def _to_message(value: dict[str, Any], loss: str) -> tuple[Message, str]:
    """Return the message, without content parts of unknown types."""
    content = value.get("content")
    if not isinstance(content, list):
        return from_jsonable(Message, value), loss
    known = [part for part in content if _is_part(part)]
    message = from_jsonable(Message, {**value, "content": known})
    skipped = len(content) - len(known)
    return message, f"{skipped} content part(s) of an unknown type were skipped" if skipped else loss


def _is_part(value: Any) -> bool:
    try:
        from_jsonable(cast("type[Any]", ContentPart), value)
    except ValueError:
        return False
    return True


def _to_checkpoint(value: dict[str, Any]) -> Checkpoint:
    """Return a checkpoint by any writer: only the id must be valid."""
    number = _parse_count(value, "id")
    return Checkpoint(
        id=number,
        uid=_parse_text(value, "uid") or f"checkpoint-{number}",
        parent=_parse_text(value, "parent") or None,
        time=_parse_number(value, "time"),
        kind=_parse_choice(value, "kind", get_args(CheckpointKind), "step"),
        label=_parse_text(value, "label"),
        files=_parse_text(value, "files") or None,
        tokens=int(_parse_number(value, "tokens")),
        done=_parse_optional(StepSummary, value.get("done")),
        changes=_parse_optional(FileChanges, value.get("changes")),
    )


def _to_file_state(value: dict[str, Any]) -> FileStateRecord:
    return FileStateRecord(
        id=_parse_count(value, "id"),
        files=_parse_text(value, "files"),
        changes=_parse_optional(FileChanges, value.get("changes")),
    )


def _parse_optional(value_type: type[T], value: Any) -> T | None:
    try:
        return from_jsonable(value_type, value)
    except ValueError:
        return None


def _to_revert(value: dict[str, Any]) -> RevertRecord:
    branch = value.get("branch")
    return RevertRecord(
        to=int(_parse_number(value, "to")),
        next_id=_parse_count(value, "next_id"),
        branch=branch if isinstance(branch, int) else None,
        reason=_parse_choice(value, "reason", get_args(RevertReason), "user"),
        parent=_parse_text(value, "parent") or None,
    )


def _to_repair(value: dict[str, Any]) -> RepairRecord:
    found = value.get("found")
    items = [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    kinds = get_args(FindingKind)
    return RepairRecord(
        found=tuple(
            RepairFinding(item["kind"], int(_parse_number(item, "line")), _parse_text(item, "detail"))
            for item in items
            if item.get("kind") in kinds
        ),
        next_id=int(_parse_number(value, "next_id")),
        time=_parse_number(value, "time"),
    )


_READERS: dict[str, Callable[[dict[str, Any]], Record]] = {
    "_system_prompt": lambda value: SystemPrompt(_parse_text(value, "content")),
    "_checkpoint": _to_checkpoint,
    "_files": _to_file_state,
    "_usage": lambda value: UsageRecord(
        _parse_count(value, "token_count"),
        _parse_text(value, "model"),
        _parse_number(value, "cost_usd") if "cost_usd" in value else None,
    ),
    "_revert": _to_revert,
    "_repair": _to_repair,
    "_pending": lambda value: PendingRecord(json.dumps(value.get("message")).encode()),
}


def _parse_count(value: dict[str, Any], field: str) -> int:
    number = value.get(field)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < MAX_ID:
        raise DamagedLine(f"{field} isn't a valid number")
    return number


def _parse_number(value: dict[str, Any], field: str) -> float:
    number = value.get(field)
    return float(number) if isinstance(number, int | float) and 0 <= number < MAX_ID else 0.0


def _parse_text(value: dict[str, Any], field: str) -> str:
    text = value.get(field)
    return text if isinstance(text, str) else ""


def _parse_choice(value: dict[str, Any], field: str, choices: tuple[Any, ...], default: Any) -> Any:
    choice = value.get(field)
    return choice if choice in choices else default


def _first_sentence(error: BaseException) -> str:
    lines = str(error).splitlines()
    return "; ".join(line.strip() for line in lines[1:3]) or type(error).__name__
