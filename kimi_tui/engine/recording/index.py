"""Index of data that only `wire.jsonl` has: displayed tool results, and the user's shell commands."""

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import from_json
from kimi_tui.base.message_text import restore_texts
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import decode
from kimi_tui.wire.events import CheckpointCreated, Event, StatusUpdate, ToolResult, ToolReturn, TurnBegin
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd

logger = logging.getLogger(__name__)

_RELEVANT_TYPE = re.compile(rb'"type":"(ToolResult|CheckpointCreated|ShellCommandBegin|ShellCommandEnd)"')


_TAIL_BYTES = 1 << 22
"""Number of bytes at the end of a recording that are searched for a response."""
_STATUS_TAIL_BYTES = 1 << 18
"""Number of bytes at the end of a recording that are searched for the size of the conversation."""


@frozen
class _ResultMessage:
    type: Literal["ToolResult"]
    payload: ToolResult


@frozen
class _ResultLine:
    """A line with a tool result.

    These lines are so frequent that they are parsed without intermediate dicts.
    """

    message: _ResultMessage
    texts: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class RecordedShellCommand:
    """A shell command that the user ran."""

    since: float
    """Time of the last checkpoint before the command, in seconds since the epoch; 0 without a checkpoint."""
    begin: ShellCommandBegin
    end: ShellCommandEnd


@dataclass(slots=True)
class RecordingIndex:
    """Tool results and shell commands of a recording."""

    results: dict[str, list[ToolReturn]] = field(default_factory=dict)
    """Results by call id. Several calls may have the same id."""
    commands: dict[str, RecordedShellCommand] = field(default_factory=dict)
    """Commands by ID, in the order of their start. Commands without a recorded end count as stopped."""

    def add(self, message: Outgoing | None, since: float) -> None:
        """Add a message, or ignore None. `since` is as in RecordedShellCommand."""
        match message:
            case ToolResult():
                self.results.setdefault(message.tool_call_id, []).append(message.return_value)
            case ShellCommandBegin(id=command_id, work_dir=folder):
                stopped = ShellCommandEnd(command_id, 0, "", folder, stopped=True)
                self.commands[command_id] = RecordedShellCommand(since, message, stopped)
            case ShellCommandEnd(id=command_id) if command_id in self.commands:
                self.commands[command_id].end = message
            case _:
                pass


def load_recording(path: Path, *, max_bytes: int | None = None) -> RecordingIndex:
    """Return the index of the recording at `path`, or of its last `max_bytes`.

    Unreadable lines are skipped.
    """
    index = RecordingIndex()
    checkpoint = b""
    try:
        with path.open("rb") as file:
            if max_bytes is not None and file.seek(0, os.SEEK_END) > max_bytes:
                file.seek(-max_bytes, os.SEEK_END)
                file.readline()
            elif max_bytes is not None:
                file.seek(0)
            for line in file:
                match kind[1] if (kind := _RELEVANT_TYPE.search(line)) is not None else b"":
                    case b"CheckpointCreated":
                        checkpoint = line
                    case b"ToolResult":
                        index.add(_parse_result(line), 0.0)
                    case b"ShellCommandBegin":
                        index.add(_parse_message(line), _checkpoint_time(checkpoint))
                    case b"ShellCommandEnd":
                        index.add(_parse_message(line), 0.0)
                    case _:
                        continue
    except OSError:
        logger.info("can't read the recording", exc_info=True)
    return index


def read_messages_since(path: Path, checkpoint: str) -> list[Outgoing]:
    """Return the messages after the recording's last checkpoint; empty if its uid isn't `checkpoint`."""
    messages: list[Outgoing] | None = None
    try:
        with path.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _TAIL_BYTES, 0))
            for line in file:
                message = _parse_message(line)
                if isinstance(message, CheckpointCreated):
                    messages = [] if message.uid == checkpoint else None
                elif message is not None and messages is not None:
                    messages.append(message)
    except OSError:
        logger.info("can't read the recording", exc_info=True)
    return messages or []


def read_last_context_usage(path: Path) -> StatusUpdate | None:
    """Return the last recorded size of the conversation and of the context window; None if unknown."""
    try:
        with path.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _STATUS_TAIL_BYTES, 0))
            lines = [line for line in file if b'"StatusUpdate"' in line]
    except OSError:
        return None
    messages = map(_parse_message, reversed(lines))
    status = next((it for it in messages if isinstance(it, StatusUpdate) and it.max_context_tokens), None)
    if status is None:
        return None
    return StatusUpdate(
        context_usage=status.context_usage,
        context_tokens=status.context_tokens,
        max_context_tokens=status.max_context_tokens,
    )


def merge_commands(events: Iterable[Event], commands: Iterable[RecordedShellCommand]) -> Iterator[Event]:
    """Insert the user's shell commands into the `events` of a replay, each before the first later checkpoint.

    A turn begins just before its checkpoint. Commands from before the first remaining checkpoint are omitted;
    a compaction may have removed their context.
    """
    pending = sorted(commands, key=lambda command: command.since)
    begin: TurnBegin | None = None
    is_first = True
    for event in events:
        if isinstance(event, CheckpointCreated) and event.time:
            due = [command for command in pending if command.since < event.time]
            if not is_first or event.id == 0:
                yield from _command_events(due)
            pending, is_first = pending[len(due) :], False
        if begin is not None:
            yield begin
        begin = event if isinstance(event, TurnBegin) else None
        if begin is None:
            yield event
    if begin is not None:
        yield begin
    yield from _command_events(pending)


def _command_events(commands: Iterable[RecordedShellCommand]) -> Iterator[Event]:
    for command in commands:
        yield command.begin
        yield command.end


def _checkpoint_time(line: bytes) -> float:
    message = _parse_message(line) if line else None
    return message.time if isinstance(message, CheckpointCreated) else 0.0


def _parse_result(line: bytes) -> ToolResult | None:
    try:
        record = from_json(_ResultLine, line)
    except ValueError:  # a sub-agent's event may contain a tool result
        return None
    result: ToolResult = restore_texts(record.message.payload, record.texts)
    return result


def _parse_message(line: bytes) -> Outgoing | None:
    try:
        record = json.loads(line)
        message = restore_texts(decode(record["message"]), record.get("texts"))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return message if isinstance(message, Outgoing) else None
