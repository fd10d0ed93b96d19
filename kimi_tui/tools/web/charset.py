"""The text of a page: its bytes decoded as they are, whatever the server says of them."""

import codecs
import re

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_META = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""")
_HEAD = 4096
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_SAMPLE = 500_000
_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
}
"""What browsers take for a charset, since pages mean the wider one."""
_CHARSETS = re.compile(
    r"utf-(?:8|16(?:-[lb]e)?)|cp125\d|cp(?:866|874|932|949)|iso8859-\d+|koi8-[ru]|mac-(?:roman|cyrillic)"
    r"|gb18030|big5|big5hkscs|euc_(?:jp|kr)|iso2022_jp"
)
"""Charsets of the web; Python knows others, some of which are traps."""


def decoded(data: bytes, *, declared: str | None, is_markup: bool) -> str:
    """`data` as text: by its byte order mark, else as `declared`, else as the markup itself says.

    A page that isn't what it says it is, is UTF-8 when that fits, else Windows-1252.
    """
    for bom, codec in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(codec, "replace")
    said = declared or (_declared_within(data[:_HEAD]) if is_markup else None)
    for codec in filter(None, (_codec(said), "utf-8")):
        try:
            return data.decode(codec)
        except UnicodeDecodeError as error:
            if error.start > len(data) - 4 and error.reason.startswith(("unexpected end", "incomplete")):
                return data.decode(codec, "ignore")  # the cut fell within a character
    text = data.decode("utf-8", "replace")
    foreign = _FOREIGN.findall(text[:_SAMPLE])
    is_damaged_utf8 = foreign.count("\ufffd") * 2 < len(foreign)
    return text if is_damaged_utf8 else data.decode("cp1252", "replace")


def _declared_within(head: bytes) -> str | None:
    found = _XML.search(head) or _META.search(head)
    return found[1].decode("ascii") if found else None


def _codec(charset: str | None) -> str | None:
    """Python's codec for `charset`; None when it is none of the web's."""
    if not charset:
        return None
    try:
        name = codecs.lookup(charset.strip("\"' ")).name
    except (LookupError, ValueError):
        return None
    name = _WIDER.get(name, name)
    return name if _CHARSETS.fullmatch(name) else None
