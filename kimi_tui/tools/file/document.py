"""A text file in memory: text with `\\n` alone, and all that must be kept when it is written again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.file.encoding import UTF_8, Encoding, encoding_of

_LF, _CRLF = 0, 1
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a file.

    Bytes that are not in the file's encoding are kept in `text` as surrogate escapes.
    """

    text: str
    endings: bytes = b""
    """One byte for each `\\n` of `text`: 1 when the file has CRLF there, else 0."""
    encoding: Encoding = UTF_8

    @property
    def is_clean(self) -> bool:
        """Whether all of the file is text in its encoding."""
        return not has_surrogates(self.text)

    @property
    def uses_crlf(self) -> bool:
        """Whether every line that ends, ends in CRLF."""
        return bool(self.endings) and _LF not in self.endings

    @property
    def raw_text(self) -> str:
        """The text with the line endings that the file has."""
        if _CRLF not in self.endings:
            return self.text
        if _LF not in self.endings:
            return self.text.replace("\n", "\r\n")
        *lines, last = self.text.split("\n")
        ended = [line + ("\r\n" if crlf else "\n") for line, crlf in zip(lines, self.endings, strict=True)]
        return "".join(ended) + last

    def encoded(self) -> bytes:
        """The bytes of the file."""
        return self.encoding.bom + self.raw_text.encode(self.encoding.codec, "surrogateescape")

    def replacing(self, spans: Sequence[tuple[int, int]], old: str, new: str) -> "Document":
        """The document with `new` instead of `old`, which stands at each of `spans` (ascending, disjoint).

        What `old` and `new` have in common is not touched; a line that is new ends as its neighbours do.
        """
        before = _n_common(old, new)
        after = _n_common(old[before:][::-1], new[before:][::-1])
        inserted = new[before : len(new) - after]
        texts: list[str] = []
        endings = bytearray()
        at = newline = 0
        for start, end in spans:
            kept, removed = self.text[at : start + before], self.text.count("\n", start + before, end - after)
            n_kept = kept.count("\n")
            endings += self.endings[newline : newline + n_kept]
            newline += n_kept
            endings += self._endings_for(inserted.count("\n"), newline, removed)
            newline += removed
            texts += (kept, inserted)
            at = end - after
        texts.append(self.text[at:])
        endings += self.endings[newline:]
        return replace(self, text="".join(texts), endings=bytes(endings))

    def _endings_for(self, count: int, newline: int, removed: int) -> bytes:
        """Endings of `count` newlines that stand where those from `newline` on, `removed` of them, stood."""
        if not count:
            return b""
        result = self.endings[newline : newline + min(removed, count)]
        following = self.endings[newline + removed : newline + removed + 1]
        preceding = self.endings[max(0, newline - 1) : newline]
        return result + (following or preceding or b"\x00") * (count - len(result))


def document_of(text: str, encoding: Encoding = UTF_8) -> Document:
    """The document whose file has `text`, with whatever line endings it has."""
    if "\r\n" not in text:
        return Document(text, bytes(text.count("\n")), encoding)
    *lines, last = text.split("\n")
    endings = bytes(line.endswith("\r") for line in lines)
    bare = [line[:-1] if crlf else line for line, crlf in zip(lines, endings, strict=True)]
    return Document("\n".join((*bare, last)), endings, encoding)


def decode(data: bytes) -> Document:
    """The document in `data`. Raises UndecodableFile when it is not text that can be taken apart."""
    encoding = encoding_of(data)
    if encoding.is_binary:
        raise UndecodableFile(encoding)
    body = data[len(encoding.bom) :]
    if encoding.is_utf8:
        return document_of(body.decode("utf-8", "surrogateescape"), encoding)
    try:
        return document_of(body.decode(encoding.codec), encoding)
    except UnicodeDecodeError as error:
        raise UndecodableFile(Encoding("", label=f"damaged {encoding.label}")) from error


class UndecodableFile(ValueError):
    """The bytes are no text."""

    def __init__(self, encoding: Encoding) -> None:
        super().__init__(encoding.label)
        self.encoding = encoding


def _n_common(one: str, other: str) -> int:
    """How many characters both begin with."""
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)


def has_surrogates(text: str) -> bool:
    """Whether `text` holds what no encoding has: escaped bytes, or half a surrogate pair."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def without_surrogates(text: str) -> str:
    """`text`, fit for JSON: what has no encoding shows as U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def require_writable(text: str, document: Document | None = None) -> None:
    """Raises FileProblem when `text`, from the model, can't be written, or not into `document`."""
    if has_surrogates(text):
        raise FileProblem("The text holds half of a surrogate pair.", hint="Write the character itself.")
    if document is not None and not document.is_clean and not text.isascii():
        raise FileProblem(
            "The file is not UTF-8 but in an older encoding, and the new text is not plain ASCII.",
            hint="Convert the file first (iconv in a shell), or write the text in ASCII.",
        )
