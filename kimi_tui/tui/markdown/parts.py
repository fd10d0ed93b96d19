"""Cutting Markdown into parts while it streams, so that what is finished is laid out once.

A part ends at a blank line with no fence, list, table or quote open, at a heading, and around a fence of
the top level. Parts that would grow without end are cut as well: code and tables every so many lines, long
lists between two items, very long paragraphs after a sentence.
"""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "code", "table"]

CODE_LINES = 48
"""Lines of code in one part."""
_TABLE_LINES = 120
_LIST_LINES = 40
_TEXT_LINES = 80
_LINE_LENGTH = 4_000
"""Characters after which a line that doesn't end is cut."""

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*(\S*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_ITEM = re.compile(r"( {0,3})(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_DELIMITER_ROW = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_SENTENCE_END = re.compile(r"[.!?;:][ \t]+|[。！？；]")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of Markdown that can be laid out by itself."""

    source: str
    kind: Kind = "text"
    gap: bool = True
    """Whether a blank row stands between the part before and this one."""
    language: str = ""
    """For code: what the fence says it is."""
    context: str = ""
    """For code, the lines just above; for a table that goes on, the part that it continues."""


class Parts:
    """Splits Markdown that arrives in fragments of any size."""

    def __init__(self) -> None:
        self.closed: list[Part] = []
        """What will not change any more. The owner may take parts away."""
        self._tail: list[str] = []
        self._tail_length = 0
        self._lines: list[str] = []
        self._kind: Kind = "text"
        self._fence = ""
        self._language = ""
        self._inner_fence = ""
        self._in_list = False
        self._blanks = 0
        self._gap = True
        self._context = ""
        self._line_goes_on = False

    def feed(self, text: str) -> None:
        """Take in more source."""
        first, *others = text.split("\n")
        self._append_tail(first)
        for line in others:
            self._line("".join(self._tail))
            self._tail, self._tail_length = [], 0
            self._append_tail(line)

    def finish(self) -> None:
        """The source is complete: close what is open."""
        if self._tail_length:
            self._line("".join(self._tail))
            self._tail, self._tail_length = [], 0
        self._close()

    @property
    def open(self) -> Part | None:
        """What may still change; None when nothing is open."""
        tail = "".join(self._tail)
        if self._kind == "code":
            if tail and self._closes_fence(tail):
                tail = ""
            lines = [*self._lines, *([tail] if tail else [])]
            return self._part(lines) if lines or not self._context else None
        if not self._lines and not tail.strip():
            return None
        return self._part([*self._lines, *[""] * self._blanks, tail])

    def _append_tail(self, text: str) -> None:
        if not text:
            return
        self._tail.append(text)
        self._tail_length += len(text)
        while self._tail_length > _LINE_LENGTH:
            line = "".join(self._tail)
            cut = _cut_of(line)
            self._line(line[:cut])
            self._line_goes_on = True
            self._tail, self._tail_length = [line[cut:]], len(line) - cut
            if not self._in_container:
                self._close(gap=False)

    @property
    def _in_container(self) -> bool:
        return bool(self._fence or self._inner_fence or self._in_list)

    def _line(self, line: str) -> None:
        if self._fence:
            self._code_line(line)
        elif not line.strip():
            self._blank_line()
        else:
            self._text_line(line)

    def _blank_line(self) -> None:
        self._line_goes_on = False
        if not self._lines:
            self._gap = True
        elif self._in_list or self._inner_fence or self._lines[0].startswith(("    ", "\t")):
            self._blanks += 1
        else:
            self._close()

    def _text_line(self, line: str) -> None:
        if self._inner_fence:
            self._keep(line)
            if _closes(line, self._inner_fence):
                self._inner_fence = ""
            return
        item = None if self._line_goes_on else _ITEM.match(line)
        self._line_goes_on = False
        self._close_before(line, bool(item))
        if fence := _FENCE.match(line):
            if not self._in_list:
                self._open_code(fence)
                return
            self._inner_fence = fence.group(1)
        if _HEADING.match(line) and not self._in_list:
            self._close()
            self._lines.append(line)
            self._close()
            return
        self._in_list = self._in_list or bool(item)
        self._keep(line)
        self._cut_if_long(line)

    def _close_before(self, line: str, is_item: bool) -> None:
        # Whether `line` begins something new, now that it is known what follows a blank line.
        indented = line.startswith(("  ", "\t"))
        if self._blanks and not is_item and not indented:
            self._close()
        elif self._in_list and is_item and not indented and len(self._lines) >= _LIST_LINES:
            self._close(gap=bool(self._blanks))
        elif self._in_list and not is_item and not indented and _FENCE.match(line):
            self._close()

    def _keep(self, line: str) -> None:
        self._lines += [""] * self._blanks
        self._blanks = 0
        self._lines.append(line)

    def _cut_if_long(self, line: str) -> None:
        if self._in_list:
            return
        if len(self._lines) == 2 and "|" in self._lines[0] and _DELIMITER_ROW.match(line):
            self._kind = "table"
        if self._kind == "table":
            if len(self._lines) >= _TABLE_LINES:
                self._cut_table()
        elif len(self._lines) >= _TEXT_LINES:
            self._close(gap=False)

    def _cut_table(self) -> None:
        header = self._lines[:2]
        first = self._context or "\n".join(self._lines)
        self._close(gap=False)
        self._kind, self._lines, self._context = "table", header, first

    def _open_code(self, fence: re.Match[str]) -> None:
        self._close()
        self._kind, self._fence, self._language = "code", fence.group(1), fence.group(2)

    def _code_line(self, line: str) -> None:
        if self._closes_fence(line):
            self._close()
            return
        self._lines.append(line)
        if len(self._lines) >= CODE_LINES:
            fence, language, context = self._fence, self._language, _code_context(self._lines)
            self._close(gap=False)
            self._kind, self._fence, self._language, self._context = "code", fence, language, context

    def _closes_fence(self, line: str) -> bool:
        return _closes(line, self._fence)

    def _close(self, *, gap: bool = True) -> None:
        # A fence without a line is a part as well, unless lines of it went before.
        if self._lines or (self._kind == "code" and not self._context):
            self.closed.append(self._part(self._lines))
        self._lines, self._blanks = [], 0
        self._kind, self._fence, self._language, self._context = "text", "", "", ""
        self._inner_fence, self._in_list, self._gap = "", False, gap

    def _part(self, lines: list[str]) -> Part:
        return Part("\n".join(lines), self._kind, self._gap, self._language, self._context)


def _closes(line: str, fence: str) -> bool:
    marks = line.strip()
    return (
        len(marks) >= len(fence)
        and not marks.strip(fence[0])
        and len(line) - len(line.lstrip(" ")) <= 3 + 12 * (len(fence) == 0)
    )


def _code_context(lines: list[str]) -> str:
    # The lines from the last one at the margin after an empty line: code seldom is inside a string there.
    for index in range(len(lines) - 1, 0, -1):
        if not lines[index - 1].strip() and lines[index][:1].strip():
            return "\n".join(lines[index:])
    return "\n".join(lines)


def _cut_of(line: str) -> int:
    # After the last sentence of the first part, else after its last space, else anywhere.
    sentences = list(_SENTENCE_END.finditer(line, _LINE_LENGTH // 2, _LINE_LENGTH))
    if sentences:
        return sentences[-1].end()
    space = line.rfind(" ", 0, _LINE_LENGTH)
    return space + 1 if space > 0 else _LINE_LENGTH
