"""What a server answered, as our content parts: text, pictures, and what else there is as files."""

from base64 import b64decode
from binascii import Error as BadBase64
from collections.abc import Iterable
from typing import Any

from kimi_tui.base.value import value

ContentBlock = Any
"""A content block of the protocol; `type` tells which."""


@value
class Words:
    """Text."""

    text: str


@value
class Medium:
    """A picture, a sound or any other file."""

    data: bytes
    media_type: str
    name: str = ""
    """What the server calls it."""


Piece = Words | Medium


@value
class McpAnswer:
    """Pieces in the server's order."""

    pieces: tuple[Piece, ...] = ()
    is_error: bool = False


def answer_of_call(result: Any) -> McpAnswer:
    """The result of a tool call. Structured content counts where nothing else says it."""
    pieces = tuple(_piece(block) for block in result.content)
    structured = result.structured_content
    if structured is not None and not any(isinstance(piece, Words) for piece in pieces):
        pieces = (*pieces, Words(_as_json(structured)))
    return McpAnswer(pieces, bool(result.is_error))


def answer_of_prompt(result: Any) -> McpAnswer:
    """The messages of a prompt."""
    return McpAnswer(tuple(_piece(message.content) for message in result.messages))


def answer_of_resource(result: Any) -> McpAnswer:
    """What a resource holds."""
    return McpAnswer(tuple(_resource_piece(contents) for contents in result.contents))


def words_of(pieces: Iterable[Piece]) -> str:
    """The text among `pieces`."""
    return "\n".join(piece.text for piece in pieces if isinstance(piece, Words))


def _piece(block: ContentBlock) -> Piece:
    match block.type:
        case "text":
            return Words(block.text)
        case "image" | "audio":
            return _medium(block.data, block.mime_type, "")
        case "resource":
            return _resource_piece(block.resource)
        case "resource_link":
            told = [word for word in (block.title or block.name, block.mime_type, block.description) if word]
            return Words(f"[A resource: {block.uri} ({', '.join(told)}). It can be read by its URI.]")
        case other:
            return Words(f"[Content of the kind “{other}”, which can't be shown.]")


def _resource_piece(contents: Any) -> Piece:
    text = getattr(contents, "text", None)
    if text is not None:
        return Words(text)
    return _medium(contents.blob, contents.mime_type or "application/octet-stream", str(contents.uri))


def _medium(data: str, media_type: str, name: str) -> Piece:
    try:
        return Medium(b64decode("".join(data.split()), validate=True), media_type, name)
    except (BadBase64, ValueError):
        return Words(f"[{name or 'A medium'} ({media_type}) came damaged: it is no base64.]")


def _as_json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=1)
