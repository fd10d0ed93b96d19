"""Handler of searches in the messages of all sessions."""

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.message_search import MessageMatches

if TYPE_CHECKING:
    from kimi_tui.session_search.session_searcher import SessionSearcher

_UPDATE_S = 0.5
"""Seconds of indexing before the results are sent again."""


class MessageSearch:
    """Sends the matches in the index. Sends them again while more messages are being indexed."""

    def __init__(self, *, data_dir: Path, sender: EventSender) -> None:
        self._data_dir = data_dir
        self._opened_searcher: SessionSearcher | None = None
        self._sender = sender
        self._newest_text = ""
        """Text of the latest search. Searches for other texts end."""

    async def search(self, text: str, limit: int) -> None:
        """Send the messages that contain all terms of `text`. Raises KimiTuiError."""
        self._newest_text = text
        sent: MessageMatches | None = None
        while self._newest_text == text:
            matches = await asyncio.to_thread(self._searcher.search, text, limit=limit)
            if matches != sent:
                self._sender.send(matches)
                sent = matches
            elif matches.indexed >= 1:
                return
            await asyncio.to_thread(self._searcher.update, deadline=time.monotonic() + _UPDATE_S)

    @property
    def _searcher(self) -> "SessionSearcher":
        if self._opened_searcher is None:
            from kimi_tui.session_search.session_searcher import SessionSearcher  # imports SQLite

            self._opened_searcher = SessionSearcher(self._data_dir)
        return self._opened_searcher

    def close(self) -> None:
        """Close the index."""
        self._newest_text = ""
        if self._opened_searcher is not None:
            self._opened_searcher.close()
