"""The step of a tool call, found in the journals of a session without reading them from the beginning."""

import contextlib
import json
import mmap
from collections.abc import Iterator
from pathlib import Path

from kimi_tui.base.content_parts import ThinkPart
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.history.journal import Journal
from kimi_tui.history.message_history import is_note
from kimi_tui.history.record_codec import DamagedLine, parse, pending_message, role_of
from kimi_tui.history.records import Checkpoint, PendingRecord, Record, UsageRecord
from kimi_tui.history.step_summary import summarize_step

_HEAD_BYTES = 64
_CLOCK_TOLERANCE_S = 2.0
_ROLES = {"_checkpoint", "user", "_pending", "assistant"}


@frozen(kw_only=True)
class JournalStep:
    """The step of a tool call, as recorded in a journal."""

    checkpoint: Checkpoint | None
    """The checkpoint before the step."""
    prompt: str
    """The user's message of the turn."""
    label: str
    """Summary of the step in one line."""
    reasoning: str
    response: str
    model: str
    cost_usd: float | None
    ended: float
    """Time when the next step began, in seconds since the epoch; infinite for the last step."""

    @property
    def began(self) -> float:
        """Time when the step began, in seconds since the epoch; 0 if unknown."""
        return self.checkpoint.time if self.checkpoint is not None else 0.0


def find_step(journal: Path, call_id: str, *, time: float) -> JournalStep | None:
    """Return the step with a tool call that ended at `time`, from a journal or its rotations. Blocks.

    Servers may reuse call IDs, so the last matching step before `time` is returned. None if no step matches.
    """
    found: JournalStep | None = None
    for path in (journal, *reversed(list(Journal(journal).rotations().values()))):
        with (
            contextlib.suppress(OSError, ValueError),  # an empty file has no map
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            for step in _find_all(data, call_id):
                if step.began <= time + _CLOCK_TOLERANCE_S and (found is None or step.began > found.began):
                    found = step
                if found is not None and time <= found.ended + _CLOCK_TOLERANCE_S:
                    return found
    return found


def _find_all(data: mmap.mmap, call_id: str) -> Iterator[JournalStep]:
    """Yield the steps with the call `call_id`, the last step first."""
    key = json.dumps(call_id, ensure_ascii=False).encode("utf-8", "replace")
    at = len(data)
    while (at := data.rfind(key, 0, at)) >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, _line_end(data, at)
        message = _message_with_call(data[start:end], call_id)
        if message is not None:
            yield _to_step(data, message, start, end)
        at = start


def _message_with_call(line: bytes, call_id: str) -> Message | None:
    if role_of(line) not in {"assistant", "_pending"}:
        return None
    record = _parse(line)
    try:
        message = pending_message(record) if isinstance(record, PendingRecord) else record
    except DamagedLine:
        return None
    if not isinstance(message, Message) or message.role != "assistant":
        return None
    return message if any(call.id == call_id for call in message.tool_calls or ()) else None


def _to_step(data: mmap.mmap, message: Message, start: int, end: int) -> JournalStep:
    usage = _parse(data[end : _line_end(data, end)]) if end < len(data) else None
    checkpoint: Checkpoint | None = None
    prompt = ""
    for line in _lines_before(data, start):
        if role_of(line) not in _ROLES or role_of(line) in {"assistant", "_pending"}:
            continue
        record = _parse(line)
        if isinstance(record, Checkpoint):
            checkpoint = checkpoint or record
            if record.kind != "step":
                break
        elif isinstance(record, Message) and not record.steer and not is_note(record):
            prompt = record.typed or record.text
    summary = summarize_step([message])
    return JournalStep(
        checkpoint=checkpoint,
        prompt=prompt,
        label=summary.label if summary is not None else "",
        reasoning="".join(part.think for part in message.content if isinstance(part, ThinkPart)),
        response=message.text,
        model=usage.model if isinstance(usage, UsageRecord) else "",
        cost_usd=usage.cost_usd if isinstance(usage, UsageRecord) else None,
        ended=_next_checkpoint_time(data, end),
    )


def _next_checkpoint_time(data: mmap.mmap, start: int) -> float:
    while start < len(data):
        end = _line_end(data, start)
        if role_of(data[start : start + _HEAD_BYTES]) == "_checkpoint":
            record = _parse(data[start:end])
            if isinstance(record, Checkpoint):
                return record.time
        start = end
    return float("inf")


def _lines_before(data: mmap.mmap, end: int) -> Iterator[bytes]:
    """Yield the lines before the byte offset `end`, last line first. Long lines of other roles are cut."""
    while end > 0:
        start = data.rfind(b"\n", 0, end - 1) + 1
        head = data[start : min(end, start + _HEAD_BYTES)]
        yield data[start:end] if role_of(head) in _ROLES else head
        end = start


def _line_end(data: mmap.mmap, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end + 1


def _parse(line: bytes) -> Record | None:
    try:
        return parse(line)[0]
    except DamagedLine:
        return None
