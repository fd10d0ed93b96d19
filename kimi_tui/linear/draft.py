"""Unsent input, saved on disk as the draft for this working directory."""

import asyncio
import logging
from collections import deque
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.frontend.drafts import Draft, DraftStore
from kimi_tui.frontend.image_attachments import ImageAttachments
from kimi_tui.frontend.paste_folding import FoldedPastes
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.shell_line import ShellLine
from kimi_tui.linear.line_input import LineInput
from kimi_tui.linear.prompt_images import PromptImages

logger = logging.getLogger(__name__)


@frozen
class TypedInput:
    """A prompt, a command or a shell line that the user typed."""

    text: str
    draft: Draft
    shell_line: ShellLine | None


class UnsentInput:
    """The prompt being typed, queued prompts, and prompts that the engine hasn't recorded yet."""

    def __init__(
        self,
        *,
        data_dir: Path,
        work_dir: Path,
        lines: LineInput,
        images: PromptImages,
    ) -> None:
        self._drafts = DraftStore(data_dir=data_dir, work_dir=work_dir)
        self._lines = lines
        self._images = images
        self._state = SessionViewState()
        self._saved_image_count = 0
        self._saved_draft: Draft | None = None
        self.queued_prompts: deque[str] = deque()
        """Lines that were typed while the agent was working, oldest first."""
        self.previous_lines: list[str] | None = None
        """The lines before the one being typed. None while no prompt is being written."""
        self.restored_text = ""
        """Text from a dead process. The next prompt starts with this text."""

    def restore(self) -> None:
        """Restore the draft that a dead process left in this working directory, if any."""
        orphan = self._drafts.find_orphan()
        if orphan is not None and self._drafts.claim(orphan):
            self._images.restore(orphan.images)
            self._saved_image_count = len(self._images.images)
            self.restored_text = FoldedPastes(orphan.draft.pastes).unfold(orphan.draft.text)

    def pop_restored(self) -> str:
        """Return and remove the text that the next prompt starts with."""
        restored, self.restored_text = self.restored_text, ""
        return restored

    @property
    def is_prompting(self) -> bool:
        """Whether the user is writing a prompt."""
        return self.previous_lines is not None

    def set_state(self, state: SessionViewState) -> None:
        """Set the state of the session. Its unsaved prompts are part of the draft."""
        self._state = state
        self.save_soon()

    # the prompt of a session controller

    @property
    def images(self) -> ImageAttachments:
        """The images that prompts can refer to."""
        return self._images.attachments

    async def add_image_tokens(self, text: str) -> str:
        """Return `text` with the tokens of mentioned images and of attached images.

        Raises KimiTuiError.
        """
        return self._images.add_tokens(text, self._state.session)

    def fill(self, text: str) -> None:
        """Put `text` at the start of the next prompt, if the terminal supports editing."""
        if self._lines.is_editable:
            self.restored_text = "\n\n".join(filter(None, (text, self.restored_text)))

    def give_back(self, draft: Draft) -> None:
        """Do nothing: a line that could not be sent is in the history already."""

    def remember(self, text: str, draft: Draft) -> None:
        """Do nothing: the line is in the history already."""

    # the draft on disk

    def save_soon(self) -> None:
        """Write the draft in the background if it changed."""
        draft = Draft(self._text)
        if draft != self._saved_draft:
            self._set_draft(draft)
            asyncio.get_running_loop().run_in_executor(None, self._write)

    def save_now(self) -> None:
        """Write the draft before the process exits."""
        self._set_draft(Draft(self._text))
        self._write()

    def _set_draft(self, draft: Draft) -> None:
        for number, image in list(self._images.images.items())[self._saved_image_count :]:
            self._drafts.save_image(number, image)
        self._saved_image_count = len(self._images.images)
        self._saved_draft = draft
        self._drafts.set_draft(draft)

    def _write(self) -> None:
        try:
            self._drafts.write()
        except OSError:  # the draft is lost only if the process crashes
            logger.warning("can't write the draft", exc_info=True)

    @property
    def _text(self) -> str:
        state = self._state
        # Before the session opens, the queue holds prompts of the command line.
        queued = self.queued_prompts if state.session is not None else ()
        prompt = (
            "" if self.previous_lines is None else "\n".join([*self.previous_lines, self._lines.current_text])
        )
        texts = [*state.unsaved_prompts, *queued, self.restored_text, prompt]
        return " ".join(["\n\n".join(text for text in texts if text.strip()), *self._images.pending_tokens])
