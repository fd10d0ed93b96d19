"""What kind of content a server says that it sends, and what of it can be read as text."""

import re
from dataclasses import replace

from kimi_tui.base.errors import WebProblem
from kimi_tui.base.value import value

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
_SNIFFED = 2048


@value
class Kind:
    """The kind of a page; `media_type` is empty when the server doesn't say."""

    media_type: str
    charset: str | None

    @property
    def is_html(self) -> bool:
        """Whether it has to be taken apart to be read."""
        return self.media_type in _HTML

    @property
    def is_markup(self) -> bool:
        """Whether it may name its charset itself."""
        return self.is_html or self.media_type.endswith(("/xml", "+xml"))

    def sniffed(self, data: bytes) -> "Kind":
        """The kind of `data`, by its looks where the server is silent. Raises WebProblem if it's no text."""
        head = data[:_SNIFFED]
        if not self.media_type:
            return replace(self, media_type="text/html" if _MARKUP.match(head) else "text/plain").sniffed(
                data
            )
        is_wide = head.startswith((b"\xff\xfe", b"\xfe\xff")) or (self.charset or "").lower().startswith(
            "utf-16"
        )
        if b"\x00" in head and not is_wide:
            raise _no_text(f"binary data, though the server calls it {self.media_type}")
        return self


def kind_of(content_type: str) -> Kind:
    """The kind that a Content-Type header names. Raises WebProblem when it can't be read as text."""
    media_type = content_type.partition(";")[0].strip().lower()
    charset = _CHARSET.search(content_type)
    is_text = media_type.startswith("text/") or media_type in _TEXT | _HTML
    if media_type and not is_text and not media_type.endswith(("+json", "+xml", "+yaml")):
        raise _no_text(re.sub(r"[^\w/.+-]", "", media_type)[:80])
    return Kind(media_type, charset[1] if charset else None)


def _no_text(what: str) -> WebProblem:
    return WebProblem(
        f"The address holds {what}, which can't be read as text.",
        hint="If it is needed, download it with a shell command and look at the file.",
    )
