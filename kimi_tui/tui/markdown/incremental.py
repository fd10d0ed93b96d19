"""Incremental Markdown parser: splits a stream into parts, so that each finished part is laid out once.

A part ends at a blank line outside of fences, lists, tables and quotes. It also ends at a heading, and before
and after a fence. Long parts are split: code and tables after a number of lines, lists between two items,
paragraphs after a sentence. Text that is split off within a list keeps its indentation.
"""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "code", "table"]

_CODE_LINES = 48
_CONTEXT_LINES = 24
_TABLE_LINES = 40
_LIST_LINES = 40
_TEXT_LINES = 80
"""Lines after which a part is split."""
_LINE_LENGTH = 4_000
"""Characters after which an unfinished line is split."""

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*(\S*)")
_INNER_FENCE = re.compile(r" *(?:[-*+]|\d{1,9}[.)])[ \t]+(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_ITEM = re.compile(r" *(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_DELIMITER_ROW = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_SENTENCE_END = re.compile(r"[.!?;:][ \t]+|[。！？；]")


@dataclass(frozen=True, slots=True)
class MarkdownPart:
    """Piece of Markdown that can be laid out independently."""

    source: str
    kind: Kind = "text"
    gap: bool = True
    """Whether a blank row separates this part from the previous part."""
    indent: int = 0
    """Indentation in cells, for a part that belongs to a list item."""
    language: str = ""
    """For code: the language named by the fence."""
    context: str = ""
    """For code: the lines just above. For a table continuation: the table that is continued."""


class IncrementalParser:
    """Splits Markdown that arrives in fragments of any size."""

    def __init__(self) -> None:
        self.closed_parts: list[MarkdownPart] = []
        """Finished parts. The owner may remove them."""
        self._tail: list[str] = []
        self._tail_length = 0
        self._lines: list[str] = []
        self._kind: Kind = "text"
        self._fence = ""
        self._language = ""
        self._inner_fence = ""
        self._in_list = False
        self._indent = 0
        self._blanks = 0
        self._gap = True
        self._context = ""
        self._is_continued = False

    def feed(self, text: str) -> None:
        """Add more source."""
        first, *others = text.split("\n")
        self._append_tail(first)
        for line in others:
            self._add_line(self._pop_tail())
            self._append_tail(line)

    def finish(self) -> None:
        """Close the open part at the end of the source."""
        if self._tail_length:
            self._add_line(self._pop_tail())
        self._close()

    @property
    def open_part(self) -> MarkdownPart | None:
        """The part that may still change, if any."""
        tail = "".join(self._tail)
        if self._fence:
            marker = tail.strip()
            lines = [*self._lines, *([self._dedent(tail)] if marker.strip(self._fence[0]) else [])]
            return self._build_part(lines) if lines or not self._context else None
        if not self._lines and not tail.strip():
            return None
        return self._build_part([*self._lines, *[""] * self._blanks, self._dedent(tail)])

    def _append_tail(self, text: str) -> None:
        if not text:
            return
        self._tail.append(text)
        self._tail_length += len(text)
        while self._tail_length > _LINE_LENGTH:
            line = self._pop_tail()
            cut = _find_cut(line)
            self._add_line(line[:cut])
            self._is_continued = True
            self._tail, self._tail_length = [line[cut:]], len(line) - cut
            if not (self._fence or self._inner_fence):
                self._close(gap=False)

    def _pop_tail(self) -> str:
        tail = "".join(self._tail)
        self._tail, self._tail_length = [], 0
        return tail

    def _add_line(self, line: str) -> None:
        if self._fence:
            self._add_code_line(line)
        elif self._inner_fence:
            self._append_line(self._dedent(line))
            if _closes_fence(line, self._inner_fence):
                self._inner_fence = ""
        elif not line.strip():
            self._add_blank_line()
        else:
            self._add_text_line(line)

    def _add_blank_line(self) -> None:
        self._is_continued = False
        if not self._lines:
            self._gap = True
        elif self._in_list or self._lines[0].startswith(("    ", "\t")):
            self._blanks += 1
        else:
            self._close()

    def _add_text_line(self, line: str) -> None:
        depth = _indent_of(line)
        if depth < self._indent and not self._is_continued:
            self._close(gap=self._gap if not self._lines else bool(self._blanks))
            self._indent = depth if depth >= 2 else 0
        line = self._dedent(line)
        depth = _indent_of(line)
        is_item = not self._is_continued and bool(_ITEM.match(line))
        self._is_continued = False
        if self._cut_before(depth, is_item=is_item):
            line, depth = self._dedent(line), 0
            self._in_list = is_item
        if self._try_open_fence(line, depth):
            return
        if _HEADING.match(line) and not self._in_list:
            self._close()
            self._lines.append(line)
            self._close()
            return
        if is_item and (self._in_list or depth < 4):
            self._in_list = True
            if inner := _INNER_FENCE.match(line):
                self._inner_fence = inner.group(1)
        self._append_line(line)
        self._cut_after(line)

    def _cut_before(self, depth: int, *, is_item: bool) -> bool:
        # Close the part that ends before this line. True if a list was split.
        if self._blanks and not is_item and depth < 2:
            self._close()
        elif self._in_list and len(self._lines) >= (_LIST_LINES if is_item else _TEXT_LINES):
            self._close(gap=bool(self._blanks))
            self._indent += depth if depth >= 2 else 0
            return True
        return False

    def _try_open_fence(self, line: str, depth: int) -> bool:
        fence = _FENCE.match(line[depth:] if self._in_list and depth >= 2 else line)
        if fence is None:
            return False
        inner = self._in_list and depth >= 2
        self._close(gap=bool(self._blanks) if inner else True)
        self._indent += depth if inner else 0
        self._kind, self._fence, self._language = "code", fence.group(1), fence.group(2)
        return True

    def _append_line(self, line: str) -> None:
        self._lines += [""] * self._blanks
        self._blanks = 0
        self._lines.append(line)

    def _cut_after(self, line: str) -> None:
        if self._in_list:
            return
        if len(self._lines) == 2 and "|" in self._lines[0] and _DELIMITER_ROW.match(line):
            self._kind = "table"
        if self._kind == "table":
            if len(self._lines) >= _TABLE_LINES:
                header, first = self._lines[:2], self._context or "\n".join(self._lines)
                self._close(gap=False)
                self._kind, self._lines, self._context = "table", header, first
        elif len(self._lines) >= _TEXT_LINES:
            self._close(gap=False)

    def _add_code_line(self, line: str) -> None:
        if _closes_fence(line, self._fence, indent=self._indent + 3):
            self._close(gap=not self._indent)
            return
        self._lines.append(self._dedent(line))
        if len(self._lines) >= _CODE_LINES:
            fence, language, context = self._fence, self._language, _code_context(self._lines)
            self._close(gap=False)
            self._kind, self._fence, self._language, self._context = "code", fence, language, context

    def _dedent(self, line: str) -> str:
        return line[min(self._indent, _indent_of(line)) :] if self._indent else line

    def _close(self, *, gap: bool = True) -> None:
        # A continuation that has no rows yet: a table with only its repeated header, or code just split.
        is_empty_continuation = bool(self._context) and len(self._lines) <= (
            2 if self._kind == "table" else 0
        )
        if not is_empty_continuation and (self._lines or self._kind == "code"):
            self.closed_parts.append(self._build_part(self._lines))
        self._lines, self._blanks = [], 0
        self._kind, self._fence, self._language, self._context = "text", "", "", ""
        self._in_list, self._gap = False, gap

    def _build_part(self, lines: list[str]) -> MarkdownPart:
        return MarkdownPart(
            "\n".join(lines), self._kind, self._gap, self._indent, self._language, self._context
        )


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _closes_fence(line: str, fence: str, *, indent: int = 1_000) -> bool:
    marker = line.strip()
    return len(marker) >= len(fence) and not marker.strip(fence[0]) and _indent_of(line) <= indent


def _code_context(lines: list[str]) -> str:
    # Start at the last unindented line after an empty line: this is rarely inside a string.
    for index in range(len(lines) - 1, max(0, len(lines) - _CONTEXT_LINES), -1):
        if not lines[index - 1].strip() and lines[index][:1].strip():
            return "\n".join(lines[index:])
    return "\n".join(lines[-_CONTEXT_LINES:])


def _find_cut(line: str) -> int:
    # After the last sentence, else after the last space, else anywhere.
    sentences = list(_SENTENCE_END.finditer(line, _LINE_LENGTH // 2, _LINE_LENGTH))
    if sentences:
        return sentences[-1].end()
    space = line.rfind(" ", 0, _LINE_LENGTH)
    return space + 1 if space > 0 else _LINE_LENGTH
