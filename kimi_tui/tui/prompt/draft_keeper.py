"""Keeps the draft on disk while the user writes."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from textual.timer import Timer
from textual.widget import Widget

from kimi_tui.tui.prompt.drafts import Draft, DraftStore

logger = logging.getLogger(__name__)

_DELAY_S = 0.2
"""What a SIGKILL may cost of what was typed."""


class DraftKeeper:
    """Saves what `draft` gives, soon after it changed, in a thread. `owner` is a widget that lives on."""

    def __init__(self, store: DraftStore, *, owner: Widget, draft: Callable[[], Draft]) -> None:
        self._store = store
        self._owner = owner
        self._draft = draft
        self._lock = asyncio.Lock()
        self._timer: Timer | None = None

    def save_soon(self) -> None:
        """It changed."""
        if self._timer is None:
            self._timer = self._owner.set_timer(_DELAY_S, self.save)

    def save(self) -> None:
        """Begin to save it."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._owner.run_worker(self._save(), group="draft")

    async def _save(self) -> None:
        async with self._lock:
            self._store.hold(self._draft())
            try:
                await asyncio.to_thread(self._store.write)
            except OSError:
                logger.warning("the draft can't be written", exc_info=True)

    def save_now(self) -> None:
        """Save it before the app ends. A disk that refuses costs what was typed last."""
        with suppress(OSError):
            self._store.save(self._draft())
