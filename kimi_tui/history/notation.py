"""Notation: records as lines of JSON, as written here and as other programs and accidents left them."""

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar, assert_never, cast, get_args

from kimi_tui.base import encoding
from kimi_tui.base.content import ContentPart
from kimi_tui.base.encoding import from_json, from_jsonable, to_json, to_jsonable
from kimi_tui.base.message import Message, Role
from kimi_tui.history.finding import Finding, FindingKind
from kimi_tui.history.records import (
    Checkpoint,
    Deed,
    FilesOf,
    Ignored,
    Pending,
    Record,
    Repair,
    Revert,
    SystemPrompt,
    Usage,
)
from kimi_tui.wire.timeline import CheckpointKind, FileChanges, RevertReason

T = TypeVar("T")

MAX_ID = 2**53
"""Checkpoint ids stay below: every JSON reader keeps them exact."""


class DamagedLine(ValueError):
    """A line that is no record; the text says why."""


class UnknownRole(DamagedLine):
    """A message of a role that no provider knows; the text is the role."""


def prepare() -> None:
    """Get ready to write the records of a turn, so that the first one doesn't wait for that."""
    encoding.prepare(Message, Checkpoint, FilesOf)


def encode(record: Record) -> bytes:
    """`record` as a line, with its line end."""
    match record:
        case Message():
            return to_json(record) + b"\n"
        case SystemPrompt(content=content):
            return _line("_system_prompt", content=content)
        case Checkpoint():
            return _line("_checkpoint", **to_jsonable(record))
        case FilesOf():
            return _line("_files", **to_jsonable(record))
        case Usage(token_count=token_count):
            return _line("_usage", token_count=token_count)
        case Revert():
            return _line("_revert", **to_jsonable(record))
        case Repair():
            return _line("_repair", **to_jsonable(record))
        case Pending(data=data):
            return b"%b%b}\n" % (_PENDING, data)
        case Ignored():
            raise TypeError("a record that isn't known can't be written")
        case _:
            assert_never(record)


def written(record: Record) -> tuple[Record, bytes]:
    """`record` and its line. Lone surrogates (odd file names), which UTF-8 can't hold, are replaced."""
    try:
        return record, encode(record)
    except ValueError:
        clean = from_jsonable(type(record), well_formed(to_jsonable(record)))
        return clean, encode(clean)


