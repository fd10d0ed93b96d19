"""Recorder of `wire.jsonl`: the Wire's messages, one per line, with fragments merged (`docs/formats.md`)."""

import asyncio
import json
import logging
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.base.message_text import add_texts
from kimi_tui.base.paths import make_private_dir
from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.wire.attempts import AttemptChanges, AttemptList
from kimi_tui.wire.background import TasksUpdate
from kimi_tui.wire.bisect import BisectProgress, BisectResult
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.checks import CheckResult
from kimi_tui.wire.codec import PROTOCOL_VERSION, encode
from kimi_tui.wire.events import (
    MCPLoadingBegin,
    MCPLoadingEnd,
    Reply,
    SessionInfo,
    SnapshotProgress,
    ToolOutput,
)
from kimi_tui.wire.fragments import merge_fragments
from kimi_tui.wire.requests import ApprovalRequest
from kimi_tui.wire.review import ChangeReview, CommentList, PlannedFileContent
from kimi_tui.wire.timeline import (
    BranchContent,
    Comparison,
    PatchWritten,
    RevertPlan,
    Timeline,
    TimelineUpdate,
)
from kimi_tui.wire.why import LineReason

logger = logging.getLogger(__name__)

FLUSH_DELAY_S = 0.5
"""Seconds for which fragments are buffered, so that several become one line."""
_NOT_RECORDED = (
    SessionInfo,
    SnapshotProgress,
    ToolOutput,
    MCPLoadingBegin,
    MCPLoadingEnd,
    TasksUpdate,
    Timeline,
    TimelineUpdate,
    BranchContent,
    Comparison,
    PatchWritten,
    RevertPlan,
    BisectProgress,
    BisectResult,
    CheckResult,
    LineReason,
    CommentList,
    ChangeReview,
    PlannedFileContent,
    AttemptList,
    AttemptChanges,
    Reply,
)


class Recorder:
    """Writes the Wire's live messages to a file, which is created with the first message.

    Errors are logged and never affect the session, which is resumed from the journal.
    """

    def __init__(self, path: Path, wire: Wire) -> None:
        self._path = path
        self._subscription = wire.subscribe(live_only=True)
        self._buffer: list[Outgoing] = []
        self._write_lock = asyncio.Lock()

    async def run(self) -> None:
        """Record messages until the Wire closes."""
        while batch := await self._subscription.drain():
            self._add_to_buffer(batch)
            await self._subscription.wait_closed(FLUSH_DELAY_S)
            self._add_to_buffer(self._subscription.pop_pending())
            await self._flush()

    async def save(self) -> None:
        """Write the messages sent so far."""
        self._add_to_buffer(self._subscription.pop_pending())
        await self._flush()

    def _add_to_buffer(self, batch: Iterable[Outgoing]) -> None:
        for message in batch:
            if not isinstance(message, _NOT_RECORDED):
                self._buffer.append(_strip_proposal(message))

    async def _flush(self) -> None:
        async with self._write_lock:
            messages, self._buffer = merge_fragments(self._buffer), []
            if not messages:
                return
            try:
                await run_in_thread_shielded(self._append, messages, time.time())
            except Exception:
                logger.warning("can't write wire.jsonl", exc_info=True)

    def _append(self, messages: Sequence[Outgoing], now: float) -> None:
        encoded = (_encode_message(message) for message in messages)
        lines = [{"timestamp": now, **message} for message in encoded if message is not None]
        make_private_dir(self._path.parent)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            end = file.seek(0, os.SEEK_END)
            if end == 0:
                lines = [{"type": "metadata", "protocol_version": PROTOCOL_VERSION}, *lines]
                lead = b""
            else:
                file.seek(end - 1)
                lead = b"" if file.read(1) == b"\n" else b"\n"  # complete a partial line first
            file.write(lead + b"".join(_encode_line(line) for line in lines))


def _strip_proposal(message: Outgoing) -> Outgoing:
    # A proposal repeats a whole file next to its diff, and a recorded request can't be answered.
    return replace(message, proposal=None) if isinstance(message, ApprovalRequest) else message


def _encode_message(message: Outgoing) -> dict[str, Any] | None:
    """Return the fields `message` and, if it contains messages with ids, `texts`."""
    try:
        encoded = encode(message)
    except ValueError:  # a tool or a client has added a value that JSON can't represent
        logger.warning("can't record a %s", type(message).__name__, exc_info=True)
        return None
    return add_texts({"message": encoded}, encoded["payload"])


def _encode_line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
