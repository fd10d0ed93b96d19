"""Asks the terminal for its background colour, before the app takes the terminal over."""

import os
import re
import select
import sys
import time
from typing import NamedTuple

_QUERY = b"\x1b]11;?\x1b\\\x1b[c"
"""OSC 11, then a question that every terminal answers: an answer to the second alone ends the wait."""
_COLOUR = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]+)/([0-9a-fA-F]+)/([0-9a-fA-F]+)")
_DEVICE = re.compile(rb"\x1b\[\?[0-9;]*c")
_ANSWERS = re.compile(rb"\x1b\]11;[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[\?[0-9;]*c")


class Background(NamedTuple):
    """What a terminal was heard to say when it was asked."""

    luminance: float | None = None
    """How bright its background is, 0 to 1; None when it does not say."""
    typed: str = ""
    """What somebody typed meanwhile."""


def asked_background(*, timeout_s: float = 0.2) -> Background:
    """Ask the terminal for its background.

    Keys that were typed already are more important: with input waiting nothing is asked.
    """
    if os.name != "posix" or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Background()
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(descriptor)
    except termios.error:
        return Background()
    try:
        tty.setcbreak(descriptor, termios.TCSANOW)
        if _readable(descriptor, 0):
            return Background()
        os.write(sys.stdout.fileno(), _QUERY)
        return background_in(_reply(descriptor, timeout_s))
    except (OSError, termios.error):
        return Background()
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


def background_in(reply: bytes) -> Background:
    """What is in the bytes that came after the question."""
    return Background(luminance_in(reply), _ANSWERS.sub(b"", reply).decode("utf-8", "replace"))


def luminance_in(reply: bytes) -> float | None:
    """The luminance of the colour in the answer to OSC 11 (Rec. 709); None when there is none."""
    found = _COLOUR.search(reply)
    if found is None:
        return None
    red, green, blue = (int(part, 16) / float(16 ** len(part) - 1) for part in found.groups())
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


def _reply(descriptor: int, timeout_s: float) -> bytes:
    reply = b""
    end = time.monotonic() + timeout_s
    while not _DEVICE.search(reply) and (left := end - time.monotonic()) > 0:
        if _readable(descriptor, left):
            reply += os.read(descriptor, 256)
    return reply


def _readable(descriptor: int, timeout_s: float) -> bool:
    return bool(select.select([descriptor], [], [], timeout_s)[0])
