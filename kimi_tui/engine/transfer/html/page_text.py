"""Safe HTML of untrusted text: redacted, without control characters, escaped, and cut to a length."""

from html import escape
from typing import Any

from kimi_tui.base.redaction import redact_for_sharing
from kimi_tui.base.terminal_text import sanitize


class CleanTexts:
    """Redacted texts without control characters, each computed once: a page may be rendered repeatedly."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def get(self, text: str) -> str:
        """Return the clean text."""
        if text not in self._texts:
            self._texts[text] = sanitize(redact_for_sharing(text)).strip("\n")
        return self._texts[text]


class PageText:
    """Turns texts into HTML. Texts longer than `limit` characters lose their middle or their end."""

    def __init__(self, limit: int, clean_texts: CleanTexts) -> None:
        self.limit = limit
        self._clean_texts = clean_texts
        self._markdown: Any = None
        """The parser, loaded for the first text."""

    def plain(self, text: str, *, most: int | None = None) -> str:
        """Return a text as HTML, with its end cut off."""
        clean = self._clean_texts.get(text)
        limit = self.limit if most is None else most
        if len(clean) <= limit:
            return escape(clean)
        return f"{escape(clean[:limit])}{_cut_note(len(clean) - limit)}"

    def output(self, text: str) -> str:
        """Return a tool's output as HTML.

        If the output is too long, its middle is cut out, because the end shows the result.
        """
        clean = self._clean_texts.get(text)
        if len(clean) <= self.limit:
            return escape(clean)
        head, tail = self.limit // 3, self.limit - self.limit // 3
        note = _cut_note(len(clean) - self.limit)
        return f"{escape(clean[:head])}{note}\n{escape(clean[-tail:])}"

    def markdown(self, text: str) -> str:
        """Return Markdown as HTML. Raw HTML is shown as text, and images become links."""
        clean = self._clean_texts.get(text)
        cut = ""
        if len(clean) > self.limit:
            cut = f"<p>{_cut_note(len(clean) - self.limit)}</p>"
            clean = clean[: self.limit]
        return str(self._parser().render(clean)) + cut

    def line(self, text: str, most: int) -> str:
        """Return the first line of a text as HTML."""
        clean = " ".join(self._clean_texts.get(text).split())
        return escape(clean if len(clean) <= most else f"{clean[: most - 1]}…")

    def _parser(self) -> Any:
        if self._markdown is None:
            from markdown_it import MarkdownIt

            options = {"html": False, "maxNesting": 100}
            self._markdown = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
            self._markdown.disable("image")
        return self._markdown


def _cut_note(count: int) -> str:
    return f'<span class="cut"> … {count:,} more characters</span>'