def parse(data: bytes) -> tuple[Record, str]:
    """The record in a line, and what of it could not be read (mostly nothing: "").

    Raises DamagedLine.
    """
    role = role_of(data)
    if (quick := _QUICK.get(role or "")) is not None:
        try:
            record = cast("Record", from_json(quick, data))
        except ValueError:
            pass  # the line is looked at closely below
        else:
            if not isinstance(record, Checkpoint) or 0 <= record.id < MAX_ID:
                return record, ""
    elif data.startswith(_PENDING) and (end := data.rstrip()).endswith(b"}}"):
        return Pending(end[len(_PENDING) : -1]), ""
    text, loss = _decoded(data)
    try:
        value = _LENIENT.decode(text.strip("\0\ufeff \t\r\n"))
        return _record(well_formed(value) if _SURROGATE.search(data) else value, loss)
    except json.JSONDecodeError as error:
        raise DamagedLine(f"no JSON at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, DamagedLine) else DamagedLine(_first_sentence(error)) from error


def pending_message(pending: Pending) -> Message:
    """The message that a note holds. Raises DamagedLine."""
    record, _ = parse(pending.data)
    if not isinstance(record, Message):
        raise DamagedLine("no message is pending")
    return record


def role_of(data: bytes) -> str | None:
    """The role of a line whose first field it is, as every writer has it; without parsing the line."""
    found = _ROLE_FIRST.match(data)
    return found[1].decode() if found else None


def well_formed(value: Any) -> Any:
    """JSON values with lone surrogates, which UTF-8 can't hold, replaced."""
    match value:
        case str():
            if value.isascii():
                return value
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [well_formed(item) for item in value]
        case dict():
            return {well_formed(key): well_formed(item) for key, item in value.items()}
        case _:
            return value


_ROLES = frozenset(get_args(Role))
_QUICK: dict[str, type[Any]] = {
    **dict.fromkeys(_ROLES, Message),
    "_checkpoint": Checkpoint,
    "_files": FilesOf,
    "_usage": Usage,
}
"""Records of which there are many: as written here, they are parsed without a detour through dicts."""
_LENIENT = json.JSONDecoder(strict=False)
_PENDING = b'{"role":"_pending","message":'
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ROLE_FIRST = re.compile(rb'\s*\{\s*"role"\s*:\s*"(\w+)"')


def _line(role: str, **fields: Any) -> bytes:
    return json.dumps({"role": role, **fields}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _decoded(data: bytes) -> tuple[str, str]:
    """The text, and what was lost of it."""
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), "bytes that are no UTF-8 were replaced"


def _record(value: Any, loss: str) -> tuple[Record, str]:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        raise DamagedLine("no record: it has no role")
    role = value["role"]
    if role in _ROLES:
        return _message(value, loss)
    if (read := _READERS.get(role)) is not None:
        return read(value), loss
    if role.startswith("_"):
        return Ignored(), loss
    raise UnknownRole(role)


def _message(value: dict[str, Any], loss: str) -> tuple[Message, str]:
    """The message; content parts of a kind that is not known are left out rather than the whole."""
    content = value.get("content")
    if not isinstance(content, list):
        return from_jsonable(Message, value), loss
    known = [part for part in content if _is_part(part)]
    message = from_jsonable(Message, {**value, "content": known})
    left_out = len(content) - len(known)
    return message, f"{left_out} content part(s) of an unknown kind were left out" if left_out else loss


def _is_part(value: Any) -> bool:
    try:
        from_jsonable(cast("type[Any]", ContentPart), value)
    except ValueError:
        return False
    return True


def _checkpoint(value: dict[str, Any]) -> Checkpoint:
    """A checkpoint of any writer: only the id must be right."""
    number = _count(value, "id")
    return Checkpoint(
        id=number,
        uid=_text(value, "uid") or f"checkpoint-{number}",
        parent=_text(value, "parent") or None,
        time=_number(value, "time"),
        kind=_one_of(value, "kind", get_args(CheckpointKind), "step"),
        label=_text(value, "label"),
        files=_text(value, "files") or None,
        tokens=int(_number(value, "tokens")),
        done=_if_it_fits(Deed, value.get("done")),
        changes=_if_it_fits(FileChanges, value.get("changes")),
    )


def _files(value: dict[str, Any]) -> FilesOf:
    return FilesOf(
        id=_count(value, "id"),
        files=_text(value, "files"),
        changes=_if_it_fits(FileChanges, value.get("changes")),
    )


def _if_it_fits(of: type[T], value: Any) -> T | None:
    try:
        return from_jsonable(of, value)
    except ValueError:
        return None


def _revert(value: dict[str, Any]) -> Revert:
    branch = value.get("branch")
    return Revert(
        to=int(_number(value, "to")),
        next_id=_count(value, "next_id"),
        branch=branch if isinstance(branch, int) else None,
        reason=_one_of(value, "reason", get_args(RevertReason), "user"),
        parent=_text(value, "parent") or None,
    )


def _repair(value: dict[str, Any]) -> Repair:
    found = value.get("found")
    items = [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    kinds = get_args(FindingKind)
    return Repair(
        found=tuple(
            Finding(item["kind"], int(_number(item, "line")), _text(item, "detail"))
            for item in items
            if item.get("kind") in kinds
        ),
        next_id=int(_number(value, "next_id")),
        time=_number(value, "time"),
    )


_READERS: dict[str, Callable[[dict[str, Any]], Record]] = {
    "_system_prompt": lambda value: SystemPrompt(_text(value, "content")),
    "_checkpoint": _checkpoint,
    "_files": _files,
    "_usage": lambda value: Usage(_count(value, "token_count")),
    "_revert": _revert,
    "_repair": _repair,
    "_pending": lambda value: Pending(json.dumps(value.get("message")).encode()),
}


def _count(value: dict[str, Any], field: str) -> int:
    number = value.get(field)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < MAX_ID:
        raise DamagedLine(f"{field} is no count")
    return number


def _number(value: dict[str, Any], field: str) -> float:
    number = value.get(field)
    return float(number) if isinstance(number, int | float) and 0 <= number < MAX_ID else 0.0


def _text(value: dict[str, Any], field: str) -> str:
    text = value.get(field)
    return text if isinstance(text, str) else ""


def _one_of(value: dict[str, Any], field: str, choices: tuple[Any, ...], default: Any) -> Any:
    choice = value.get(field)
    return choice if choice in choices else default


def _first_sentence(error: BaseException) -> str:
    lines = str(error).splitlines()
    return "; ".join(line.strip() for line in lines[1:3]) or type(error).__name__
