"""Saves the draft to disk while the user types."""

import asyncio
import logging
from contextlib import suppress

from textual.timer import Timer
from textual.worker import WorkType

from kimi_tui.frontend.drafts import Draft, DraftStore
from kimi_tui.tui.prompt.editor import PromptEditor

logger = logging.getLogger(__name__)

_DELAY_S = 0.2
"""Seconds between a change and its save. A SIGKILL loses at most the text typed in this time."""


class DraftAutosave:
    """Saves the editor's content and the prompts that the engine hasn't saved yet.

    Saves in a thread, shortly after each change.
    """

    def __init__(self, store: DraftStore, editor: PromptEditor) -> None:
        self._store = store
        self._editor = editor
        self._in_flight: list[tuple[str, Draft]] = []
        """Prompts that have left the editor but are neither sent nor restored yet."""
        self._unsaved_prompts: tuple[str, ...] = ()
        self._lock = asyncio.Lock()
        self._timer: Timer | None = None

    @property
    def draft(self) -> Draft:
        """The unsaved prompts, oldest first, and the editor's content."""
        draft = self._editor.draft
        unsaved = [*self._unsaved_prompts, *(text for text, _ in self._in_flight)]
        if not unsaved:
            return draft
        return Draft("\n\n".join((*unsaved, draft.text)).rstrip("\n"), draft.pastes)

    def update_unsaved_prompts(self, prompts: tuple[str, ...]) -> None:
        """Replace the prompts that were sent to the engine but that the engine hasn't saved yet."""
        if prompts != self._unsaved_prompts:
            self._unsaved_prompts = prompts
            self.save_soon()

    def begin_sending(self, text: str, draft: Draft) -> None:
        """Keep `text`, which left the editor as `draft`, until `end_sending`."""
        self._in_flight.append((text, draft))

    def end_sending(self, draft: Draft) -> None:
        """Forget `draft` after it was sent or restored, and start saving."""
        self._in_flight = [it for it in self._in_flight if it[1] is not draft]
        self.save()

    def save_soon(self) -> None:
        """Schedule a save after a change."""
        if self._timer is None:
            self._timer = self._editor.set_timer(_DELAY_S, self.save)

    def save(self) -> None:
        """Start saving now."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        work: WorkType[None] = self._save
        self._editor.run_worker(work, group="draft")

    async def _save(self) -> None:
        async with self._lock:
            self._store.set_draft(self.draft)
            try:
                await asyncio.to_thread(self._store.write)
            except OSError:
                logger.warning("can't write the draft", exc_info=True)

    def save_now(self) -> None:
        """Save synchronously before the app exits. If that fails, text typed since the last save is lost."""
        with suppress(OSError):
            self._store.save(self.draft)
