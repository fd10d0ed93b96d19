"""Decoding of web pages, which often declare a wrong charset."""

import codecs
import re

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_META = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""")
_HEAD_BYTES = 4096
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_SAMPLE_CHARS = 500_000
_BROWSER_CHARSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
}
"""Charsets that browsers replace by a superset, because pages mean the superset."""
_CHARSETS = re.compile(
    r"utf-(?:8|16(?:-[lb]e)?)|cp125\d|cp(?:866|874|932|949)|iso8859-\d+|koi8-[ru]|mac-(?:roman|cyrillic)"
    r"|gb18030|big5|big5hkscs|euc_(?:jp|kr)|iso2022_jp"
)
"""Charsets used on the web. Python knows more, some of which are dangerous."""


def decode_page(data: bytes, *, declared: str | None, is_markup: bool) -> str:
    """Decode `data`: by its byte order mark, else by the `declared` charset, else by that in the markup.

    If the charset is wrong or missing, the result is UTF-8 if that fits, else Windows-1252.
    """
    for bom, codec in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(codec, "replace")
    charset = declared or (_find_declared(data[:_HEAD_BYTES]) if is_markup else None)
    for codec in filter(None, (_find_codec(charset), "utf-8")):
        try:
            return data.decode(codec)
        except UnicodeDecodeError as error:
            if error.start > len(data) - 4 and error.reason.startswith(("unexpected end", "incomplete")):
                return data.decode(codec, "ignore")  # cut within a character
    text = data.decode("utf-8", "replace")
    non_ascii = _NON_ASCII.findall(text[:_SAMPLE_CHARS])
    is_damaged_utf8 = non_ascii.count("\ufffd") * 2 < len(non_ascii)
    return text if is_damaged_utf8 else data.decode("cp1252", "replace")


def _find_declared(head: bytes) -> str | None:
    match = _XML.search(head) or _META.search(head)
    return match[1].decode("ascii") if match else None


def _find_codec(charset: str | None) -> str | None:
    """Return Python's codec for `charset`; None if it isn't used on the web."""
    if not charset:
        return None
    try:
        name = codecs.lookup(charset.strip("\"' ")).name
    except (LookupError, ValueError):
        return None
    name = _BROWSER_CHARSETS.get(name, name)
    return name if _CHARSETS.fullmatch(name) else None
