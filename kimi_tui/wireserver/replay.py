"""Replays a session's recording to the client."""

import asyncio
import logging
from itertools import islice
from pathlib import Path

from kimi_tui.engine.recording.reader import read_messages
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import SaveRecording
from kimi_tui.wireserver.client import WireClient
from kimi_tui.wireserver.event_filter import REQUEST_TYPES
from kimi_tui.wireserver.jsonrpc import RpcCall

logger = logging.getLogger(__name__)

_BATCH_SIZE = 200


class ReplaySender:
    """Runs at most one replay at a time.

    The response counts the messages sent until the replay ended or was canceled.
    """

    def __init__(self, *, wire: Wire, client: WireClient, tasks: asyncio.TaskGroup) -> None:
        self._wire = wire
        self._client = client
        self._tasks = tasks
        self._task: asyncio.Task[bool] | None = None

    @property
    def is_running(self) -> bool:
        """Whether a replay is running."""
        return self._task is not None and not self._task.done()

    def start(self, call: RpcCall, recording: Path | None) -> None:
        """Send the messages of `recording`, then the result of `call`.

        `recording` is None if no session is open.
        """
        counts = {"events": 0, "requests": 0}

        def send_result(task: asyncio.Task[bool]) -> None:  # also called if canceled before the start
            status = "finished" if not task.cancelled() and task.result() else "cancelled"
            self._client.send_result(call.id, {"status": status, **counts})

        self._task = self._tasks.create_task(self._run(recording, counts))
        self._task.add_done_callback(send_result)

    def cancel(self) -> None:
        """Cancel the running replay, if any."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self, recording: Path | None, counts: dict[str, int]) -> bool:
        """Return whether all messages were sent."""
        try:
            if recording is not None:
                await self._send(recording, counts)
        except WireClosed:
            logger.info("the session ended during a replay")
            return False
        return True

    async def _send(self, recording: Path, counts: dict[str, int]) -> None:
        """Send the recorded messages and count them in `counts`. Raises WireClosed."""
        await self._wire.command_and_wait(SaveRecording())
        messages = read_messages(recording)
        while batch := await asyncio.to_thread(list, islice(messages, _BATCH_SIZE)):
            for message in batch:
                if await self._client.replay(message):
                    counts["requests" if message["type"] in REQUEST_TYPES else "events"] += 1
