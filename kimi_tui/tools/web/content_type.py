"""Content types, and which of them can be read as text."""

import re
from dataclasses import replace

from kimi_tui.base.errors import WebProblem
from kimi_tui.base.frozen import frozen

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = frozenset(
    f"application/{name}"
    for name in (
        "json", "xml", "javascript", "ecmascript", "x-javascript", "typescript", "yaml", "x-yaml", "toml",
        "ndjson", "x-ndjson", "jsonl", "jsonlines", "graphql", "sql", "x-sh", "x-tex", "rtf", "xml-dtd",
    )
)  # fmt: skip
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([^\s;\"]{1,40})", re.IGNORECASE)
_MARKUP = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_SNIFF_BYTES = 2048


@frozen
class ContentType:
    """Type of a response; `media_type` is empty if the server doesn't send one."""

    media_type: str
    charset: str | None

    @property
    def is_html(self) -> bool:
        """Whether the text must be extracted from HTML."""
        return self.media_type in _HTML

    @property
    def is_markup(self) -> bool:
        """Whether the content may declare its own charset."""
        return self.is_html or self.media_type.endswith(("/xml", "+xml"))

    def sniff(self, data: bytes) -> "ContentType":
        """Return the type of `data`, guessed from the content if the server sent none.

        Raises WebProblem if it isn't text.
        """
        head = data[:_SNIFF_BYTES]
        if not self.media_type:
            return replace(self, media_type="text/html" if _MARKUP.match(head) else "text/plain").sniff(data)
        is_wide = head.startswith((b"\xff\xfe", b"\xfe\xff")) or (self.charset or "").lower().startswith(
            "utf-16"
        )
        if b"\x00" in head and not is_wide:
            raise _not_text_error(f"binary data (declared as {self.media_type})")
        return self


def parse_content_type(header: str) -> ContentType:
    """Parse a Content-Type header. Raises WebProblem if the type can't be read as text."""
    media_type = header.partition(";")[0].strip().lower()
    charset = _CHARSET.search(header)
    is_text = media_type.startswith("text/") or media_type in _TEXT | _HTML
    if media_type and not is_text and not media_type.endswith(("+json", "+xml", "+yaml")):
        raise _not_text_error(re.sub(r"[^\w/.+-]", "", media_type)[:80])
    return ContentType(media_type, charset[1] if charset else None)


def _not_text_error(content: str) -> WebProblem:
    return WebProblem(
        f"The URL returns {content}, which can't be read as text.",
        hint="If you need it, download it with a shell command and inspect the file.",
    )
