"""File access through the client's editor, including unsaved changes."""

import asyncio
import logging
from pathlib import Path

from kimi_tui.acp.client import AcpClient, ClientRequestError
from kimi_tui.acp.session import AcpSession

logger = logging.getLogger(__name__)

REQUEST_TIMEOUT_S = 10.0
"""Seconds to wait for the client to read or write one file."""


class ClientEditor:
    """Implements `tools.file.client_editor.Editor`.

    If the client can't access files, fails or times out, the caller accesses the disk instead.
    """

    def __init__(self, client: AcpClient, session: AcpSession) -> None:
        self._client = client
        self._session = session

    async def read(self, path: Path) -> str | None:
        """Return the text of a file in the client; None if the client can't provide it."""
        if not self._client.can_read_files:
            return None
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                return await self._client.read_file(self._session.id, str(path))
        except (ClientRequestError, TimeoutError) as error:
            logger.warning("the client didn't read a file: %r", error)
            return None

    async def write(self, path: Path, text: str) -> bool:
        """Write a file through the client. Return whether the client wrote the file."""
        if not self._client.can_write_files:
            return False
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                await self._client.write_file(self._session.id, str(path), text)
        except (ClientRequestError, TimeoutError) as error:
            logger.warning("the client didn't write a file: %r", error)
            return False
        return True
