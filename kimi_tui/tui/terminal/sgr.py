"""SGR codes (ECMA-48, 8.3.117) and the shortest transitions between them."""

from functools import lru_cache
from typing import NamedTuple

_RESET_CODES = {
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
_VISIBLE_ON_BLANKS = frozenset(("4", "7", "9", "21", "51", "52", "53"))
"""Attributes that are visible on blanks: lines, frames, and reversed colors."""
_EXTENDED_COLOR_LENGTH = {"2": 5, "5": 3}
"""Number of codes of an extended color by its second code: 2 for RGB, 5 for an index."""


class _Style(NamedTuple):
    attributes: frozenset[str]
    foreground: str
    background: str


@lru_cache(maxsize=4096)
def transition_sequence(old: str | None, new: str) -> str:
    """Return the sequence that changes a terminal's style from the codes `old` to `new`. None means that the
    old style is unknown.
    """
    if old == new:
        return ""
    absolute = f"\x1b[0;{new}m" if new else "\x1b[m"
    if old is None or not new:
        return absolute
    before, after = _parse_codes(old), _parse_codes(new)
    off = {_RESET_CODES[code] for code in before.attributes - after.attributes}
    on = {code for code in after.attributes if code not in before.attributes or _RESET_CODES[code] in off}
    codes = [*sorted(off), *sorted(on)]
    if after.foreground != before.foreground:
        codes.append(after.foreground or "39")
    if after.background != before.background:
        codes.append(after.background or "49")
    relative = f"\x1b[{';'.join(codes)}m" if codes else ""
    return min(relative, absolute, key=len)


@lru_cache(maxsize=4096)
def codes_for_blanks(old: str | None, new: str) -> str:
    """Return codes that look like `new` on blanks and keep the attributes of `old` that blanks don't show.

    This avoids changing the style back for the letters after the blanks.
    """
    if old is None or _parse_codes(new).attributes & _VISIBLE_ON_BLANKS:
        return new
    before = _parse_codes(old)
    invisible = sorted(before.attributes - _VISIBLE_ON_BLANKS)
    return ";".join(filter(None, (*invisible, before.foreground, _parse_codes(new).background)))


@lru_cache(maxsize=4096)
def _parse_codes(codes: str) -> _Style:
    attributes: set[str] = set()
    foreground = background = ""
    parts = codes.split(";") if codes else []
    index = 0
    while index < len(parts):
        code = parts[index]
        length = (
            _EXTENDED_COLOR_LENGTH.get(parts[index + 1], 1)
            if code in ("38", "48") and index + 1 < len(parts)
            else 1
        )
        color = ";".join(parts[index : index + length])
        if code in _RESET_CODES:
            attributes.add(code)
        elif code.startswith(("3", "9")):
            foreground = "" if code == "39" else color
        else:
            background = "" if code == "49" else color
        index += length
    return _Style(frozenset(attributes), foreground, background)
