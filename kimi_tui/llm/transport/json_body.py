"""JSON encoding of request bodies."""

import json
from typing import Any


def encode_body(body: Any) -> bytes:
    """Encode `body` as UTF-8 JSON. Lone surrogates, which file names may contain, become question marks."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def encode_body_with(fields: dict[str, Any], **encoded_fields: bytes) -> bytes:
    """Encode `fields`, followed by `encoded_fields`. `fields` must not be empty.

    The values of `encoded_fields` are already JSON. These fields come last, so that a request that extends
    the previous request shares its prefix.
    """
    encoded = (
        chunk for name, json_text in encoded_fields.items() for chunk in (f',"{name}":'.encode(), json_text)
    )
    return b"".join((encode_body(fields)[:-1], *encoded, b"}"))
