"""Display blocks of tool results: a summary for the line, a preview below it, and all of it."""

import json
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import assert_never

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.markdown.line import Line, Span, Spans, ink, span_width
from kimi_tui.tui.markdown.wrap import truncated, wrap
from kimi_tui.tui.transcript.blocks.output import head_lines, more_lines
from kimi_tui.tui.transcript.diff import FileDiff
from kimi_tui.tui.transcript.piece import Draw
from kimi_tui.wire.display import (
    BackgroundTaskBlock,
    BriefBlock,
    DiffBlock,
    DisplayBlock,
    ShellBlock,
    TodoBlock,
    TodoStatus,
    UnknownBlock,
)

_ROWS_IN_PREVIEW = 16
_ROWS_IN_PIECE = 80
_TODO_SIGNS: dict[TodoStatus, tuple[str, str]] = {
    "done": ("✔", "done"),
    "in_progress": ("▸", "running"),
    "pending": ("○", "dim"),
}


class Shown:
    """A display block as the transcript draws it."""

    is_brief = False
    """Whether it only sums the result up in a few words."""
    tells_arguments = False
    """Whether it shows what the call's arguments say."""

    def summary(self) -> list[Span]:
        """A few words behind the call's name."""
        return []

    def preview(self, width: int, margin: Spans) -> list[Line]:
        """The rows shown while the call is folded."""
        return []

    def all_pieces(self, margin: Spans) -> list[tuple[Draw, int]]:
        """What draws all of it, with about how many rows each."""
        return [(partial(self.preview, margin=margin), 1)]

    def source(self) -> str:
        """What a copy gives."""
        return ""


class _Brief(Shown):
    is_brief = True

    def __init__(self, text: str) -> None:
        self._text = plain_line(retell(text))

    def summary(self) -> list[Span]:
        return [(f"  {self._text[:60]}", ink("dim"))] if self._text else []

    def all_pieces(self, margin: Spans) -> list[tuple[Draw, int]]:
        return []


class _ShownDiff(Shown):
    tells_arguments = True

    def __init__(self, blocks: Sequence[DiffBlock], *, named: bool) -> None:
        self._diff = FileDiff(blocks)
        self._named = named
        self._path = plain_line(blocks[0].path)

    def summary(self) -> list[Span]:
        if any(hunk.is_summary for hunk in self._diff.hunks):
            return []
        added = sum(hunk.added for hunk in self._diff.hunks)
        removed = sum(hunk.removed for hunk in self._diff.hunks)
        return [(f"  +{added}", ink("done")), (f" −{removed}", ink("failed"))]

    def preview(self, width: int, margin: Spans) -> list[Line]:
        lines = self._rows(margin, 0, _ROWS_IN_PREVIEW, width)
        hidden = self._diff.row_count - _ROWS_IN_PREVIEW
        if hidden > 0:
            lines.append(Line((*margin, (more_lines(hidden), ink("guide"))), "\n", 2))
        return lines

    def all_pieces(self, margin: Spans) -> list[tuple[Draw, int]]:
        starts = range(0, max(1, self._diff.row_count), _ROWS_IN_PIECE)
        return [
            (partial(self._rows, margin, start, start + _ROWS_IN_PIECE), _ROWS_IN_PIECE) for start in starts
        ]

    def source(self) -> str:
        return "\n".join(hunk.unified() for hunk in self._diff.hunks)

    def _rows(self, margin: Spans, start: int, end: int, width: int) -> list[Line]:
        room = width - span_width(margin)
        lines = self._diff.lines(room, start, end)
        if self._named and start == 0:
            lines.insert(0, Line(truncated([(self._path, ink("tool-argument"))], room)))
        return [line.indented(margin) for line in lines]


