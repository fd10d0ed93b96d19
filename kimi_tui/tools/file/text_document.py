r"""A text file in memory: text with `\n` line endings, and everything needed to write it back."""

import re
from collections.abc import Sequence
from dataclasses import replace

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.frozen import frozen
from kimi_tui.tools.file.encoding import UTF_8, Encoding, detect_encoding

_LF, _CRLF = 0, 1
_SURROGATE = re.compile("[\ud800-\udfff]")


@frozen
class TextDocument:
    """Text of a file. Bytes that aren't in the file's encoding are surrogate escapes in `text`."""

    text: str
    endings: bytes = b""
    r"""One byte for each `\n` of `text`: 1 for CRLF, 0 for LF."""
    encoding: Encoding = UTF_8

    @property
    def is_clean(self) -> bool:
        """Whether the whole file is text in its encoding."""
        return not has_surrogates(self.text)

    @property
    def uses_crlf(self) -> bool:
        """Whether all line endings are CRLF."""
        return bool(self.endings) and _LF not in self.endings

    @property
    def raw_text(self) -> str:
        """The text with the file's line endings."""
        if _CRLF not in self.endings:
            return self.text
        if _LF not in self.endings:
            return self.text.replace("\n", "\r\n")
        *lines, last = self.text.split("\n")
        ended = [line + ("\r\n" if crlf else "\n") for line, crlf in zip(lines, self.endings, strict=True)]
        return "".join(ended) + last

    def encode(self) -> bytes:
        """Return the bytes of the file."""
        return self.encoding.bom + self.raw_text.encode(self.encoding.codec, "surrogateescape")

    def replace_spans(self, spans: Sequence[tuple[int, int]], old: str, new: str) -> "TextDocument":
        """Return the document with `new` instead of `old` at each of `spans` (ascending, disjoint).

        The common beginning and end of `old` and `new` aren't touched. New lines get the ending of their
        neighbors.
        """
        before = _common_prefix_length(old, new)
        after = _common_prefix_length(old[before:][::-1], new[before:][::-1])
        inserted = new[before : len(new) - after]
        texts: list[str] = []
        endings = bytearray()
        at = newline = 0
        for start, end in spans:
            unchanged, removed = (
                self.text[at : start + before],
                self.text.count("\n", start + before, end - after),
            )
            n_unchanged = unchanged.count("\n")
            endings += self.endings[newline : newline + n_unchanged]
            newline += n_unchanged
            endings += self._endings_for(inserted.count("\n"), newline, removed)
            newline += removed
            texts += (unchanged, inserted)
            at = end - after
        texts.append(self.text[at:])
        endings += self.endings[newline:]
        return replace(self, text="".join(texts), endings=bytes(endings))

    def _endings_for(self, count: int, newline: int, removed: int) -> bytes:
        """Return the endings of `count` newlines that replace the `removed` ones from index `newline` on."""
        if not count:
            return b""
        result = self.endings[newline : newline + min(removed, count)]
        following = self.endings[newline + removed : newline + removed + 1]
        preceding = self.endings[max(0, newline - 1) : newline]
        return result + (following or preceding or b"\x00") * (count - len(result))


def parse_text(text: str, encoding: Encoding = UTF_8) -> TextDocument:
    """Return the document for `text`, whatever its line endings are."""
    if "\r\n" not in text:
        return TextDocument(text, bytes(text.count("\n")), encoding)
    *lines, last = text.split("\n")
    endings = bytes(line.endswith("\r") for line in lines)
    bare = [line[:-1] if crlf else line for line, crlf in zip(lines, endings, strict=True)]
    return TextDocument("\n".join((*bare, last)), endings, encoding)


def decode_document(data: bytes) -> TextDocument:
    """Return the document in `data`. Raises UndecodableFile if it isn't text that can be decoded."""
    encoding = detect_encoding(data)
    if encoding.is_binary:
        raise UndecodableFile(encoding)
    body = data[len(encoding.bom) :]
    if encoding.is_utf8:
        return parse_text(body.decode("utf-8", "surrogateescape"), encoding)
    try:
        return parse_text(body.decode(encoding.codec), encoding)
    except UnicodeDecodeError as error:
        raise UndecodableFile(Encoding("", label=f"damaged {encoding.label}")) from error


class UndecodableFile(ValueError):
    """The bytes aren't text."""

    def __init__(self, encoding: Encoding) -> None:
        super().__init__(encoding.label)
        self.encoding = encoding


def _common_prefix_length(one: str, other: str) -> int:
    """Return how many characters both texts have in common at the beginning."""
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)


def has_surrogates(text: str) -> bool:
    """Return whether `text` has characters that can't be encoded: escaped bytes, or half a surrogate pair."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def replace_surrogates(text: str) -> str:
    """Return `text` safe for JSON: characters that can't be encoded become U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def require_writable(text: str, document: TextDocument | None = None) -> None:
    """Raises FileProblem if `text` can't be encoded, or can't be written into `document`."""
    if has_surrogates(text):
        raise FileProblem("The text contains half of a surrogate pair.", hint="Write the character itself.")
    if document is not None and not document.is_clean and not text.isascii():
        raise FileProblem(
            "The file is in a legacy encoding instead of UTF-8, and the new text isn't plain ASCII.",
            hint="Convert the file first (with iconv in a shell), or write the text in ASCII.",
        )
