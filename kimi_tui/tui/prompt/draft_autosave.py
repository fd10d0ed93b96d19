"""Saves the draft to disk while the user types."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from textual.timer import Timer
from textual.widget import Widget

from kimi_tui.frontend.drafts import Draft, DraftStore

logger = logging.getLogger(__name__)

_DELAY_S = 0.2
"""Upper limit of the typing time that a SIGKILL can lose."""


class DraftAutosave:
    """Saves the result of `draft` in a thread shortly after it changed. `owner` is a widget that stays
    mounted.
    """

    def __init__(self, store: DraftStore, *, owner: Widget, draft: Callable[[], Draft]) -> None:
        self._store = store
        self._owner = owner
        self._draft = draft
        self._lock = asyncio.Lock()
        self._timer: Timer | None = None

    def save_soon(self) -> None:
        """Schedule a save after a change."""
        if self._timer is None:
            self._timer = self._owner.set_timer(_DELAY_S, self.save)

    def save(self) -> None:
        """Start saving now."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._owner.run_worker(self._save(), group="draft")

    async def _save(self) -> None:
        async with self._lock:
            self._store.set_draft(self._draft())
            try:
                await asyncio.to_thread(self._store.write)
            except OSError:
                logger.warning("can't write the draft", exc_info=True)

    def save_now(self) -> None:
        """Save synchronously before the app exits. A disk error loses the text typed since the last save."""
        with suppress(OSError):
            self._store.save(self._draft())
