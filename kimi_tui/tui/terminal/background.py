"""Queries the terminal's background color before the app starts."""

import os
import re
import select
import sys
import time
from dataclasses import dataclass
from typing import NamedTuple

_QUERY = b"\x1b]11;?\x1b\\\x1b[c"
"""OSC 11, followed by a query that every terminal answers. A reply to only the second one ends the wait."""
_COLOR = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]+)/([0-9a-fA-F]+)/([0-9a-fA-F]+)")
_DEVICE_ATTRIBUTES = re.compile(rb"\x1b\[\?[0-9;]*c")
_REPLIES = re.compile(rb"\x1b\]11;[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[\?[0-9;]*c")


class TerminalBackground(NamedTuple):
    """Reply of the terminal to the query."""

    luminance: float | None = None
    """Luminance of the background, 0 to 1; None if the terminal doesn't report it."""
    typed_text: str = ""
    """Text that the user typed while the query was pending."""


@dataclass(slots=True)
class KnownBackground:
    """The terminal's background, once it has been queried at the start."""

    luminance: float | None = None
    """As in `TerminalBackground`."""


def query_background(*, timeout_s: float = 0.2) -> TerminalBackground:
    """Query the terminal's background color.

    Nothing is sent while input is pending, because the user's keys must not be lost.
    """
    if os.name != "posix" or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return TerminalBackground()
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(descriptor)
    except termios.error:
        return TerminalBackground()
    try:
        tty.setcbreak(descriptor, termios.TCSANOW)
        if _is_readable(descriptor, 0):
            return TerminalBackground()
        os.write(sys.stdout.fileno(), _QUERY)
        return parse_background(_read_reply(descriptor, timeout_s))
    except (OSError, termios.error):
        return TerminalBackground()
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


def parse_background(reply: bytes) -> TerminalBackground:
    """Parse the bytes that arrived after the query."""
    return TerminalBackground(parse_luminance(reply), _REPLIES.sub(b"", reply).decode("utf-8", "replace"))


def parse_luminance(reply: bytes) -> float | None:
    """Return the luminance (Rec. 709) of the color in a reply to OSC 11; None if there is no color."""
    match = _COLOR.search(reply)
    if match is None:
        return None
    red, green, blue = (int(part, 16) / float(16 ** len(part) - 1) for part in match.groups())
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


def _read_reply(descriptor: int, timeout_s: float) -> bytes:
    reply = b""
    deadline = time.monotonic() + timeout_s
    while not _DEVICE_ATTRIBUTES.search(reply) and (remaining := deadline - time.monotonic()) > 0:
        if _is_readable(descriptor, remaining):
            reply += os.read(descriptor, 256)
    return reply


def _is_readable(descriptor: int, timeout_s: float) -> bool:
    return bool(select.select([descriptor], [], [], timeout_s)[0])
