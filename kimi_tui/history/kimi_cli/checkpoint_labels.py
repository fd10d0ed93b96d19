"""Labels, kinds and times of Kimi CLI's checkpoints, which contain only a number.

Kimi CLI creates a checkpoint before each prompt and before each step. It records the prompts and steps with
their times in `wire.jsonl`. These are matched in order: a prompt by its text, a step by its position in the
turn.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kimi_tui.base.compaction_markers import is_summary
from kimi_tui.base.message import Message
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.message_history import is_note
from kimi_tui.history.record_codec import DamagedLine, encode, parse
from kimi_tui.history.records import Checkpoint
from kimi_tui.history.step_summary import summarize_step
from kimi_tui.wire.timeline import CheckpointKind

_MAX_LABEL_CHARS = 80
_DMAIL = "You just got a D-Mail"
"""Beginning of the note with which a D-Mail arrives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """Prompt of a turn, and the start times of the turn and its steps, in seconds since the epoch."""

    prompt: str
    started: float
    steps: tuple[float, ...]


def read_turns(wire_file: Path) -> tuple[RecordedTurn, ...]:
    """Return the turns in a `wire.jsonl`; empty if the file can't be read. Skips damaged lines."""
    turns: list[RecordedTurn] = []
    try:
        lines = wire_file.read_bytes().split(b"\n")
    except OSError:
        return ()
    for line in lines:
        if b'"TurnBegin"' not in line and b'"StepBegin"' not in line:
            continue
        kind, payload, time = _parse_event(line)
        if kind == "TurnBegin":
            turns.append(RecordedTurn(prompt=_prompt_text(payload), started=time, steps=()))
        elif kind == "StepBegin" and turns:
            last = turns[-1]
            turns[-1] = RecordedTurn(prompt=last.prompt, started=last.started, steps=(*last.steps, time))
    return tuple(turns)


def describe_checkpoints(context_file: Path, turns: Sequence[RecordedTurn]) -> None:
    """Add label, kind, time and summary to the checkpoints in a file. Raises OSError.

    Other lines stay as they are. Without recorded turns, checkpoints get the file's modification time.
    """
    lines = context_file.read_bytes().split(b"\n")
    clock = _Clock(turns, default=context_file.stat().st_mtime)
    sections = list(_sections(lines))
    earlier: list[Message] = []
    for index, checkpoint, messages in sections:
        kind, label = _kind_and_label(messages)
        described = Checkpoint(
            id=checkpoint.id,
            uid=checkpoint.uid,
            time=clock.time_of_prompt(label) if kind == "user" else clock.time_of_step(),
            kind=kind,
            label=label[:_MAX_LABEL_CHARS],
            done=summarize_step(earlier),
        )
        lines[index] = encode(described).rstrip(b"\n")
        earlier = messages
    context_file.write_bytes(b"\n".join(lines))


class _Clock:
    """Hands out the times of recorded turns in order."""

    def __init__(self, turns: Sequence[RecordedTurn], *, default: float) -> None:
        self._turns = turns
        self._next = 0
        self._steps: Iterator[float] = iter(())
        self._time = default if not turns else turns[0].started

    def time_of_prompt(self, prompt: str) -> float:
        """Return the time of the next turn with this prompt, or else that of the previous checkpoint."""
        for index in range(self._next, len(self._turns)):
            turn = self._turns[index]
            if turn.prompt == prompt:
                self._next = index + 1
                self._steps = iter(turn.steps)
                self._time = turn.started
                break
        return self._time

    def time_of_step(self) -> float:
        """Return the time of the turn's next step, or else that of the previous checkpoint."""
        self._time = next(self._steps, self._time)
        return self._time


def _sections(lines: Sequence[bytes]) -> Iterator[tuple[int, Checkpoint, list[Message]]]:
    """Yield each checkpoint with its line index and the messages up to the next checkpoint."""
    section: tuple[int, Checkpoint, list[Message]] | None = None
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            record, _ = parse(line)
        except DamagedLine:
            continue
        if isinstance(record, Checkpoint):
            if section is not None:
                yield section
            section = (index, record, [])
        elif isinstance(record, Message) and section is not None:
            section[2].append(record)
    if section is not None:
        yield section


def _kind_and_label(messages: Sequence[Message]) -> tuple[CheckpointKind, str]:
    for message in messages:
        if is_summary(message):
            return "compaction", ""
        if is_note(message) and _DMAIL in message.text:
            return "dmail", ""
        if message.role == "user" and not is_note(message):
            return "user", sanitize_line(message.text)
    return "step", ""


def _parse_event(line: bytes) -> tuple[str, Any, float]:
    """Return type, payload and time of a recorded event; an empty type if the line can't be read."""
    try:
        record = json.loads(line)
        message = record["message"]
        return str(message["type"]), message["payload"], float(record["timestamp"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return "", None, 0.0


def _prompt_text(payload: Any) -> str:
    value = payload.get("user_input") if isinstance(payload, dict) else None
    if isinstance(value, list):
        texts = [part.get("text") for part in value if isinstance(part, dict)]
        value = "".join(text for text in texts if isinstance(text, str))
    return sanitize_line(value) if isinstance(value, str) else ""
