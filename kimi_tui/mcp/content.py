"""Conversion of a server's content for a model: limited text, images, and files for all other data."""

import asyncio
import re
from base64 import b64encode
from collections.abc import Iterable
from mimetypes import guess_extension
from typing import assert_never

from kimi_tui.base.content_parts import ContentPart, ImageURLPart, MediaURL, TextPart, merge_parts
from kimi_tui.base.image import ImageError, prepare_image
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.mcp.result import McpContent, McpMedia, McpText
from kimi_tui.tools.file.png_repair import strip_broken_chunks
from kimi_tui.tools.result_messages import format_size
from kimi_tui.tools.shell.captured_output import CapturedOutput, OutputFolder

MODEL_LIMIT = 100_000
"""Maximum characters of text that a model receives per result."""
_MAX_IMAGES = 20
_FILE_EXTENSIONS = {"audio/mp3": ".mp3", "audio/ogg": ".ogg", "audio/wav": ".wav"}
"""Media types that older Python versions don't know."""
_SYSTEM_TAG = re.compile(r"<(?=\s*/?\s*system\b)", re.IGNORECASE)
"""Tags that only kimi-tui may use."""


async def to_model_content(
    content: Iterable[McpContent], output_folder: OutputFolder
) -> tuple[ContentPart, ...]:
    """Convert `content` to content parts.

    If the text is longer than MODEL_LIMIT, it is truncated, and the full text is saved in `output_folder`.
    Data other than images is also saved there.
    """
    return await asyncio.to_thread(_convert, tuple(content), output_folder)


def _convert(content: tuple[McpContent, ...], output_folder: OutputFolder) -> tuple[ContentPart, ...]:
    parts: list[ContentPart] = []
    limit = MODEL_LIMIT
    n_images = 0
    for item in content:
        match item:
            case McpText(text):
                truncated = _truncate(_neutralize(text), output_folder, limit)
                limit = max(limit - len(truncated), 2_000)
                parts.append(TextPart(truncated if truncated.endswith("\n") else truncated + "\n"))
            case McpMedia():
                image = _to_image_part(item) if n_images < _MAX_IMAGES else None
                n_images += image is not None
                parts.append(image or TextPart(_save_to_file(item, output_folder) + "\n"))
            case _:
                assert_never(item)
    return _strip_last_newline(merge_parts(parts))


def _truncate(text: str, output_folder: OutputFolder, limit: int) -> str:
    if len(text) <= limit:
        return text
    output = CapturedOutput(output_folder, limit=limit)
    try:
        output.add(text)
        return output.text()
    finally:
        output.close()


def _to_image_part(media: McpMedia) -> ImageURLPart | None:
    if not media.media_type.startswith("image/"):
        return None
    try:
        image = prepare_image(strip_broken_chunks(media.data))
    except ImageError:
        return None
    if image is None:
        return None
    data = b64encode(image.data).decode("ascii")
    return ImageURLPart(MediaURL(f"data:{image.media_type};base64,{data}"))


def _save_to_file(media: McpMedia, output_folder: OutputFolder) -> str:
    """Save `media`; return a line with its path."""
    media_type = sanitize_line(media.media_type)[:100]
    label = f"{sanitize_line(media.name)[:300] or 'A file'} ({media_type}, {format_size(len(media.data))})"
    try:
        path, file = output_folder.new_file(_file_extension(media_type.partition(";")[0]))
        with file:
            file.write(media.data)
    except OSError as error:
        return f"[{label} could not be saved: {error.strerror or error}.]"
    return f"[{label} was saved to {path}.]"


def _file_extension(media_type: str) -> str:
    return _FILE_EXTENSIONS.get(media_type) or guess_extension(media_type) or ".bin"


def _neutralize(text: str) -> str:
    return _SYSTEM_TAG.sub("&lt;", sanitize(text))


def _strip_last_newline(parts: tuple[ContentPart, ...]) -> tuple[ContentPart, ...]:
    if parts and isinstance(parts[-1], TextPart):
        return (*parts[:-1], TextPart(parts[-1].text.removesuffix("\n")))
    return parts
