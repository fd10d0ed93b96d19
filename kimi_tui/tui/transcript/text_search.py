"""Text search in the conversation."""

from collections.abc import Iterator

from kimi_tui.base.content_parts import TextPart, ThinkPart, text_of
from kimi_tui.base.message import ToolCall
from kimi_tui.frontend.message_batch import ConversationMessage
from kimi_tui.tui.transcript.blocks.output_lines import output_text
from kimi_tui.tui.transcript.layout import Position, Section, TranscriptLayout
from kimi_tui.wire.events import Notification, SteerInput, ToolResult, TurnBegin


class TextSearch:
    """Case-insensitive search that steps through the matches and wraps around."""

    def __init__(self, layout: TranscriptLayout) -> None:
        self._layout = layout
        self.needle = ""
        self.current_match: Position | None = None
        """Row of the current match."""
        self._sections_without_match: set[Section] = set()
        """Stored turns without a match. Stored turns never change."""

    def search(self, text: str) -> int:
        """Set the text to search for. Return the number of matches."""
        needle = text.lower()
        if not self.needle or self.needle not in needle:
            self._sections_without_match.clear()
        self.needle = needle
        self.current_match = None
        if not self.needle:
            return 0
        return sum(self._count_matches(index) for index in range(len(self._layout.sections)))

    def step(self, direction: int, start: Position) -> Position | None:
        """Return the next match after the current one, or after `start`. None if there is no match."""
        if not self.needle:
            return None
        origin = self.current_match or start
        for wrapped in range(2):
            for position in self._matches(direction, origin.section, wrap_around=bool(wrapped)):
                if wrapped or self._is_ahead(position, origin, direction):
                    self.current_match = position
                    return position
        return None

    @property
    def current_number(self) -> int:
        """Number of the current match, from 1. In a row with several matches, the number of the first match.
        0 without a match.
        """
        position = self.current_match
        if position is None:
            return 0
        blocks = self._layout.blocks_of(position.section)
        before = sum(self._count_matches(index) for index in range(position.section))
        before += sum(block.search_text().lower().count(self.needle) for block in blocks[: position.block])
        block = blocks[position.block]
        for row in self._visible_rows(position.section, position.block):
            if row < position:
                lines = self._layout.render_piece(block, block.pieces[row.piece]).lines
                before += len(self.find_spans(lines[row.row].text))
        return before + 1

    def find_spans(self, text: str) -> list[tuple[int, int]]:
        """Return the (start, end) character ranges of the matches in a row."""
        lowered = text.lower()
        spans: list[tuple[int, int]] = []
        start = lowered.find(self.needle) if self.needle else -1
        while start >= 0:
            spans.append((start, start + len(self.needle)))
            start = lowered.find(self.needle, start + len(self.needle))
        return spans

    def _is_ahead(self, position: Position, origin: Position, direction: int) -> bool:
        if position == origin:
            return self.current_match is None
        return position > origin if direction > 0 else position < origin

    def _matches(self, direction: int, section: int, *, wrap_around: bool) -> Iterator[Position]:
        # Matches from `section` on in a direction, or from the far end if wrapping around.
        last = len(self._layout.sections) - 1
        if wrap_around:
            section = 0 if direction > 0 else last
        for index in range(section, last + 1) if direction > 0 else range(min(section, last), -1, -1):
            if not self._count_matches(index):
                continue
            blocks = range(len(self._layout.blocks_of(index)))
            for block in blocks if direction > 0 else reversed(blocks):
                yield from self._matching_rows(index, block)[::direction]

    def _count_matches(self, index: int) -> int:
        # The messages of a stored turn are searched directly, without building its blocks.
        section = self._layout.sections[index]
        if not section.stored_messages:
            return sum(block.search_text().lower().count(self.needle) for block in section.blocks)
        if section in self._sections_without_match:
            return 0
        count = sum(_text_of(message).lower().count(self.needle) for message in section.stored_messages)
        if not count:
            self._sections_without_match.add(section)
        return count

    def _matching_rows(self, section: int, index: int) -> list[Position]:
        # Rows that contain the text. A folded block is unfolded; a match wrapped over two rows counts as
        # being on the head row.
        block = self._layout.blocks_of(section)[index]
        if self.needle not in block.search_text().lower():
            return []
        rows = self._visible_rows(section, index)
        if not rows and block.is_folded and block.toggle():
            self._layout.remeasure(block)
            rows = self._visible_rows(section, index)
        return rows or ([Position(section, index, 0, block.head_gap)] if block.pieces else [])

    def _visible_rows(self, section: int, index: int) -> list[Position]:
        block = self._layout.blocks_of(section)[index]
        return [
            Position(section, index, number, row)
            for number, piece in enumerate(block.pieces)
            for row, line in enumerate(self._layout.render_piece(block, piece).lines)
            if self.needle in line.text.lower()
        ]


def _text_of(message: ConversationMessage) -> str:
    match message:
        case TextPart(text=text) | ThinkPart(think=text):
            return text
        case ToolCall(function=function):
            return f"{function.name} {function.arguments or ''}"
        case ToolResult(return_value=value):
            return f"{output_text(value.output)}\n{value.message if value.is_error else ''}"
        case TurnBegin(user_input=user_input) | SteerInput(user_input=user_input):
            return text_of(user_input)
        case Notification(title=title, body=body):
            return f"{title}\n{body}"
        case _:
            return ""
