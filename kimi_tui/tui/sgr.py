"""SGR (ECMA-48, 8.3.117): the codes that give text its look, and the shortest way from one to another."""

from functools import lru_cache
from typing import NamedTuple

_TURNED_OFF_BY = {
    **dict.fromkeys(("1", "2"), "22"),
    "3": "23",
    **dict.fromkeys(("4", "21"), "24"),
    **dict.fromkeys(("5", "6"), "25"),
    "7": "27",
    "8": "28",
    "9": "29",
    **dict.fromkeys(("51", "52"), "54"),
    "53": "55",
}
_SEEN_ON_BLANKS = frozenset(("4", "7", "9", "21", "51", "52", "53"))
"""What is seen where there is no letter: lines, frames, and colours that are changed round."""
_EXTENDED = {"2": 5, "5": 3}
"""Codes of a colour by its second one: red, green and blue, or an index."""


class _Style(NamedTuple):
    attributes: frozenset[str]
    foreground: str
    background: str


@lru_cache(maxsize=4096)
def change(old: str | None, new: str) -> str:
    """What makes a terminal that draws by the codes `old` draw by `new`; None for codes that aren't known."""
    if old == new:
        return ""
    anew = f"\x1b[0;{new}m" if new else "\x1b[m"
    if old is None or not new:
        return anew
    before, after = _style(old), _style(new)
    off = {_TURNED_OFF_BY[code] for code in before.attributes - after.attributes}
    on = {code for code in after.attributes if code not in before.attributes or _TURNED_OFF_BY[code] in off}
    codes = [*sorted(off), *sorted(on)]
    if after.foreground != before.foreground:
        codes.append(after.foreground or "39")
    if after.background != before.background:
        codes.append(after.background or "49")
    changed = f"\x1b[{';'.join(codes)}m" if codes else ""
    return min(changed, anew, key=len)


@lru_cache(maxsize=4096)
def on_blanks(old: str | None, new: str) -> str:
    """Codes by which a blank looks as by `new`, with what of `old` isn't seen there: letters may follow."""
    if old is None or _style(new).attributes & _SEEN_ON_BLANKS:
        return new
    before = _style(old)
    kept = sorted(before.attributes - _SEEN_ON_BLANKS)
    return ";".join(filter(None, (*kept, before.foreground, _style(new).background)))


@lru_cache(maxsize=4096)
def _style(codes: str) -> _Style:
    attributes: set[str] = set()
    foreground = background = ""
    parts = codes.split(";") if codes else []
    index = 0
    while index < len(parts):
        code = parts[index]
        length = _EXTENDED.get(parts[index + 1], 1) if code in ("38", "48") and index + 1 < len(parts) else 1
        colour = ";".join(parts[index : index + length])
        if code in _TURNED_OFF_BY:
            attributes.add(code)
        elif code.startswith(("3", "9")):
            foreground = "" if code == "39" else colour
        else:
            background = "" if code == "49" else colour
        index += length
    return _Style(frozenset(attributes), foreground, background)
