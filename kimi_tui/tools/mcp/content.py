"""A server's answer, fit for a model: plain text of bounded length, pictures it can see, the rest on disk."""

import asyncio
import re
from base64 import b64encode
from collections.abc import Iterable
from mimetypes import guess_extension
from typing import assert_never

from kimi_tui.base.content import ContentPart, ImageURLPart, MediaURL, TextPart, merged
from kimi_tui.base.picture import BadPicture, picture_of
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.tools.file.png import without_broken_extras
from kimi_tui.tools.file.size import readable_size
from kimi_tui.tools.mcp.answer import Medium, Piece, Words
from kimi_tui.tools.shell.output import OutputFolder, OutputKeeper

MODEL_LIMIT = 100_000
"""Characters of text that a model receives of one answer."""
_MOST_PICTURES = 20
_ENDINGS = {"audio/mp3": ".mp3", "audio/ogg": ".ogg", "audio/wav": ".wav"}
"""Those that older Pythons don't know."""
_MARKS = re.compile(r"<(?=\s*/?\s*system\b)", re.IGNORECASE)
"""Only the program itself speaks in such marks."""


async def content_of(pieces: Iterable[Piece], folder: OutputFolder) -> tuple[ContentPart, ...]:
    """`pieces` as parts. Text too long is cut, with the whole in `folder`; what is no picture goes there."""
    return await asyncio.to_thread(_content, tuple(pieces), folder)


def _content(pieces: tuple[Piece, ...], folder: OutputFolder) -> tuple[ContentPart, ...]:
    parts: list[ContentPart] = []
    limit = MODEL_LIMIT
    pictures = 0
    for piece in pieces:
        match piece:
            case Words(text):
                shown = _cut(_harmless(text), folder, limit)
                limit = max(limit - len(shown), 2_000)
                parts.append(TextPart(shown if shown.endswith("\n") else shown + "\n"))
            case Medium():
                picture = _picture(piece) if pictures < _MOST_PICTURES else None
                pictures += picture is not None
                parts.append(picture or TextPart(_kept(piece, folder) + "\n"))
            case _:
                assert_never(piece)
    return _without_last_newline(merged(parts))


def _cut(text: str, folder: OutputFolder, limit: int) -> str:
    if len(text) <= limit:
        return text
    keeper = OutputKeeper(folder, limit=limit)
    try:
        keeper.add(text)
        return keeper.text()
    finally:
        keeper.close()


def _picture(medium: Medium) -> ImageURLPart | None:
    if not medium.media_type.startswith("image/"):
        return None
    try:
        picture = picture_of(without_broken_extras(medium.data))
    except BadPicture:
        return None
    if picture is None:
        return None
    data = b64encode(picture.data).decode("ascii")
    return ImageURLPart(MediaURL(f"data:{picture.media_type};base64,{data}"))


def _kept(medium: Medium, folder: OutputFolder) -> str:
    """A line on where `medium` is now."""
    media_type = plain_line(medium.media_type)[:100]
    what = f"{plain_line(medium.name)[:300] or 'A file'} ({media_type}, {readable_size(len(medium.data))})"
    try:
        path, file = folder.new_file(_ending(media_type.partition(";")[0]))
        with file:
            file.write(medium.data)
    except OSError as error:
        return f"[{what} could not be kept: {error.strerror or error}.]"
    return f"[{what} is kept in {path}.]"


def _ending(media_type: str) -> str:
    return _ENDINGS.get(media_type) or guess_extension(media_type) or ".bin"


def _harmless(text: str) -> str:
    return _MARKS.sub("&lt;", plain(text))


def _without_last_newline(parts: tuple[ContentPart, ...]) -> tuple[ContentPart, ...]:
    if parts and isinstance(parts[-1], TextPart):
        return (*parts[:-1], TextPart(parts[-1].text.removesuffix("\n")))
    return parts
