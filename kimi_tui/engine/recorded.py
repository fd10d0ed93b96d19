"""What `wire.jsonl` tells that the journal does not: what results showed, and the commands of the user."""

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kimi_tui.base.encoding import from_json
from kimi_tui.base.value import value
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import decode
from kimi_tui.wire.events import CheckpointCreated, Event, ToolResult, ToolReturn, TurnBegin
from kimi_tui.wire.shell import ShellCommandBegin, ShellCommandEnd

logger = logging.getLogger(__name__)

_TOLD = re.compile(rb'"type":"(ToolResult|CheckpointCreated|ShellCommandBegin|ShellCommandEnd)"')


_END = 1 << 22
"""Bytes of a recording in which the answer that is looked for lies, if it is there."""


@value
class _ResultMessage:
    type: Literal["ToolResult"]
    payload: ToolResult


@value
class _ResultLine:
    """A line with a result: there are so many that they are parsed without a detour through dicts."""

    message: _ResultMessage


@dataclass(slots=True)
class ShellCommand:
    """A command that the user ran in their own shell."""

    since: float
    """The time of the last checkpoint before it, in seconds since the epoch; 0 when there was none."""
    begin: ShellCommandBegin
    end: ShellCommandEnd


@dataclass(slots=True)
class Recorded:
    """What a recording holds."""

    results: dict[str, list[ToolReturn]] = field(default_factory=dict)
    """By the id of their call; an id may have several."""
    commands: dict[str, ShellCommand] = field(default_factory=dict)
    """By their ids, as they began. One whose end is not known counts as stopped."""

    def take(self, message: Outgoing | None, since: float) -> None:
        """Go on with a message of the recording, if it can be read; `since` as in ShellCommand."""
        match message:
            case ToolResult():
                self.results.setdefault(message.tool_call_id, []).append(message.return_value)
            case ShellCommandBegin(id=command_id, work_dir=folder):
                unknown = ShellCommandEnd(command_id, 0, "", folder, stopped=True)
                self.commands[command_id] = ShellCommand(since, message, unknown)
            case ShellCommandEnd(id=command_id) if command_id in self.commands:
                self.commands[command_id].end = message
            case _:
                pass


def read_recording(path: Path, *, last: int | None = None) -> Recorded:
    """What the recording at `path`, or its `last` bytes, holds; lines that can't be read are left out."""
    recorded = Recorded()
    checkpoint = b""
    try:
        with path.open("rb") as file:
            if last is not None and file.seek(0, os.SEEK_END) > last:
                file.seek(-last, os.SEEK_END)
                file.readline()
            elif last is not None:
                file.seek(0)
            for line in file:
                match kind[1] if (kind := _TOLD.search(line)) is not None else b"":
                    case b"CheckpointCreated":
                        checkpoint = line
                    case b"ToolResult":
                        recorded.take(_result_in(line), 0.0)
                    case b"ShellCommandBegin":
                        recorded.take(_message_in(line), _time_of(checkpoint))
                    case b"ShellCommandEnd":
                        recorded.take(_message_in(line), 0.0)
                    case _:
                        continue
    except OSError:
        logger.info("there is no recording to read", exc_info=True)
    return recorded


def recorded_since(path: Path, checkpoint: str) -> list[Outgoing]:
    """What the recording at `path` holds after its last checkpoint, if that has the uid `checkpoint`."""
    since: list[Outgoing] | None = None
    try:
        with path.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _END, 0))
            for line in file:
                message = _message_in(line)
                if isinstance(message, CheckpointCreated):
                    since = [] if message.uid == checkpoint else None
                elif message is not None and since is not None:
                    since.append(message)
    except OSError:
        logger.info("there is no recording to read", exc_info=True)
    return since or []


def with_commands(events: Iterable[Event], commands: Iterable[ShellCommand]) -> Iterator[Event]:
    """`events` of a replay with the user's commands among them: before the first checkpoint that is later.

    A turn begins just before its checkpoint. What was run before the first of the conversation that is left,
    by a compaction for instance, is left out with it.
    """
    waiting = sorted(commands, key=lambda command: command.since)
    begin: TurnBegin | None = None
    is_first = True
    for event in events:
        if isinstance(event, CheckpointCreated) and event.time:
            due = [command for command in waiting if command.since < event.time]
            if not is_first or event.id == 0:
                yield from _told(due)
            waiting, is_first = waiting[len(due) :], False
        if begin is not None:
            yield begin
        begin = event if isinstance(event, TurnBegin) else None
        if begin is None:
            yield event
    if begin is not None:
        yield begin
    yield from _told(waiting)


def _told(commands: Iterable[ShellCommand]) -> Iterator[Event]:
    for command in commands:
        yield command.begin
        yield command.end


def _time_of(line: bytes) -> float:
    message = _message_in(line) if line else None
    return message.time if isinstance(message, CheckpointCreated) else 0.0


def _result_in(line: bytes) -> ToolResult | None:
    try:
        return from_json(_ResultLine, line).message.payload
    except ValueError:  # it may be an event of a sub-agent, which holds one
        return None


def _message_in(line: bytes) -> Outgoing | None:
    try:
        message = decode(json.loads(line)["message"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return message if isinstance(message, Outgoing) else None
