"""Images in kitty's graphics protocol with Unicode placeholders.

The image is sent once. The terminal draws it wherever its placeholders are written. Placeholders scroll and
are redrawn like other text, even in tmux. The protocol is described at
https://sw.kovidgoyal.net/kitty/graphics-protocol/#unicode-placeholders
"""

import base64
from collections.abc import Iterator
from io import BytesIO

from kimi_tui.tui.images.thumbnail import MAX_COLUMNS, open_image, size_in_cells
from kimi_tui.tui.markdown.styled_line import StyledLine, TextStyle

_PLACEHOLDER = "\U0010eeee"
_MAX_CELL_PIXELS = (12, 24)
"""Maximum pixels sent per cell, width and height."""
_CHUNK_CHARS = 4096
"""Maximum base64 characters per escape sequence."""
DIACRITICS = (
    *(
        0x305,
        0x30D,
        0x30E,
        0x310,
        0x312,
        0x33D,
        0x33E,
        0x33F,
        0x346,
        0x34A,
        0x34B,
        0x34C,
        0x350,
        0x351,
        0x352,
    ),
    *(0x357, 0x35B, *range(0x363, 0x370), *range(0x483, 0x488), 0x592, 0x593, 0x594, 0x595, 0x597),
)
"""Combining characters that encode row and column numbers, starting with 0."""


def placeholder_lines(image_id: int, columns: int, rows: int) -> list[StyledLine]:
    """Return the placeholders of an image. Their foreground color encodes `image_id`."""
    style = TextStyle((f"#{image_id:06x}",))
    lines = []
    for row in range(rows):
        text = "".join(
            f"{_PLACEHOLDER}{chr(DIACRITICS[row])}{chr(DIACRITICS[column])}" for column in range(columns)
        )
        lines.append(StyledLine(((text, style),), margin=len(text)))
    return lines


def resize_image(data: bytes, width: int, max_rows: int) -> tuple[bytes, int, int] | None:
    """Return the image as a PNG of the needed size, and its columns and rows. None if `data` is invalid."""
    max_columns = max(4, min(width, MAX_COLUMNS))
    image = open_image(data, max_columns * _MAX_CELL_PIXELS[0], max_rows * _MAX_CELL_PIXELS[1])
    if image is None:
        return None
    stream = BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue(), *size_in_cells(image.size, max_columns, max_rows)


def transmit_sequences(image_id: int, png: bytes, columns: int, rows: int) -> Iterator[str]:
    """Yield the escape sequences that transmit an image and the size of its placement."""
    payload = base64.b64encode(png).decode("ascii")
    chunks = [payload[start : start + _CHUNK_CHARS] for start in range(0, len(payload), _CHUNK_CHARS)]
    for index, chunk in enumerate(chunks):
        more = int(index < len(chunks) - 1)
        control = "" if index else f"a=T,U=1,f=100,i={image_id},c={columns},r={rows},"
        yield f"\x1b_G{control}q=2,m={more};{chunk}\x1b\\"


def delete_sequence(image_id: int) -> str:
    """Return the escape sequence that deletes an image from the terminal."""
    return f"\x1b_Ga=d,d=I,i={image_id},q=2\x1b\\"
