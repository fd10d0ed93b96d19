"""The SDK's connection, extended to notify the client that a request no longer needs an answer."""

import asyncio
from contextlib import suppress
from typing import Any

from acp.connection import Connection

from kimi_tui.acp.transport import CANCEL_REQUEST


class CancelingConnection(Connection):
    """Sends `$/cancel_request` when the caller of a request is canceled.

    For example, if another client of the session has answered a permission request, the editor closes its
    dialog.
    """

    async def send_request(self, method: str, params: Any = None) -> Any:
        """Send a request and return its result."""
        request_id = self._next_request_id  # the SDK uses this id before its first await
        try:
            return await super().send_request(method, params)
        except asyncio.CancelledError:
            self._tasks.create(self._cancel(request_id), name="cancel a request")
            raise

    async def _cancel(self, request_id: int) -> None:
        with suppress(ConnectionError):
            await self.send_notification(CANCEL_REQUEST, {"requestId": request_id})