class _ShownTodo(Shown):
    tells_arguments = True

    def __init__(self, block: TodoBlock) -> None:
        self._items = block.items

    def summary(self) -> list[Span]:
        if len(self._items) <= _ROWS_IN_PREVIEW:
            return []
        done = sum(item.status == "done" for item in self._items)
        return [(f"  {done}/{len(self._items)}", ink("dim"))]

    def preview(self, width: int, margin: Spans) -> list[Line]:
        """All of a list that is short; of a long one what is worked on, and what is around it."""
        total = len(self._items)
        if total <= _ROWS_IN_PREVIEW:
            return self._rows(margin, 0, total, width)
        work = next((at for at, item in enumerate(self._items) if item.status != "done"), total)
        start = max(0, min(work - 2, total - _ROWS_IN_PREVIEW))
        end = start + _ROWS_IN_PREVIEW
        above = say("⋯ {count:,} before", count=start) if start else ""
        below = say("⋯ {count:,} after", count=total - end) if end < total else ""
        notes = [
            [Line((*margin, (words, ink("guide"))), "\n", 2)] if words else [] for words in (above, below)
        ]
        return notes[0] + self._rows(margin, start, end, width) + notes[1]

    def all_pieces(self, margin: Spans) -> list[tuple[Draw, int]]:
        starts = range(0, max(1, len(self._items)), _ROWS_IN_PIECE)
        return [
            (partial(self._rows, margin, start, start + _ROWS_IN_PIECE), _ROWS_IN_PIECE) for start in starts
        ]

    def _rows(self, margin: Spans, start: int, end: int, width: int) -> list[Line]:
        lines: list[Line] = []
        for item in self._items[start:end]:
            sign, role = _TODO_SIGNS[item.status]
            first: Spans = (*margin, (f"{sign} ", ink(role)))
            rest: Spans = (*margin, ("  ", ink()))
            text = ink("strike", "dim") if item.status == "done" else ink("user")
            lines += wrap([(plain_line(item.title), text)], width, first=first, rest=rest)
        return lines

    def source(self) -> str:
        marks = {"done": "x", "in_progress": "~", "pending": " "}
        return "\n".join(f"- [{marks[item.status]}] {plain_line(item.title)}" for item in self._items)


class _ShownShell(Shown):
    def __init__(self, block: ShellBlock) -> None:
        self._block = block

    def summary(self) -> list[Span]:
        danger = plain_line(retell(self._block.danger)) if self._block.danger else ""
        return [(f"  ⚠ {danger}", ink("failed"))] if danger else []

    def all_pieces(self, margin: Spans) -> list[tuple[Draw, int]]:
        return []


class _ShownTask(Shown):
    def __init__(self, block: BackgroundTaskBlock) -> None:
        self._block = block

    def preview(self, width: int, margin: Spans) -> list[Line]:
        task = self._block
        words = f"{plain_line(task.kind)} {plain_line(task.task_id)} · {plain_line(task.status)}"
        spans = [(words, ink("running")), (f"  {plain_line(task.description)}", ink("dim"))]
        return wrap(spans, width, first=margin, rest=margin)


class _ShownUnknown(Shown):
    def __init__(self, block: UnknownBlock) -> None:
        text = block.data.get("text")
        self._text = plain(text if isinstance(text, str) else json.dumps(block.data, ensure_ascii=False))

    def preview(self, width: int, margin: Spans) -> list[Line]:
        return head_lines(self._text, 8, width, margin=margin)

    def source(self) -> str:
        return self._text


def shown(blocks: Sequence[DisplayBlock]) -> tuple[Shown, ...]:
    """How `blocks` are drawn; hunks of one file together."""
    drawn: list[Shown] = []
    named = len({block.path for block in blocks if isinstance(block, DiffBlock)}) > 1
    for path, group in groupby(
        blocks, key=lambda block: block.path if isinstance(block, DiffBlock) else None
    ):
        members = list(group)
        hunks = [block for block in members if isinstance(block, DiffBlock)]
        if path is None:
            drawn += [_shown_alone(block) for block in members]
        else:
            drawn.append(_ShownDiff(hunks, named=named))
    return tuple(drawn)


def _shown_alone(block: DisplayBlock) -> Shown:
    match block:
        case BriefBlock(text=text):
            return _Brief(text)
        case DiffBlock():
            return _ShownDiff([block], named=False)
        case TodoBlock():
            return _ShownTodo(block)
        case ShellBlock():
            return _ShownShell(block)
        case BackgroundTaskBlock():
            return _ShownTask(block)
        case UnknownBlock():
            return _ShownUnknown(block)
        case _:
            assert_never(block)
