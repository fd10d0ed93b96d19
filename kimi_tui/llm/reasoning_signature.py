"""Signature of the Responses API's reasoning items, as stored in `ThinkPart.encrypted`.

A signature is only valid for the API that created it. A prefix marks signatures of the Responses API.
"""

_PREFIX = "reasoning:"


def reasoning_signature(item_id: str, encrypted_content: str) -> str:
    """Return the signature of a reasoning item."""
    return f"{_PREFIX}{item_id}:{encrypted_content}"


def is_reasoning_signature(signature: str | None) -> bool:
    """Return whether the Responses API created `signature`."""
    return signature is not None and signature.startswith(_PREFIX)


def parse_reasoning_signature(signature: str) -> tuple[str, str]:
    """Return the item's id and its encrypted content."""
    item_id, _, encrypted_content = signature.removeprefix(_PREFIX).partition(":")
    return item_id, encrypted_content
