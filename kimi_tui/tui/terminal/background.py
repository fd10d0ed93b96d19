"""Queries the terminal's background color while the app is imported."""

import os
import re
import select
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple

_QUERY = b"\x1b]11;?\x1b\\\x1b[c"
"""OSC 11, then a query that every terminal answers. A reply to the second query ends the wait."""
_COLOR = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]+)/([0-9a-fA-F]+)/([0-9a-fA-F]+)")
_DEVICE_ATTRIBUTES = re.compile(rb"\x1b\[\?[0-9;]*c")
_REPLIES = re.compile(rb"\x1b\]11;[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[\?[0-9;]*c")


class TerminalBackground(NamedTuple):
    """Reply of the terminal to the query."""

    luminance: float | None = None
    """Luminance of the background, 0 to 1. None if the terminal doesn't report its background."""
    typed_text: str = ""
    """Text that the user typed while the query was pending."""


@dataclass(slots=True)
class KnownBackground:
    """The terminal's background. Set after the query at startup."""

    luminance: float | None = None
    """Same as `TerminalBackground.luminance`."""


class BackgroundQuery:
    """A query of the terminal's background color. The terminal answers while the program does other work.

    Use it as a context manager. Inside the block, the terminal doesn't echo typed text.
    """

    def __init__(self, *, timeout_s: float = 0.2) -> None:
        """`timeout_s`: maximum seconds from the query to the reply."""
        self._timeout_s = timeout_s
        self._deadline: float | None = None
        """Time at which the wait for the reply ends. None without a terminal."""
        self._attributes: list[Any] | None = None
        """The terminal's attributes before the query."""

    def __enter__(self) -> "BackgroundQuery":
        """Send the query, unless input is pending: the user's keys must not be lost."""
        if os.name != "posix" or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return self
        import termios
        import tty

        descriptor = sys.stdin.fileno()
        with suppress(OSError, termios.error):
            self._attributes = termios.tcgetattr(descriptor)
            tty.setcbreak(descriptor, termios.TCSANOW)
            self._deadline = time.monotonic()
            if not _is_readable(descriptor, 0):
                os.write(sys.stdout.fileno(), _QUERY)
                self._deadline += self._timeout_s
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore the terminal's attributes."""
        if self._attributes is not None:
            import termios

            with suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, self._attributes)

    def read_reply(self) -> TerminalBackground:
        """Wait for the reply, if it hasn't arrived yet. Return the reply and the text that the user typed."""
        if self._deadline is None:
            return TerminalBackground()
        try:
            return parse_background(_read_reply(sys.stdin.fileno(), self._deadline))
        except OSError:
            return TerminalBackground()


def parse_background(reply: bytes) -> TerminalBackground:
    """Parse the bytes that arrived after the query."""
    return TerminalBackground(parse_luminance(reply), _REPLIES.sub(b"", reply).decode("utf-8", "replace"))


def parse_luminance(reply: bytes) -> float | None:
    """Return the luminance (Rec. 709) of the color in a reply to OSC 11. None without a color."""
    match = _COLOR.search(reply)
    if match is None:
        return None
    red, green, blue = (int(part, 16) / float(16 ** len(part) - 1) for part in match.groups())
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


def _read_reply(descriptor: int, deadline: float) -> bytes:
    """Wait for the end of the reply until `deadline`. Return all bytes that have arrived."""
    reply = b""
    while not _DEVICE_ATTRIBUTES.search(reply):
        if not _is_readable(descriptor, max(deadline - time.monotonic(), 0)):
            break
        data = os.read(descriptor, 256)
        if not data:  # the terminal is gone
            break
        reply += data
    return reply


def _is_readable(descriptor: int, timeout_s: float) -> bool:
    return bool(select.select([descriptor], [], [], timeout_s)[0])
