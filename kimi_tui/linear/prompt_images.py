"""Images in a prompt: attached with a command, or mentioned after `@`."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.frontend.image_attachments import AttachedImage, ImageAttachments
from kimi_tui.frontend.image_loader import (
    find_mentioned_images,
    load_image_file,
    parse_image_argument,
    parse_image_paths,
)
from kimi_tui.wire.events import SessionInfo


class PromptImages:
    """The images of this run, and the images that are attached to the next prompt."""

    def __init__(self, work_dir: Path) -> None:
        self._work_dir = work_dir
        self.attachments = ImageAttachments()
        self._pending_tokens: list[str] = []

    @property
    def images(self) -> Mapping[int, AttachedImage]:
        """All images by number, in the order in which they were added."""
        return self.attachments.images

    @property
    def pending_tokens(self) -> Sequence[str]:
        """Tokens of the images that are attached to the next prompt."""
        return self._pending_tokens

    def restore(self, images: Iterable[tuple[int, AttachedImage]]) -> None:
        """Add the images of a draft under their numbers."""
        for number, image in images:
            self.attachments.add(image, number=number)

    def attach(self, path: str) -> str:
        """Attach images to the next prompt and return their tokens. Raises KimiTuiError."""
        tokens = [self._add_file(file) for file in parse_image_argument(path, self._work_dir)]
        self._pending_tokens += tokens
        return " ".join(tokens)

    def is_image_path(self, text: str) -> bool:
        """Return whether `text` consists of paths of images, as terminals paste files dragged onto them."""
        return bool(parse_image_paths(text, self._work_dir))

    def add_tokens(self, text: str, session: SessionInfo | None) -> str:
        """Return `text` with the tokens of mentioned images and of attached images.

        Raises KimiTuiError.
        """
        for mention, path in find_mentioned_images(text, self._work_dir).items():
            text = text.replace(mention, self._add_file(path))
        text = " ".join([text, *self._pending_tokens])
        if (
            self.attachments.find_named(text)
            and session is not None
            and "image_in" not in session.capabilities
        ):
            raise KimiTuiError(
                msg("{model} doesn't support images.", model=session.model_label),
                hint="Use a model that supports images.",
            )
        self._pending_tokens = []
        return text

    def _add_file(self, path: Path) -> str:
        return self.attachments.add(load_image_file(path))[1]
