"""Renderers for the display blocks of tool results."""

import json
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import assert_never

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.i18n.translate import translate_message
from kimi_tui.tui.markdown.styled_line import Span, Spans, StyledLine, span_width, text_style
from kimi_tui.tui.markdown.wrap import truncate, wrap
from kimi_tui.tui.transcript.blocks.output_lines import head_lines, more_lines_note
from kimi_tui.tui.transcript.diff_view import RenderedDiff
from kimi_tui.tui.transcript.render_cache import Draw
from kimi_tui.wire.display_blocks import (
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
_ROWS_PER_PIECE = 80
_TODO_SIGNS: dict[TodoStatus, tuple[str, str]] = {
    "done": ("✔", "done"),
    "in_progress": ("▸", "running"),
    "pending": ("○", "dim"),
}


class DisplayRenderer:
    """Renders a display block: summary, preview and full content."""

    is_brief = False
    """Whether the block has only a short summary of the result."""
    shows_arguments = False
    """Whether the block shows the content of the call's arguments."""

    def summary(self) -> list[Span]:
        """Return the summary shown after the call's name."""
        return []

    def preview(self, width: int, margin: Spans) -> list[StyledLine]:
        """Return the rows shown while the call is folded."""
        return []

    def all_pieces(self, margin: Spans) -> list[tuple[Draw, int]]:
        """Return the draw functions for the full content, each with an estimated number of rows."""
        return [(partial(self.preview, margin=margin), 1)]

    def source(self) -> str:
        """Return the text to copy."""
        return ""


class _BriefRenderer(DisplayRenderer):
    is_brief = True

    def __init__(self, text: str) -> None:
        self._text = sanitize_line(translate_message(text))

    def summary(self) -> list[Span]:
        return [(f"  {self._text[:60]}", text_style("dim"))] if self._text else []

    def all_pieces(self, margin: Spans) -> list[tuple[Draw, int]]:
        return []


class _DiffRenderer(DisplayRenderer):
    shows_arguments = True

    def __init__(self, blocks: Sequence[DiffBlock], *, show_path: bool) -> None:
        self._diff = RenderedDiff(blocks)
        self._show_path = show_path
        self._path = sanitize_line(blocks[0].path)

    def summary(self) -> list[Span]:
        if any(hunk.is_summary for hunk in self._diff.hunks):
            return []
        added = sum(hunk.added_count for hunk in self._diff.hunks)
        removed = sum(hunk.removed_count for hunk in self._diff.hunks)
        return [(f"  +{added}", text_style("done")), (f" −{removed}", text_style("failed"))]

    def preview(self, width: int, margin: Spans) -> list[StyledLine]:
        lines = self._rows(margin, 0, _ROWS_IN_PREVIEW, width)
        hidden = self._diff.row_count - _ROWS_IN_PREVIEW
        if hidden > 0:
            lines.append(StyledLine((*margin, (more_lines_note(hidden), text_style("guide"))), "\n", 2))
        return lines

    def all_pieces(self, margin: Spans) -> list[tuple[Draw, int]]:
        starts = range(0, max(1, self._diff.row_count), _ROWS_PER_PIECE)
        return [
            (partial(self._rows, margin, start, start + _ROWS_PER_PIECE), _ROWS_PER_PIECE) for start in starts
        ]

    def source(self) -> str:
        return "\n".join(hunk.to_unified() for hunk in self._diff.hunks)

    def _rows(self, margin: Spans, start: int, end: int, width: int) -> list[StyledLine]:
        room = width - span_width(margin)
        lines = self._diff.lines(room, start, end)
        if self._show_path and start == 0:
            lines.insert(0, StyledLine(truncate([(self._path, text_style("tool-argument"))], room)))
        return [line.indent(margin) for line in lines]


class _TodoRenderer(DisplayRenderer):
    shows_arguments = True

    def __init__(self, block: TodoBlock) -> None:
        self._items = block.items

    def summary(self) -> list[Span]:
        """Return the number of completed items, and the current item. The todo pane shows all items."""
        done = sum(item.status == "done" for item in self._items)
        spans: list[Span] = [(f"  {done}/{len(self._items)}", text_style("dim"))]
        current = next((item for item in self._items if item.status == "in_progress"), None)
        if current is not None:
            sign, role = _TODO_SIGNS[current.status]
            spans += [(f"  {sign} ", text_style(role)), (sanitize_line(current.title), text_style("dim"))]
        return spans

    def all_pieces(self, margin: Spans) -> list[tuple[Draw, int]]:
        starts = range(0, max(1, len(self._items)), _ROWS_PER_PIECE)
        return [
            (partial(self._rows, margin, start, start + _ROWS_PER_PIECE), _ROWS_PER_PIECE) for start in starts
        ]

    def _rows(self, margin: Spans, start: int, end: int, width: int) -> list[StyledLine]:
        lines: list[StyledLine] = []
        for item in self._items[start:end]:
            sign, role = _TODO_SIGNS[item.status]
            first: Spans = (*margin, (f"{sign} ", text_style(role)))
            rest: Spans = (*margin, ("  ", text_style()))
            text = text_style("strike", "dim") if item.status == "done" else text_style("user")
            lines += wrap([(sanitize_line(item.title), text)], width, first=first, rest=rest)
        return lines

    def source(self) -> str:
        marks = {"done": "x", "in_progress": "~", "pending": " "}
        return "\n".join(f"- [{marks[item.status]}] {sanitize_line(item.title)}" for item in self._items)


class _ShellRenderer(DisplayRenderer):
    def __init__(self, block: ShellBlock) -> None:
        self._block = block

    def summary(self) -> list[Span]:
        danger = sanitize_line(translate_message(self._block.danger)) if self._block.danger else ""
        return [(f"  ⚠ {danger}", text_style("failed"))] if danger else []

    def all_pieces(self, margin: Spans) -> list[tuple[Draw, int]]:
        return []


class _TaskRenderer(DisplayRenderer):
    def __init__(self, block: BackgroundTaskBlock) -> None:
        self._block = block

    def preview(self, width: int, margin: Spans) -> list[StyledLine]:
        task = self._block
        status = sanitize_line(f"{task.task_id} · {translate_message(task.status.replace('_', ' '))}")
        spans = [(status, text_style("running")), (f"  {sanitize_line(task.description)}", text_style("dim"))]
        return wrap(spans, width, first=margin, rest=margin)


class _UnknownRenderer(DisplayRenderer):
    def __init__(self, block: UnknownBlock) -> None:
        text = block.data.get("text")
        self._text = sanitize(text if isinstance(text, str) else json.dumps(block.data, ensure_ascii=False))

    def preview(self, width: int, margin: Spans) -> list[StyledLine]:
        return head_lines(self._text, 8, width, margin=margin)

    def source(self) -> str:
        return self._text


def build_renderers(blocks: Sequence[DisplayBlock]) -> tuple[DisplayRenderer, ...]:
    """Return the renderers for `blocks`. Adjacent hunks of the same file share a renderer."""
    renderers: list[DisplayRenderer] = []
    show_paths = len({block.path for block in blocks if isinstance(block, DiffBlock)}) > 1
    for path, group in groupby(
        blocks, key=lambda block: block.path if isinstance(block, DiffBlock) else None
    ):
        members = list(group)
        hunks = [block for block in members if isinstance(block, DiffBlock)]
        if path is None:
            renderers += [_build_renderer(block) for block in members]
        else:
            renderers.append(_DiffRenderer(hunks, show_path=show_paths))
    return tuple(renderers)


def _build_renderer(block: DisplayBlock) -> DisplayRenderer:
    match block:
        case BriefBlock(text=text):
            return _BriefRenderer(text)
        case DiffBlock():
            return _DiffRenderer([block], show_path=False)
        case TodoBlock():
            return _TodoRenderer(block)
        case ShellBlock():
            return _ShellRenderer(block)
        case BackgroundTaskBlock():
            return _TaskRenderer(block)
        case UnknownBlock():
            return _UnknownRenderer(block)
        case _:
            assert_never(block)
