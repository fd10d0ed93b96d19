"""Sending a session's recording again, for a client that has just come."""

import asyncio
import logging
from itertools import islice
from pathlib import Path

from kimi_tui.engine.recording import recorded_messages
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import SaveRecording
from kimi_tui.wireserver.client import Client
from kimi_tui.wireserver.jsonrpc import Call
from kimi_tui.wireserver.vocabulary import REQUEST_TYPES

logger = logging.getLogger(__name__)

_SENT_AT_ONCE = 200


class Replay:
    """At most one at a time. It is answered with what was sent until it ended or was cancelled."""

    def __init__(self, *, wire: Wire, client: Client, tasks: asyncio.TaskGroup) -> None:
        self._wire = wire
        self._client = client
        self._tasks = tasks
        self._task: asyncio.Task[bool] | None = None

    @property
    def is_running(self) -> bool:
        """Whether one is under way."""
        return self._task is not None and not self._task.done()

    def start(self, call: Call, recording: Path | None) -> None:
        """Send `recording`, which is None where no session is open, and then the result of `call`."""
        counts = {"events": 0, "requests": 0}

        def answer(task: asyncio.Task[bool]) -> None:  # also for one that was cancelled before it began
            status = "finished" if not task.cancelled() and task.result() else "cancelled"
            self._client.result(call.id, {"status": status, **counts})

        self._task = self._tasks.create_task(self._run(recording, counts))
        self._task.add_done_callback(answer)

    def cancel(self) -> None:
        """End the one that is under way, if any."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self, recording: Path | None, counts: dict[str, int]) -> bool:
        """Whether all of it was sent."""
        try:
            if recording is not None:
                await self._send(recording, counts)
        except WireClosed:
            logger.info("a replay was ended by the end of the session")
            return False
        return True

    async def _send(self, recording: Path, counts: dict[str, int]) -> None:
        """Send what is recorded, counted in `counts`. Raises WireClosed."""
        await self._wire.carry_out(SaveRecording())
        messages = recorded_messages(recording)
        while batch := await asyncio.to_thread(list, islice(messages, _SENT_AT_ONCE)):
            for message in batch:
                if await self._client.show(message):
                    counts["requests" if message["type"] in REQUEST_TYPES else "events"] += 1
