"""Conversion of a client's prompt to user input."""

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

from kimi_tui.base.content_parts import ContentPart, ImageURLPart, MediaURL, TextPart, UserInput, merge_parts

PromptBlock = (
    TextContentBlock
    | ImageContentBlock
    | AudioContentBlock
    | ResourceContentBlock
    | EmbeddedResourceContentBlock
)


def to_user_input(blocks: Sequence[PromptBlock]) -> UserInput:
    """Return the prompt as user input: a string if it consists of text only.

    A resource is replaced by its name or path. The content of embedded resources follows the text.
    """
    parts: list[ContentPart] = []
    contents: list[ContentPart] = []
    for block in blocks:
        match block:
            case TextContentBlock():
                parts.append(TextPart(block.text))
            case ImageContentBlock():
                parts.append(_to_image_part(block.mime_type, block.data))
            case AudioContentBlock():
                parts.append(TextPart("[Audio attachment omitted: audio isn't supported.]"))
            case ResourceContentBlock():
                parts.append(TextPart(_format_resource_link(block.uri, block.name)))
            case EmbeddedResourceContentBlock():
                resource = block.resource
                parts.append(TextPart(_format_resource_link(resource.uri)))
                contents.append(_to_content_part(resource))
            case _:
                assert_never(block)
    merged = merge_parts((*parts, *contents))
    if len(merged) == 1 and isinstance(merged[0], TextPart):
        return merged[0].text
    return merged


def file_uri_path(uri: str) -> str | None:
    """Return the path of a `file:` URI; None for other URIs."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" and parts.path else None


def _format_resource_link(uri: str, name: str = "") -> str:
    """Return a resource as inline text: the path of a file, or a Markdown link to any other resource."""
    line_range = urlsplit(uri).fragment
    path = file_uri_path(uri)
    if path is not None:
        return f"`{path}`" + (f" ({line_range})" if line_range else "")
    return f"[{name}]({uri})" if name and name != uri else f"<{uri}>"


def _to_image_part(mime_type: str, data: str) -> ImageURLPart:
    return ImageURLPart(MediaURL(f"data:{mime_type};base64,{data}"))


def _to_content_part(resource: TextResourceContents | BlobResourceContents) -> ContentPart:
    ref = file_uri_path(resource.uri) or resource.uri
    if isinstance(resource, TextResourceContents):
        return TextPart(f'\n\n<context ref="{ref}">\n{resource.text}\n</context>')
    mime_type = resource.mime_type or ""
    if mime_type.startswith("image/"):
        return _to_image_part(mime_type, resource.blob)
    size = len(resource.blob) * 3 // 4
    return TextPart(f"\n\n[Attachment {ref} omitted: {size:,} bytes of {mime_type or 'binary data'}.]")
