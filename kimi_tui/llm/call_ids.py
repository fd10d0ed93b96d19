"""Tool call ids as a server takes them: deterministic, so that what was sent for a step stays what it was."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from kimi_tui.base.message import ToolCall

_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")
_DIGEST_LENGTH = 12


@dataclass(frozen=True, slots=True)
class IdRule:
    """What a server takes for an id."""

    plain_only: bool = False
    """Letters, digits, `_` and `-` alone (Anthropic)."""
    longest: int | None = None
    """Characters (OpenAI: 40)."""
    unique: bool = False
    """Never the same twice in a request (Anthropic)."""

    def fitting(self, call_id: str) -> str:
        """`call_id`, or what stands for it."""
        fitting = _FOREIGN.sub("_", call_id) if self.plain_only else call_id
        fitting = fitting or "call"
        if self.longest is not None and len(fitting) > self.longest:
            digest = hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:_DIGEST_LENGTH]
            fitting = f"{fitting[: self.longest - _DIGEST_LENGTH - 1]}_{digest}"
        return fitting


@dataclass(slots=True)
class SentIds:
    """The ids of one request, as they are met from its first message to its last."""

    rule: IdRule
    _taken: set[str] = field(default_factory=set)
    _of_call: dict[str, str] = field(default_factory=dict)

    def name(self, calls: Iterable[ToolCall]) -> list[str]:
        """The ids to send for the calls of one message."""
        names = []
        for call in calls:
            fitting = self.rule.fitting(call.id)
            name, count = fitting, 1
            while self.rule.unique and name in self._taken:
                count += 1
                name = f"{fitting}_{count}"
            self._taken.add(name)
            self._of_call[call.id] = name
            names.append(name)
        return names

    def of_result(self, call_id: str) -> str:
        """The id to send for the result of the newest call `call_id`."""
        return self._of_call.get(call_id) or self.rule.fitting(call_id)
