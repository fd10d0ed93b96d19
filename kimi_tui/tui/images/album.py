"""The pictures that prompts of this run name by tokens such as `[image #1 640x480]`.

Numbers never repeat within a run: a token means the same in a queued prompt, in a draft and in the history.
"""

import base64
import re
from collections.abc import Mapping

from kimi_tui.base.content import ContentPart, ImageURLPart, MediaURL, TextPart, UserInput
from kimi_tui.base.value import value

TOKEN = re.compile(r"\[image #(\d+) \d+x\d+\]")


@value(kw_only=True)
class Photo:
    """A picture fit to be sent."""

    data: bytes
    media_type: str
    size: tuple[int, int]
    """Pixels: width, height."""

    @property
    def url(self) -> str:
        """The picture as a `data:` URL."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode('ascii')}"


class Album:
    """Pictures by number."""

    def __init__(self) -> None:
        self._photos: dict[int, Photo] = {}

    @property
    def photos(self) -> Mapping[int, Photo]:
        """All pictures, in the order in which they came."""
        return self._photos

    def add(self, photo: Photo, *, number: int | None = None) -> tuple[int, str]:
        """Keep `photo`; its number, and the token that stands for it from now on."""
        number = max(self._photos, default=0) + 1 if number is None else number
        self._photos[number] = photo
        width, height = photo.size
        return number, f"[image #{number} {width}x{height}]"

    def named_in(self, text: str) -> Mapping[int, Photo]:
        """The pictures that `text` names, in order."""
        numbers = dict.fromkeys(int(token[1]) for token in TOKEN.finditer(text))
        return {number: self._photos[number] for number in numbers if number in self._photos}

    def unfold(self, text: str) -> UserInput:
        """`text` as it is sent: itself, and behind it the pictures that it names."""
        photos = self.named_in(text)
        if not photos:
            return text
        parts: list[ContentPart] = [TextPart(text)]
        parts += [ImageURLPart(MediaURL(photo.url, str(number))) for number, photo in photos.items()]
        return tuple(parts)
