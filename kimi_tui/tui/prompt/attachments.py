"""Images attached to the prompt."""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.widget import Widget

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.drafts import DraftStore
from kimi_tui.frontend.image_attachments import AttachedImage, ImageAttachments
from kimi_tui.frontend.image_loader import find_mentioned_images, load_image_file
from kimi_tui.i18n.translate import tr, translate_error
from kimi_tui.tui.prompt.editor import PromptEditor
from kimi_tui.wire.events import SessionInfo

if TYPE_CHECKING:
    from kimi_tui.tui.prompt.attachment_previews import AttachmentPreviews


class Attachments:
    """Loads images and inserts tokens for them into the editor."""

    def __init__(
        self,
        *,
        owner: Widget,
        editor: PromptEditor,
        drafts: DraftStore,
        work_dir: Path,
    ) -> None:
        """`owner` is the widget that contains the editor, and shows thumbnails, errors and warnings."""
        self._owner = owner
        self._editor = editor
        self._drafts = drafts
        self._work_dir = work_dir
        self.images = ImageAttachments()
        self._previews: AttachmentPreviews | None = None
        self.session: SessionInfo | None = None
        """The session that gets the images. None if unknown."""

    async def attach(self, read: Callable[[], AttachedImage]) -> None:
        """Attach an image to the prompt. `read` runs in a thread and may raise KimiTuiError."""
        try:
            image = await asyncio.to_thread(read)
        except KimiTuiError as error:
            self._owner.notify(sanitize(translate_error(error)), severity="error", markup=False)
            return
        token = self._store(image)
        self._editor.insert_token(token)
        if self.session is not None and "image_in" not in self.session.capabilities:
            warning = tr(
                "{model} doesn't support images. Choose another model, or remove {token}.",
                model=sanitize_line(self.session.model_label),
                token=token,
            )
            self._owner.notify(warning, severity="warning", markup=False)

    async def attach_files(self, paths: Iterable[Path]) -> None:
        """Attach image files to the prompt."""
        for path in paths:
            await self.attach(partial(load_image_file, path))

    async def add_image_tokens(self, text: str) -> str:
        """Return `text` with a token after each mentioned image, if the model supports images.

        Raises KimiTuiError.
        """
        if "@" not in text or self.session is None or "image_in" not in self.session.capabilities:
            return text
        mentioned = await asyncio.to_thread(find_mentioned_images, text, self._work_dir)
        for mention, path in mentioned.items():
            token = self._store(await asyncio.to_thread(load_image_file, path))
            text = text.replace(mention, f"{mention} {token}", 1)
        return text

    def update_previews(self) -> None:
        """Show thumbnails of the images whose tokens the editor contains."""
        if not self.images.images:
            return
        if self._previews is None:
            # Imports the renderers of the conversation, which the first frame doesn't need.
            from kimi_tui.tui.prompt.attachment_previews import AttachmentPreviews

            self._previews = AttachmentPreviews(editor=self._editor, attached=self.images)
            self._owner.mount(self._previews, before="Horizontal")
        self._previews.update_images()

    def restore(self, images: Iterable[tuple[int, AttachedImage]]) -> None:
        """Restore the images of a draft under the numbers that its tokens use."""
        for number, image in images:
            self.images.add(image, number=number)

    def _store(self, image: AttachedImage) -> str:
        number, token = self.images.add(image)
        self._drafts.save_image(number, image)
        return token
