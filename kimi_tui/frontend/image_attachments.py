"""Images attached to the prompts of this run. Prompts refer to them by tokens such as `[image #1 640x480]`.

Numbers are unique within a run: a token refers to the same image in a queued prompt, a draft and the history.
"""

import base64
import re
from collections.abc import Mapping

from kimi_tui.base.content_parts import ContentPart, ImageURLPart, MediaURL, TextPart, UserInput
from kimi_tui.base.frozen import frozen

IMAGE_TOKEN = re.compile(r"\[image #(\d+) \d+x\d+\]")


@frozen(kw_only=True)
class AttachedImage:
    """An image in a form that can be sent."""

    data: bytes
    media_type: str
    size: tuple[int, int]
    """Width and height in pixels."""

    @property
    def url(self) -> str:
        """The image as a `data:` URL."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode('ascii')}"


class ImageAttachments:
    """Images by number."""

    def __init__(self) -> None:
        self._images: dict[int, AttachedImage] = {}

    @property
    def images(self) -> Mapping[int, AttachedImage]:
        """All images, in the order in which they were added."""
        return self._images

    def add(self, image: AttachedImage, *, number: int | None = None) -> tuple[int, str]:
        """Add `image`. Return its number and token."""
        number = max(self._images, default=0) + 1 if number is None else number
        self._images[number] = image
        width, height = image.size
        return number, f"[image #{number} {width}x{height}]"

    def find_named(self, text: str) -> Mapping[int, AttachedImage]:
        """Return the images whose tokens `text` contains, in order."""
        numbers = dict.fromkeys(int(token[1]) for token in IMAGE_TOKEN.finditer(text))
        return {number: self._images[number] for number in numbers if number in self._images}

    def expand(self, text: str) -> UserInput:
        """Return `text` followed by the images whose tokens it contains."""
        images = self.find_named(text)
        if not images:
            return text
        parts: list[ContentPart] = [TextPart(text)]
        parts += [ImageURLPart(MediaURL(image.url, str(number))) for number, image in images.items()]
        return tuple(parts)
