"""What a client prompts with, as what the user says."""

from collections.abc import Sequence
from typing import assert_never
from urllib.parse import unquote, urlsplit

from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from kimi_tui.base.content import ContentPart, ImageURLPart, MediaURL, TextPart, UserInput, merged

PromptBlock = (
    TextContentBlock
    | ImageContentBlock
    | AudioContentBlock
    | ResourceContentBlock
    | EmbeddedResourceContentBlock
)


def user_input_of(blocks: Sequence[PromptBlock]) -> UserInput:
    """The user's words; a string when there is nothing but one text.

    A resource is named where it stands; what an embedded one holds comes after the words.
    """
    parts: list[ContentPart] = []
    contents: list[ContentPart] = []
    for block in blocks:
        match block:
            case TextContentBlock():
                parts.append(TextPart(block.text))
            case ImageContentBlock():
                parts.append(_image(block.mime_type, block.data))
            case AudioContentBlock():
                parts.append(TextPart("[A sound was attached here, which can't be heard.]"))
            case ResourceContentBlock():
                parts.append(TextPart(_named(block.uri, block.name)))
            case EmbeddedResourceContentBlock():
                resource = block.resource
                parts.append(TextPart(_named(resource.uri)))
                contents.append(_content_of(resource))
            case _:
                assert_never(block)
    said = merged((*parts, *contents))
    if len(said) == 1 and isinstance(said[0], TextPart):
        return said[0].text
    return said


def path_of(uri: str) -> str | None:
    """The path that a `file:` URI names; None for another one."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" and parts.path else None


def _named(uri: str, name: str = "") -> str:
    """A resource in the middle of a sentence: a file by its path, anything else by name and address."""
    lines = urlsplit(uri).fragment
    path = path_of(uri)
    if path is not None:
        return f"`{path}`" + (f" ({lines})" if lines else "")
    return f"[{name}]({uri})" if name and name != uri else f"<{uri}>"


def _image(mime_type: str, data: str) -> ImageURLPart:
    return ImageURLPart(MediaURL(f"data:{mime_type};base64,{data}"))


def _content_of(resource: TextResourceContents | BlobResourceContents) -> ContentPart:
    place = path_of(resource.uri) or resource.uri
    if isinstance(resource, TextResourceContents):
        return TextPart(f'\n\n<context ref="{place}">\n{resource.text}\n</context>')
    mime_type = resource.mime_type or ""
    if mime_type.startswith("image/"):
        return _image(mime_type, resource.blob)
    size = len(resource.blob) * 3 // 4
    return TextPart(
        f"\n\n[{place} was attached with {size:,} bytes of {mime_type or 'data'}, left out here.]"
    )
