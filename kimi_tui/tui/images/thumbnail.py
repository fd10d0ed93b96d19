"""Thumbnails in half-block characters: two pixels per cell."""

import base64
import binascii
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from kimi_tui.tui.markdown.styled_line import StyledLine, TextStyle

if TYPE_CHECKING:
    from PIL import Image

MAX_COLUMNS = 40
MAX_ROWS = 10
"""Default maximum height of a thumbnail, in rows."""
_MAX_COLORS = 48
_MAX_BASE64_CHARS = 8_000_000
"""Maximum length of an image in base64. Larger images aren't shown."""
_UPPER_HALF = "▀"


def render_thumbnail(url: str, width: int, *, max_rows: int = MAX_ROWS) -> list[StyledLine]:
    """Return a `data:` URL's image in at most `width` by `max_rows` cells. Empty if it can't be shown."""
    header, _, data = url.partition(",")
    if (
        not header.startswith("data:image/")
        or not header.endswith(";base64")
        or len(data) > _MAX_BASE64_CHARS
    ):
        return []
    try:
        return _render_rows(base64.b64decode(data, validate=True), max(4, min(width, MAX_COLUMNS)), max_rows)
    except (binascii.Error, ValueError):
        return []


def open_image(data: bytes, width: int, height: int) -> "Image.Image | None":
    """Return the image in `data`, opaque and scaled to fit `width` by `height` pixels. None if invalid."""
    from PIL import Image

    try:
        with Image.open(BytesIO(data)) as image:
            image.draft("RGB", (width * 4, height * 4))
            image.thumbnail((width, height), Image.Resampling.BILINEAR)
            flat = Image.new("RGB", image.size, "black")
            rgba = image.convert("RGBA")
            flat.paste(rgba, mask=rgba.getchannel("A"))
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError):
        return None
    return flat


def size_in_cells(size: tuple[int, int], columns: int, rows: int) -> tuple[int, int]:
    """Return the columns and rows that an image of `size` pixels fills, at most `columns` by `rows`.

    Cells are assumed to be twice as high as wide.
    """
    width, height = max(1, size[0]), max(1, size[1])
    scale = min(columns / width, rows * 2 / height, 1.0)
    return max(1, min(columns, round(width * scale))), max(1, min(rows, round(height * scale / 2)))


def _render_rows(data: bytes, columns: int, rows: int) -> list[StyledLine]:
    flat = open_image(data, columns, rows * 2)
    if flat is None:
        return []
    quantized = flat.quantize(_MAX_COLORS).convert("RGB")  # fewer colors need fewer styles
    pixels = quantized.load()
    if pixels is None:
        return []
    lines = []
    for y in range(0, quantized.height, 2):
        lower = min(y + 1, quantized.height - 1)
        cells = [(pixels[x, y], pixels[x, lower]) for x in range(quantized.width)]
        lines.append(StyledLine(tuple(_merge_runs(cells)), margin=quantized.width))
    return lines


def _merge_runs(cells: Sequence[tuple[object, object]]) -> list[tuple[str, TextStyle]]:
    runs: list[tuple[str, TextStyle]] = []
    for upper, lower in cells:
        style = TextStyle((_role("#", upper), _role("on #", lower)))
        if runs and runs[-1][1] == style:
            runs[-1] = (runs[-1][0] + _UPPER_HALF, style)
        else:
            runs.append((_UPPER_HALF, style))
    return runs


def _role(prefix: str, color: object) -> str:
    red, green, blue = color if isinstance(color, tuple) else (0, 0, 0)
    return f"{prefix}{red:02x}{green:02x}{blue:02x}"
