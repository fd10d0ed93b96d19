"""Content parts of messages, tool results and Wire messages.

The JSON shape of each part is that of the Wire (`docs/formats.md`). Parts are plain frozen dataclasses, so
that a streamed token costs less than a microsecond. `base.json_codec` converts them to and from JSON.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.base.pydantic_markers import TaggedUnion


@frozen
class TextPart:
    """Text, or a fragment of streamed text."""

    text: str
    type: Literal["text"] = "text"


@frozen
class ThinkPart:
    """The model's thinking. `encrypted` is the provider's signature, which is sent back unchanged."""

    think: str
    encrypted: str | None = None
    type: Literal["think"] = "think"
    calls_before: int | None = None
    """Number of the message's tool calls that precede it; None if there are none."""


@frozen
class MediaURL:
    """Location of a media file: a `data:` URL or a web address. `id` distinguishes equal URLs."""

    url: str
    id: str | None = None


@frozen
class ImageURLPart:
    """An image."""

    image_url: MediaURL
    type: Literal["image_url"] = "image_url"


@frozen
class AudioURLPart:
    """An audio file."""

    audio_url: MediaURL
    type: Literal["audio_url"] = "audio_url"


@frozen
class VideoURLPart:
    """A video."""

    video_url: MediaURL
    type: Literal["video_url"] = "video_url"


ContentPart = Annotated[TextPart | ThinkPart | ImageURLPart | AudioURLPart | VideoURLPart, TaggedUnion()]

UserInput = str | tuple[ContentPart, ...]
"""User input: plain text, or parts if it contains anything else."""


def as_parts(content: str | Iterable[ContentPart]) -> tuple[ContentPart, ...]:
    """Return `content` as parts. An empty string has no parts."""
    if isinstance(content, str):
        return (TextPart(content),) if content else ()
    return tuple(content)


def text_of(content: str | Iterable[ContentPart]) -> str:
    """Return the joined text parts of `content`, ignoring all other parts."""
    if isinstance(content, str):
        return content
    if type(content) is tuple and len(content) == 1 and type(content[0]) is TextPart:
        return content[0].text  # the common case
    return "".join(part.text for part in content if isinstance(part, TextPart))


def is_blank(content: str | Iterable[ContentPart]) -> bool:
    """Return whether `content` is empty or only white space."""
    return all(isinstance(part, TextPart) and not part.text.strip() for part in as_parts(content))


def merge_parts(parts: Iterable[ContentPart]) -> tuple[ContentPart, ...]:
    """Return `parts` with adjacent text joined, and adjacent thinking joined up to its signature."""
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
        if (
            isinstance(part, ThinkPart)
            and isinstance(last, ThinkPart)
            and last.encrypted is None
            and last.calls_before == part.calls_before
        ):
            result[-1] = ThinkPart(last.think + part.think, part.encrypted, calls_before=part.calls_before)
        else:
            result.append(part)
    if texts and isinstance(result[-1], TextPart):
        result[-1] = TextPart(result[-1].text + "".join(texts))
    return tuple(result)


_SYSTEM_TAG = re.compile(r"<(?=\s*/?\s*system\b)", re.IGNORECASE)
_SYSTEM_TAG_AT_LINE_START = re.compile(r"^([^\S\n]*)<(?=\s*/?\s*system\b)", re.IGNORECASE | re.MULTILINE)


def system_note(text: str) -> TextPart:
    """Return a note from the program to the model, in `<system>` tags.

    Tags within `text` are escaped, so that quoted text can't end the note.
    """
    return TextPart(f"<system>{_SYSTEM_TAG.sub('&lt;', text)}</system>")


def as_tool_output(content: str | Iterable[ContentPart]) -> tuple[ContentPart, ...]:
    """Return a tool's output as parts in which no line looks like a note from the program.

    Only tags at the start of a line are escaped. The model needs the exact text of a file to edit it.
    """
    return tuple(
        TextPart(_SYSTEM_TAG_AT_LINE_START.sub(r"\1&lt;", part.text)) if isinstance(part, TextPart) else part
        for part in as_parts(content)
    )


def is_system_note(content: str | Sequence[ContentPart]) -> bool:
    """Return whether `content` is a note from the program."""
    return text_of(content).startswith("<system>")
