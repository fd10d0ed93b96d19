"""How pictures are shown on this process's terminal: as what it can draw, in half blocks, or not at all."""

import base64
import binascii
import os
import random
from collections.abc import Callable, Mapping
from typing import Literal, assert_never

from kimi_tui.config.appearance import Images
from kimi_tui.tui.attention import through_tmux
from kimi_tui.tui.images.kitty import forgetting, picture_rows, sending, sized
from kimi_tui.tui.images.thumbnail import thumbnail
from kimi_tui.tui.markdown.line import Line

Means = Literal["kitty", "blocks", "off"]

_SPEAK_KITTY = ("xterm-kitty", "xterm-ghostty")
"""What terminals that know placeholders call themselves. Others know the protocol without them."""
_LONGEST = 8_000_000
"""Characters of base64."""


def means_for(wish: Images, environment: Mapping[str, str] = os.environ) -> Means:
    """What this terminal can show pictures with, by what it says of itself in the environment.

    Within tmux nobody can tell which terminals look on, so `auto` is what all of them can.
    """
    if wish != "auto":
        return wish
    has_colours = environment.get("COLORTERM") in ("truecolor", "24bit") and not environment.get("NO_COLOR")
    is_kitty = environment.get("TERM") in _SPEAK_KITTY and "TMUX" not in environment
    return "kitty" if is_kitty and has_colours else "blocks"


class Pictures:
    """Those of one terminal."""

    def __init__(
        self,
        means: Means = "blocks",
        *,
        send: Callable[[str], object] = lambda _: None,
        in_tmux: bool = False,
    ) -> None:
        self._means = means
        self._send = send
        self._in_tmux = in_tmux
        self._numbers: dict[tuple[str, int], tuple[int, int, int]] = {}
        """By address and width: the number that the terminal knows a picture by, its columns and rows."""

    def rows(self, url: str, width: int) -> list[Line]:
        """The picture of a `data:` URL in at most `width` cells; no rows when it can't be shown."""
        match self._means:
            case "off":
                return []
            case "kitty":
                return self._by_kitty(url, width)
            case "blocks":
                return thumbnail(url, width)
            case _:
                assert_never(self._means)

    def forget(self) -> None:
        """Have the terminal forget them all."""
        self._write("".join(self._passed(forgetting(number)) for number, _, _ in self._numbers.values()))
        self._numbers.clear()

    def _by_kitty(self, url: str, width: int) -> list[Line]:
        key = (url, width)
        if key not in self._numbers:
            header, _, text = url.partition(",")
            if not header.startswith("data:image/") or len(text) > _LONGEST:
                return []
            try:
                found = sized(base64.b64decode(text, validate=True), width)
            except (binascii.Error, ValueError):
                return []
            if found is None:
                return []
            png, columns, rows = found
            # By chance, since other programs on this terminal number theirs, too.
            number = random.randrange(1 << 16, 1 << 24)
            self._write("".join(map(self._passed, sending(number, png, columns, rows))))
            self._numbers[key] = (number, columns, rows)
        return picture_rows(*self._numbers[key])

    def _passed(self, sequence: str) -> str:
        return through_tmux(sequence) if self._in_tmux else sequence

    def _write(self, text: str) -> None:
        if text:
            self._send(text)


class _Terminal:
    """The terminal of this process."""

    pictures = Pictures()


def show_pictures_by(pictures: Pictures) -> None:
    """Show pictures so from now on: a process draws on one terminal."""
    _Terminal.pictures.forget()
    _Terminal.pictures = pictures


def rows_of(url: str, width: int) -> list[Line]:
    """The picture of a `data:` URL in at most `width` cells; no rows when it can't be shown."""
    return _Terminal.pictures.rows(url, width)
