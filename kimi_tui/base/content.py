"""Content parts: what messages, tool results and the Wire carry.

The JSON shape of each part is that of the Wire (`docs/formats.md`). Parts are plain frozen
dataclasses so that a streamed token costs under a microsecond; `base.encoding` turns them to and from JSON.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from kimi_tui.base.tagged import ByType
from kimi_tui.base.value import value


@value
class TextPart:
    """Text, or a fragment of it while it streams."""

    text: str
    type: Literal["text"] = "text"


@value
class ThinkPart:
    """What the model thought; `encrypted` is the provider's signature, sent back unchanged."""

    think: str
    encrypted: str | None = None
    type: Literal["think"] = "think"


@value
class MediaURL:
    """Where a medium lies: a `data:` URL or an address; `id` tells apart equal ones."""

    url: str
    id: str | None = None


@value
class ImageURLPart:
    """An image."""

    image_url: MediaURL
    type: Literal["image_url"] = "image_url"


@value
class AudioURLPart:
    """A sound."""

    audio_url: MediaURL
    type: Literal["audio_url"] = "audio_url"


@value
class VideoURLPart:
    """A film."""

    video_url: MediaURL
    type: Literal["video_url"] = "video_url"


ContentPart = Annotated[TextPart | ThinkPart | ImageURLPart | AudioURLPart | VideoURLPart, ByType()]

UserInput = str | tuple[ContentPart, ...]
"""What a user sends: plain text, or parts when there is more than text."""


def as_parts(content: str | Iterable[ContentPart]) -> tuple[ContentPart, ...]:
    """`content` as parts; an empty string has none."""
    if isinstance(content, str):
        return (TextPart(content),) if content else ()
    return tuple(content)


def text_of(content: str | Iterable[ContentPart]) -> str:
    """The text parts of `content`, joined; everything else is left out."""
    if isinstance(content, str):
        return content
    if type(content) is tuple and len(content) == 1 and type(content[0]) is TextPart:
        return content[0].text  # as nearly always
    return "".join(part.text for part in content if isinstance(part, TextPart))


def is_blank(content: str | Iterable[ContentPart]) -> bool:
    """Whether `content` is nothing, or white space alone."""
    return all(isinstance(part, TextPart) and not part.text.strip() for part in as_parts(content))


def merged(parts: Iterable[ContentPart]) -> tuple[ContentPart, ...]:
    """`parts` with adjacent text joined, and adjacent thinking joined up to its signature."""
    result: list[ContentPart] = []
    texts: list[str] = []
    for part in parts:
        last = result[-1] if result else None
        if isinstance(part, TextPart) and isinstance(last, TextPart):
            texts.append(part.text)
            continue
        if texts and isinstance(last, TextPart):
            result[-1] = TextPart(last.text + "".join(texts))
            texts.clear()
        if isinstance(part, ThinkPart) and isinstance(last, ThinkPart) and last.encrypted is None:
            result[-1] = ThinkPart(last.think + part.think, part.encrypted)
        else:
            result.append(part)
    if texts and isinstance(result[-1], TextPart):
        result[-1] = TextPart(result[-1].text + "".join(texts))
    return tuple(result)


_MARKS = re.compile(r"<(?=\s*/?\s*system\b)", re.IGNORECASE)
_MARKS_OF_LINES = re.compile(r"^([^\S\n]*)<(?=\s*/?\s*system\b)", re.IGNORECASE | re.MULTILINE)


def system_note(text: str) -> TextPart:
    """A note from the program to the model, marked as such; what `text` quotes can't end it."""
    return TextPart(f"<system>{_MARKS.sub('&lt;', text)}</system>")


def as_output(content: str | Iterable[ContentPart]) -> tuple[ContentPart, ...]:
    """What a tool brings to the model, as parts: no line of it can look like a note from the program.

    Within a line the mark stays: files that hold it are edited by what the model reads.
    """
    return tuple(
        TextPart(_MARKS_OF_LINES.sub(r"\1&lt;", part.text)) if isinstance(part, TextPart) else part
        for part in as_parts(content)
    )


def is_system_note(content: str | Sequence[ContentPart]) -> bool:
    """Whether `content` is a note from the program rather than somebody's words."""
    return text_of(content).startswith("<system>")
