"""A command's bytes as plain text, piece by piece."""

import codecs
import re

from kimi_tui.base.terminal import plain

_LONGEST_HELD = 65_536
_PLAIN_BYTES = bytes((*range(0x20, 0x7F), 0x09, 0x0A))
_HOLDS = re.compile("[\r\x1b\x90\x98\x9b\x9d-\x9f]")
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?\Z|\x9b[0-?]*[ -/]*\Z")


class PlainStream:
    """Decodes UTF-8 and drops what would drive a terminal, though pieces end anywhere.

    What a carriage return may still overwrite waits for the next piece, as does half an escape sequence.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, data: bytes) -> str:
        """The text that is certain now."""
        if self._is_plain(data):
            return data.decode("ascii")
        text = self._held + self._decoder.decode(data)
        self._held = ""
        if not _HOLDS.search(text):
            return plain(text)
        ready, newline, line = text.rpartition("\n")
        if "\r" in line or _UNFINISHED.search(line):
            self._held = _last_state(line)
            line = ""
        if len(self._held) > _LONGEST_HELD:
            line, self._held = self._held, ""
        return plain(ready + newline + line)

    def _is_plain(self, data: bytes) -> bool:
        """Whether nothing waits and `data` is text as it stands; nearly always so, and quickly seen."""
        waits = bool(self._held or self._decoder.getstate()[0])
        return not waits and data.isascii() and not data.translate(None, _PLAIN_BYTES)

    def end(self) -> str:
        """The rest, when no more comes."""
        text, self._held = self._held + self._decoder.decode(b"", final=True), ""
        return plain(text)


def _last_state(line: str) -> str:
    """`line` without what its carriage returns overwrote already."""
    body = line.rstrip("\r")
    return body.rpartition("\r")[2] + ("\r" if len(body) < len(line) else "")
