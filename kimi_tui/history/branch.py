"""Branches: the rotations that reverts, clears, compactions and switches left behind, at a glance."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from kimi_tui.base.message import Message
from kimi_tui.base.value import value
from kimi_tui.history.deed import deed_of
from kimi_tui.history.journal import raw_lines
from kimi_tui.history.notation import DamagedLine, parse, role_of
from kimi_tui.history.records import Checkpoint, FilesOf, Revert
from kimi_tui.wire.timeline import RevertReason

_MESSAGES = {"user", "assistant", "tool", "system"}
_TREE = {"_checkpoint", "_files", "_revert"}


@value(kw_only=True)
class Branch:
    """A line of the conversation that was left, from its beginning: it shares a trunk with the live line."""

    number: int
    path: Path
    time: float
    """When it was last written, in seconds since the epoch."""
    messages: int
    checkpoints: tuple[Checkpoint, ...]
    reason: RevertReason | None = None
    """Why it was left; None when no line says so (a rotation of kimi-cli)."""
    to: int | None = None
    """The checkpoint that the conversation went to from here."""


@value
class Glance:
    """A rotation, read without its messages."""

    branch: Branch
    reverts: tuple[Revert, ...]
    """In the order of the file: a line may have been cut more than once."""


def glance(number: int, path: Path) -> Glance:
    """Look at a rotation; only the records of its tree and what ends it are parsed. Raises SessionError."""
    messages = 0
    checkpoints: list[Checkpoint] = []
    reverts: list[Revert] = []
    places: dict[int, int] = {}
    """Where each checkpoint stands in the list, by its number."""
    parent: str | None = None
    tail: list[bytes] = []
    """What was said after the last checkpoint."""
    for raw in raw_lines(path):
        role = role_of(raw.data)
        messages += role in _MESSAGES
        if role in _MESSAGES:
            tail.append(raw.data)
        if role not in _TREE:
            continue
        try:
            record, _ = parse(raw.data)
        except DamagedLine:
            continue
        match record:
            case Checkpoint():
                tail.clear()
                places[record.id] = len(checkpoints)
                checkpoints.append(replace(record, parent=record.parent or parent))
                parent = record.uid
            case FilesOf(id=checkpoint, files=files, changes=changes) if checkpoint in places:
                known = checkpoints[places[checkpoint]]
                checkpoints[places[checkpoint]] = replace(known, files=files, changes=changes)
            case Revert():
                reverts.append(record)
                parent = record.parent or parent
            case _:
                pass
    if checkpoints and checkpoints[-1].kind == "step" and (done := deed_of(_messages(tail))) is not None:
        checkpoints[-1] = replace(checkpoints[-1], label=done.label or checkpoints[-1].label)
    time = path.stat().st_mtime
    return Glance(
        Branch(number=number, path=path, time=time, messages=messages, checkpoints=tuple(checkpoints)),
        tuple(reverts),
    )


def _messages(lines: Iterable[bytes]) -> list[Message]:
    """The messages in some lines of a journal; one that is damaged is passed over."""
    messages = []
    for line in lines:
        with suppress(DamagedLine):
            record, _ = parse(line)
            if isinstance(record, Message):
                messages.append(record)
    return messages


def branches(glances: Iterable[Glance], live: Iterable[Revert]) -> tuple[Branch, ...]:
    """The branches, with why each was left: the line that replaced it says so, the live one or another."""
    glances = list(glances)
    left = {revert.branch: revert for look in glances for revert in look.reverts}
    left |= {revert.branch: revert for revert in live}
    result: list[Branch] = []
    for look in glances:
        revert = left.get(look.branch.number)
        why = (revert.reason, revert.to) if revert is not None else (None, None)
        result.append(replace(look.branch, reason=why[0], to=why[1]))
    return tuple(result)
