"""The client's editor, for the file tools: what is open there may not be on disk yet."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from kimi_tui.acp.client import Client, ClientRefused

logger = logging.getLogger(__name__)

PATIENCE_S = 10.0
"""How long the client may take for one file."""


class ClientEditor:
    """As `tools.file.editor.Editor`. A client that can't, or doesn't answer, leaves the file to us."""

    def __init__(self, client: Client, session_id: Callable[[], str]) -> None:
        self._client = client
        self._session_id = session_id

    async def read(self, path: Path) -> str | None:
        """The text that the client has for a file; None when it can't say."""
        if not self._client.reads_files:
            return None
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._client.read_file(self._session_id(), str(path))
        except (ClientRefused, TimeoutError) as error:
            logger.warning("the client didn't read a file: %r", error)
            return None

    async def write(self, path: Path, text: str) -> bool:
        """Have the client write a file; False when it doesn't."""
        if not self._client.writes_files:
            return False
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._client.write_file(self._session_id(), str(path), text)
        except (ClientRefused, TimeoutError) as error:
            logger.warning("the client didn't write a file: %r", error)
            return False
        return True
