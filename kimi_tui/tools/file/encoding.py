"""Detection of a file's encoding, or of binary content."""

import re
from shlex import quote

from kimi_tui.base.frozen import frozen

SNIFF_BYTES = 8192
"""How many bytes at the beginning of a file are examined."""

_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32-le", "UTF-32 text"),
    (b"\x00\x00\xfe\xff", "utf-32-be", "UTF-32 text"),
    (b"\xef\xbb\xbf", "utf-8", "UTF-8 text"),
    (b"\xff\xfe", "utf-16-le", "UTF-16 text"),
    (b"\xfe\xff", "utf-16-be", "UTF-16 text"),
)
_SIGNATURES = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or a document or package made of one)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\x7fELF", "an executable (ELF)"),
    (b"MZ", "an executable (Windows)"),
    (b"\xcf\xfa\xed\xfe", "an executable (Mach-O)"),
    (b"\xca\xfe\xba\xbe", "a Java class or an executable"),
    (b"SQLite format 3\x00", "an SQLite database"),
)
_WIDE_LITTLE = re.compile(rb"(?:[\t\n\r -~]\x00){4}")
_WIDE_BIG = re.compile(rb"(?:\x00[\t\n\r -~]){4}")


@frozen
class Encoding:
    """How a file's bytes become text."""

    codec: str
    """Python's name of the codec; empty for binary content."""
    bom: bytes = b""
    label: str = "UTF-8 text"
    """Description for the user and the model."""

    @property
    def is_binary(self) -> bool:
        """Whether the bytes are not text."""
        return not self.codec

    @property
    def is_utf8(self) -> bool:
        """Whether the text can be read and edited directly."""
        return self.codec == "utf-8"


UTF_8 = Encoding("utf-8")


def detect_encoding(head: bytes) -> Encoding:
    """Return the encoding of a file that begins with `head`: by its BOM, else UTF-8 unless there are NULs.

    Bytes above 127 that aren't UTF-8 don't make a file binary: old sources are full of them.
    """
    head = head[:SNIFF_BYTES]
    for bom, codec, label in _BOMS:
        if head.startswith(bom):
            return Encoding(codec, bom, label)
    for signature, label in _SIGNATURES:
        if head.startswith(signature) and (b"\x00" in head or signature == b"%PDF-"):
            return Encoding("", label=label)
    if b"\x00" not in head:
        return UTF_8
    if _WIDE_LITTLE.match(head):
        return Encoding("utf-16-le", label="UTF-16 text without a byte order mark")
    if _WIDE_BIG.match(head):
        return Encoding("utf-16-be", label="UTF-16 text without a byte order mark")
    return Encoding("", label="binary data")


def read_hint(encoding: Encoding, display_path: str) -> str:
    """Return a hint on how to read a file that can't be read directly."""
    if encoding.is_binary:
        return "Inspect it with a shell command that understands its format (file, strings, xxd ...)."
    source = encoding.codec.upper() if not encoding.bom else encoding.codec.upper()[:6]
    return f"Convert it with a shell command: iconv -f {source} -t UTF-8 {quote(display_path)}"
