"""What the user typed and the engine has not written down, kept on disk as the draft of this work dir."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from pathlib import Path

from kimi_tui.tui.linear.pictures import Pictures
from kimi_tui.tui.prompt.drafts import Draft, DraftStore
from kimi_tui.tui.prompt.paste import Pastes
from kimi_tui.tui.state import ScreenState

logger = logging.getLogger(__name__)


class Unsent:
    """The prompt that is being typed, what was typed ahead, and prompts on their way to the engine.

    `typed` gives the line that is being typed, `state` how the session stands.
    """

    def __init__(
        self,
        *,
        share_dir: Path,
        work_dir: Path,
        typed: Callable[[], str],
        state: Callable[[], ScreenState],
        pictures: Pictures,
    ) -> None:
        self._drafts = DraftStore(share_dir=share_dir, work_dir=work_dir)
        self._typed = typed
        self._state = state
        self._pictures = pictures
        self._pictures_kept = 0
        self._kept: Draft | None = None
        self.ahead: deque[str] = deque()
        """Lines that were typed while the agent worked, oldest first."""
        self.begun: list[str] | None = None
        """The lines before the one that is being typed; None while no prompt is being written."""
        self.restored = ""
        """What the next prompt begins with: a dead process left it."""

    def restore(self) -> None:
        """Go on with the draft that a dead process left in this work dir, if there is one."""
        orphan = self._drafts.orphan()
        if orphan is not None and self._drafts.claim(orphan):
            self._pictures.put_back(orphan.pictures)
            self._pictures_kept = len(self._pictures.photos)
            self.restored = Pastes(orphan.draft.pastes).unfold(orphan.draft.text)

    def take_restored(self) -> str:
        """What the prompt that is asked for now begins with. It counts as typed from here on."""
        restored, self.restored = self.restored, ""
        return restored

    def keep(self) -> None:
        """Begin to bring it to the disk, if it has changed. Slow disks hold nobody up."""
        draft = Draft(self._text)
        if draft != self._kept:
            self._hold(draft)
            asyncio.get_running_loop().run_in_executor(None, self._write)

    def keep_now(self) -> None:
        """Bring it to the disk before all ends."""
        self._hold(Draft(self._text))
        self._write()

    def _hold(self, draft: Draft) -> None:
        for number, photo in list(self._pictures.photos.items())[self._pictures_kept :]:
            self._drafts.keep_picture(number, photo)
        self._pictures_kept = len(self._pictures.photos)
        self._kept = draft
        self._drafts.hold(draft)

    def _write(self) -> None:
        try:
            self._drafts.write()
        except OSError:  # costs it only in a crash
            logger.warning("the draft can't be written", exc_info=True)

    @property
    def _text(self) -> str:
        state = self._state()
        ahead = self.ahead if state.session is not None else ()  # before, it is the command line's prompt
        prompt = "" if self.begun is None else "\n".join([*self.begun, self._typed()])
        texts = [*state.at_stake, *ahead, self.restored, prompt]
        return " ".join(["\n\n".join(text for text in texts if text.strip()), *self._pictures.waiting])
