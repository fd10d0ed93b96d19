"""Output of an attempt's process: the JSON lines of print mode."""

import json
from typing import Any

_MAX_LINE = 64 << 20
_MAX_STDERR = 600


class AttemptOutput:
    """Collects an attempt's messages and result from print mode's lines. Implements `OutputReceiver`."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._other = ""
        self.last_message = ""
        """The text of the last response."""
        self.steps = 0
        self.result: dict[str, Any] = {}
        """The result line. Empty until the line arrives."""
        self.is_changed = False
        """Whether a message arrived since the reader last set this to False."""

    @property
    def problem(self) -> str:
        """The end of the output that isn't JSON, such as messages on stderr."""
        return self._other.strip()

    def receive(self, data: bytes) -> None:
        """Implement `OutputReceiver.receive`."""
        self._rest += data
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest if len(rest) <= _MAX_LINE else bytearray()
        for line in lines:
            self._add(line.decode("utf-8", "replace"))

    def _add(self, line: str) -> None:
        try:
            value = json.loads(line)
        except ValueError:
            self._other = f"{self._other}{line}\n"[-_MAX_STDERR:]
            return
        if not isinstance(value, dict):
            return
        if value.get("role") == "assistant":
            self.steps += 1
            if text := _text_of(value.get("content")):
                self.last_message = text
            self.is_changed = True
        elif value.get("type") == "result":
            self.result = value


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text", "") for part in parts if isinstance(part, dict) and part.get("type") == "text")
    return "".join(map(str, texts)).strip()
