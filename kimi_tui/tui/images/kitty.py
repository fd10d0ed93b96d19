"""Pictures in kitty's graphics protocol, by Unicode placeholders: cells of text that the terminal fills in.

The picture is sent once, and then stands wherever its placeholders are written: it scrolls, is covered and is
drawn anew as any text is, also within tmux. The protocol is described at
https://sw.kovidgoyal.net/kitty/graphics-protocol/#unicode-placeholders
"""

import base64
from collections.abc import Iterator
from io import BytesIO

from kimi_tui.tui.images.thumbnail import COLUMNS, ROWS, cells_of, opened
from kimi_tui.tui.markdown.line import Ink, Line

_PLACEHOLDER = "\U0010eeee"
_PIXELS = (12, 24)
"""Of a cell, at most: more would only be sent."""
_CHUNK = 4096
"""Characters of base64 in one sequence."""
MARKS = (
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
"""Combining characters that stand for the numbers of rows and columns, from 0 on."""


def picture_rows(number: int, columns: int, rows: int) -> list[Line]:
    """The placeholders of picture `number`, which their colour stands for."""
    ink = Ink((f"#{number:06x}",))
    lines = []
    for row in range(rows):
        text = "".join(f"{_PLACEHOLDER}{chr(MARKS[row])}{chr(MARKS[column])}" for column in range(columns))
        lines.append(Line(((text, ink),), margin=len(text)))
    return lines


def sized(data: bytes, width: int) -> tuple[bytes, int, int] | None:
    """A picture as a PNG no larger than it is shown, and its columns and rows; None when it is none."""
    most = max(4, min(width, COLUMNS))
    image = opened(data, most * _PIXELS[0], ROWS * _PIXELS[1])
    if image is None:
        return None
    stream = BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue(), *cells_of(image.size, most, ROWS)


def sending(number: int, png: bytes, columns: int, rows: int) -> Iterator[str]:
    """The sequences that give the terminal a picture and the cells that it fills."""
    text = base64.b64encode(png).decode("ascii")
    chunks = [text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK)]
    for index, chunk in enumerate(chunks):
        more = int(index < len(chunks) - 1)
        what = "" if index else f"a=T,U=1,f=100,i={number},c={columns},r={rows},"
        yield f"\x1b_G{what}q=2,m={more};{chunk}\x1b\\"


def forgetting(number: int) -> str:
    """The sequence that has the terminal forget a picture."""
    return f"\x1b_Ga=d,d=I,i={number},q=2\x1b\\"
