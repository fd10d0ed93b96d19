"""A picture in cells: the upper half of each cell has one colour, the lower half another."""

import base64
import binascii
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from kimi_tui.tui.markdown.line import Ink, Line

if TYPE_CHECKING:
    from PIL import Image

COLUMNS = 40
ROWS = 10
"""The most that a thumbnail takes."""
_COLOURS = 48
_LONGEST = 8_000_000
"""Characters of base64."""
_UPPER_HALF = "▀"


def thumbnail(url: str, width: int) -> list[Line]:
    """The picture of a `data:` URL in at most `width` cells; no rows when it can't be shown."""
    header, _, data = url.partition(",")
    if not header.startswith("data:image/") or not header.endswith(";base64") or len(data) > _LONGEST:
        return []
    try:
        return _rows(base64.b64decode(data, validate=True), max(4, min(width, COLUMNS)))
    except (binascii.Error, ValueError):
        return []


def opened(data: bytes, width: int, height: int) -> "Image.Image | None":
    """The picture in `data` within so many pixels, opaque; None when it is none that can be read."""
    from PIL import Image

    try:
        with Image.open(BytesIO(data)) as image:
            image.draft("RGB", (width * 4, height * 4))
            image.thumbnail((width, height), Image.Resampling.BILINEAR)
            flat = Image.new("RGB", image.size, "black")
            picture = image.convert("RGBA")
            flat.paste(picture, mask=picture.getchannel("A"))
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError):
        return None
    return flat


def cells_of(size: tuple[int, int], columns: int, rows: int) -> tuple[int, int]:
    """The cells, twice as high as wide, that a picture of `size` fills at most `columns` by `rows` of."""
    width, height = max(1, size[0]), max(1, size[1])
    scale = min(columns / width, rows * 2 / height, 1.0)
    return max(1, min(columns, round(width * scale))), max(1, min(rows, round(height * scale / 2)))


def _rows(data: bytes, columns: int) -> list[Line]:
    flat = opened(data, columns, ROWS * 2)
    if flat is None:
        return []
    few = flat.quantize(_COLOURS).convert("RGB")  # so that a picture needs few styles
    pixels = few.load()
    if pixels is None:
        return []
    lines = []
    for y in range(0, few.height, 2):
        lower = min(y + 1, few.height - 1)
        cells = [(pixels[x, y], pixels[x, lower]) for x in range(few.width)]
        lines.append(Line(tuple(_runs(cells)), margin=few.width))
    return lines


def _runs(cells: Sequence[tuple[object, object]]) -> list[tuple[str, Ink]]:
    runs: list[tuple[str, Ink]] = []
    for upper, lower in cells:
        style = Ink((_role("#", upper), _role("on #", lower)))
        if runs and runs[-1][1] == style:
            runs[-1] = (runs[-1][0] + _UPPER_HALF, style)
        else:
            runs.append((_UPPER_HALF, style))
    return runs


def _role(lead: str, colour: object) -> str:
    red, green, blue = colour if isinstance(colour, tuple) else (0, 0, 0)
    return f"{lead}{red:02x}{green:02x}{blue:02x}"
