"""`wire.jsonl`: what went over the Wire, one message a line, fragments merged (`docs/formats.md`)."""

import asyncio
import json
import logging
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.base.completion import run_to_end
from kimi_tui.base.paths import make_private_dir
from kimi_tui.wire.background import TasksUpdate
from kimi_tui.wire.channel import Outgoing, Subscription
from kimi_tui.wire.codec import PROTOCOL_VERSION, encode
from kimi_tui.wire.events import (
    MCPLoadingBegin,
    MCPLoadingEnd,
    ReplayBegin,
    ReplayEnd,
    Reply,
    SessionInfo,
    SnapshotProgress,
    ToolOutput,
)
from kimi_tui.wire.fragments import merge_fragments
from kimi_tui.wire.requests import ApprovalRequest
from kimi_tui.wire.timeline import (
    BranchContent,
    Comparison,
    PatchWritten,
    RevertPlan,
    Timeline,
    TimelineUpdate,
)
from kimi_tui.wire.window import WindowFilling

logger = logging.getLogger(__name__)

FLUSH_AFTER_S = 0.5
"""How long fragments are held back so that more of them become one line."""
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
    WindowFilling,
    Reply,
)


class Recorder:
    """Writes a subscription's messages to a file, which appears with the first of them.

    What goes wrong costs the recording, never the session: the journal is what a session is resumed from.
    """

    def __init__(self, path: Path, subscription: Subscription) -> None:
        self._path = path
        self._subscription = subscription
        self._held: list[Outgoing] = []
        self._is_replay = False
        """Whether what comes was recorded when it happened."""
        self._writing = asyncio.Lock()

    async def run(self) -> None:
        """Record until the Wire closes."""
        while batch := await self._subscription.drain():
            self._hold(batch)
            await self._subscription.closing(FLUSH_AFTER_S)
            self._hold(self._subscription.take())
            await self._flush()

    async def save(self) -> None:
        """Write what was sent up to now."""
        self._hold(self._subscription.take())
        await self._flush()

    def _hold(self, batch: Iterable[Outgoing]) -> None:
        for message in batch:
            if isinstance(message, ReplayBegin | ReplayEnd):
                self._is_replay = isinstance(message, ReplayBegin)
            elif not self._is_replay and not isinstance(message, _NOT_RECORDED):
                self._held.append(_kept(message))

    async def _flush(self) -> None:
        async with self._writing:
            messages, self._held = merge_fragments(self._held), []
            if not messages:
                return
            try:
                await run_to_end(self._append, messages, time.time())
            except Exception:
                logger.warning("wire.jsonl could not be written", exc_info=True)

    def _append(self, messages: Sequence[Outgoing], now: float) -> None:
        encoded = (_encoded(message) for message in messages)
        lines = [{"timestamp": now, "message": message} for message in encoded if message is not None]
        make_private_dir(self._path.parent)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            end = file.seek(0, os.SEEK_END)
            if end == 0:
                lines = [{"type": "metadata", "protocol_version": PROTOCOL_VERSION}, *lines]
                lead = b""
            else:
                file.seek(end - 1)
                lead = b"" if file.read(1) == b"\n" else b"\n"  # a torn line costs itself only
            file.write(lead + b"".join(_line(line) for line in lines))


def _kept(message: Outgoing) -> Outgoing:
    # A proposal is a whole file beside its diff; nobody can answer a recorded request any more.
    return replace(message, proposal=None) if isinstance(message, ApprovalRequest) else message


def _encoded(message: Outgoing) -> dict[str, Any] | None:
    try:
        return encode(message)
    except ValueError:  # a tool or a client put something into it that is no JSON
        logger.warning("a %s can't be recorded", type(message).__name__, exc_info=True)
        return None


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
