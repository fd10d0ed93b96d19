"""Results of an MCP server as text and media."""

from base64 import b64decode
from binascii import Error as BadBase64
from collections.abc import Iterable
from typing import Any

from kimi_tui.base.frozen import frozen

ContentBlock = Any
"""A content block of the protocol; `type` discriminates."""


@frozen
class McpText:
    """Text content."""

    text: str


@frozen
class McpMedia:
    """An image, audio or any other file."""

    data: bytes
    media_type: str
    name: str = ""
    """Name given by the server."""


McpContent = McpText | McpMedia


@frozen
class McpResult:
    """Content items in the server's order."""

    content: tuple[McpContent, ...] = ()
    is_error: bool = False


def parse_call_result(result: Any) -> McpResult:
    """Parse the result of a tool call. Structured content is used only if there is no text."""
    content = tuple(_parse_block(block) for block in result.content)
    structured = result.structured_content
    if structured is not None and not any(isinstance(item, McpText) for item in content):
        content = (*content, McpText(_to_json(structured)))
    return McpResult(content, bool(result.is_error))


def parse_prompt_result(result: Any) -> McpResult:
    """Parse the messages of a prompt."""
    return McpResult(tuple(_parse_block(message.content) for message in result.messages))


def parse_resource_result(result: Any) -> McpResult:
    """Parse the content of a resource."""
    return McpResult(tuple(_parse_resource(contents) for contents in result.contents))


def text_content(content: Iterable[McpContent]) -> str:
    """Return the text in `content`."""
    return "\n".join(item.text for item in content if isinstance(item, McpText))


def _parse_block(block: ContentBlock) -> McpContent:
    match block.type:
        case "text":
            return McpText(block.text)
        case "image" | "audio":
            return _decode_media(block.data, block.mime_type, "")
        case "resource":
            return _parse_resource(block.resource)
        case "resource_link":
            details = [
                text for text in (block.title or block.name, block.mime_type, block.description) if text
            ]
            return McpText(f"[Resource: {block.uri} ({', '.join(details)}). Use its URI to read it.]")
        case other:
            return McpText(f"[Content of the unsupported type “{other}”.]")


def _parse_resource(contents: Any) -> McpContent:
    text = getattr(contents, "text", None)
    if text is not None:
        return McpText(text)
    return _decode_media(contents.blob, contents.mime_type or "application/octet-stream", str(contents.uri))


def _decode_media(data: str, media_type: str, name: str) -> McpContent:
    try:
        return McpMedia(b64decode("".join(data.split()), validate=True), media_type, name)
    except (BadBase64, ValueError):
        return McpText(f"[{name or 'A file'} ({media_type}) is damaged: invalid base64.]")


def _to_json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=1)
