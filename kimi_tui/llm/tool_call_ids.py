"""Conversion of tool call ids to ids that a server accepts.

The conversion is deterministic: the next request contains the same ids.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from kimi_tui.base.message import ToolCall

_INVALID_CHARS = re.compile(r"[^a-zA-Z0-9_-]")
_DIGEST_LENGTH = 12


@dataclass(frozen=True, slots=True)
class ToolCallIdRule:
    """A server's requirements for tool call ids."""

    safe_chars_only: bool = False
    """Only letters, digits, `_` and `-` (Anthropic)."""
    max_length: int | None = None
    """In characters (OpenAI: 40)."""
    unique: bool = False
    """Whether ids must be unique within a request (Anthropic)."""

    def to_valid_id(self, call_id: str) -> str:
        """Return `call_id` if it's valid, or a replacement."""
        valid = _INVALID_CHARS.sub("_", call_id) if self.safe_chars_only else call_id
        valid = valid or "call"
        if self.max_length is not None and len(valid) > self.max_length:
            digest = hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:_DIGEST_LENGTH]
            valid = f"{valid[: self.max_length - _DIGEST_LENGTH - 1]}_{digest}"
        return valid


@dataclass(slots=True)
class ToolCallIdMap:
    """Ids of one request. Call the methods in the order of the request's messages."""

    rule: ToolCallIdRule
    _used: set[str] = field(default_factory=set)
    _ids_by_call: dict[str, str] = field(default_factory=dict)

    def assign_ids(self, calls: Iterable[ToolCall]) -> list[str]:
        """Return the ids to send for the calls of one message."""
        ids = []
        for call in calls:
            valid_id = self.rule.to_valid_id(call.id)
            unique_id, count = valid_id, 1
            while self.rule.unique and unique_id in self._used:
                count += 1
                unique_id = f"{valid_id}_{count}"
            self._used.add(unique_id)
            self._ids_by_call[call.id] = unique_id
            ids.append(unique_id)
        return ids

    def result_id(self, call_id: str) -> str:
        """Return the id to send for the result of the latest call with `call_id`."""
        return self._ids_by_call.get(call_id) or self.rule.to_valid_id(call_id)
