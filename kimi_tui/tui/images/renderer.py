"""Image rendering for this process's terminal: kitty graphics, half blocks, or none."""

import base64
import binascii
import os
import random
from collections.abc import Mapping
from typing import Literal, assert_never

from kimi_tui.config.startup_settings import ImageMode
from kimi_tui.frontend.terminal_notifier import SequenceTarget, wrap_for_tmux
from kimi_tui.tui.images.kitty import delete_sequence, placeholder_lines, resize_image, transmit_sequences
from kimi_tui.tui.images.thumbnail import MAX_ROWS, render_thumbnail
from kimi_tui.tui.markdown.styled_line import StyledLine

ImageProtocol = Literal["kitty", "blocks", "off"]

_KITTY_TERMS = ("xterm-kitty", "xterm-ghostty")
"""`TERM` of terminals that support Unicode placeholders. Other terminals support only the basic protocol."""
_MAX_BASE64_CHARS = 8_000_000
"""Maximum length of an image in base64. Larger images aren't shown."""


def detect_protocol(setting: ImageMode, environment: Mapping[str, str] = os.environ) -> ImageProtocol:
    """Return the image protocol for `setting`; `auto` is detected from the environment.

    tmux doesn't reveal its client terminals, so `auto` means half blocks there.
    """
    if setting != "auto":
        return setting
    has_truecolor = environment.get("COLORTERM") in ("truecolor", "24bit") and not environment.get("NO_COLOR")
    is_kitty = environment.get("TERM") in _KITTY_TERMS and "TMUX" not in environment
    return "kitty" if is_kitty and has_truecolor else "blocks"


class ImageRenderer:
    """Renders images for one terminal."""

    def __init__(
        self,
        protocol: ImageProtocol = "blocks",
        *,
        terminal: SequenceTarget | None = None,
        in_tmux: bool = False,
    ) -> None:
        """`terminal` is needed for `kitty`."""
        self._protocol = protocol
        self._terminal = terminal
        self._in_tmux = in_tmux
        self._placements: dict[tuple[str, int, int], tuple[int, int, int]] = {}
        """(Image id, columns, rows) by (URL, width, maximum of rows)."""

    def render(self, url: str, width: int, *, max_rows: int = MAX_ROWS) -> list[StyledLine]:
        """Return a `data:` URL's image in at most `width` by `max_rows` cells. Empty if it can't be shown."""
        match self._protocol:
            case "off":
                return []
            case "kitty":
                return self._render_with_kitty(url, width, max_rows)
            case "blocks":
                return render_thumbnail(url, width, max_rows=max_rows)
            case _:
                assert_never(self._protocol)

    def delete_all(self) -> None:
        """Delete all images from the terminal."""
        self._write(
            "".join(
                self._wrap_sequence(delete_sequence(image_id)) for image_id, _, _ in self._placements.values()
            )
        )
        self._placements.clear()

    def _render_with_kitty(self, url: str, width: int, max_rows: int) -> list[StyledLine]:
        key = (url, width, max_rows)
        if key not in self._placements:
            header, _, payload = url.partition(",")
            if not header.startswith("data:image/") or len(payload) > _MAX_BASE64_CHARS:
                return []
            try:
                resized = resize_image(base64.b64decode(payload, validate=True), width, max_rows)
            except (binascii.Error, ValueError):
                return []
            if resized is None:
                return []
            png, columns, rows = resized
            # Random, to avoid the ids of other programs on the same terminal.
            image_id = random.randrange(1 << 16, 1 << 24)
            self._write("".join(map(self._wrap_sequence, transmit_sequences(image_id, png, columns, rows))))
            self._placements[key] = (image_id, columns, rows)
        return placeholder_lines(*self._placements[key])

    def _wrap_sequence(self, sequence: str) -> str:
        return wrap_for_tmux(sequence) if self._in_tmux else sequence

    def _write(self, text: str) -> None:
        if text and self._terminal is not None:
            self._terminal.send(text)


class _CurrentTerminal:
    """The renderer for this process's terminal."""

    renderer = ImageRenderer()


def set_image_renderer(renderer: ImageRenderer) -> None:
    """Replace the renderer for this process's terminal, after deleting the images of the old one."""
    _CurrentTerminal.renderer.delete_all()
    _CurrentTerminal.renderer = renderer


def render_image(url: str, width: int, *, max_rows: int = MAX_ROWS) -> list[StyledLine]:
    """Return a `data:` URL's image in at most `width` by `max_rows` cells. Empty if it can't be shown."""
    return _CurrentTerminal.renderer.render(url, width, max_rows=max_rows)
