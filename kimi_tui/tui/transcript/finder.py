"""Finding text in the conversation: where it stands, row by row, and how often."""

from collections.abc import Iterator

from kimi_tui.base.content import TextPart, ThinkPart, text_of
from kimi_tui.base.message import ToolCall
from kimi_tui.tui.transcript.blocks.output import output_text
from kimi_tui.tui.transcript.flow import Chapter, Flow, Place
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import Notification, SteerInput, ToolResult, TurnBegin


class Finder:
    """Steps from match to match of one text, ignoring case, around the end and back to the start."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self.needle = ""
        self.current: Place | None = None
        """The row of the match that was gone to last."""
        self._without: set[Chapter] = set()
        """Stored turns, which never change, that don't hold the text."""

    def search(self, text: str) -> int:
        """Look for `text` from now on; how often it occurs."""
        needle = text.lower()
        if not self.needle or self.needle not in needle:
            self._without.clear()
        self.needle = needle
        self.current = None
        if not self.needle:
            return 0
        return sum(self._count(chapter) for chapter in range(len(self._flow.chapters)))

    def step(self, direction: int, start: Place) -> Place | None:
        """The next match after the current one, or after `start`; None when there is none at all."""
        if not self.needle:
            return None
        here = self.current or start
        for lap in range(2):
            for place in self._matches(direction, here.chapter, whole=bool(lap)):
                if lap or self._is_ahead(place, here, direction):
                    self.current = place
                    return place
        return None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the text stands in a row, as character ranges."""
        lowered = text.lower()
        found: list[tuple[int, int]] = []
        start = lowered.find(self.needle) if self.needle else -1
        while start >= 0:
            found.append((start, start + len(self.needle)))
            start = lowered.find(self.needle, start + len(self.needle))
        return found

    def _is_ahead(self, place: Place, here: Place, direction: int) -> bool:
        if place == here:
            return self.current is None
        return place > here if direction > 0 else place < here

    def _matches(self, direction: int, chapter: int, *, whole: bool) -> Iterator[Place]:
        # Matches from `chapter` on in a direction; with `whole`, from the far end on.
        last = len(self._flow.chapters) - 1
        if whole:
            chapter = 0 if direction > 0 else last
        for index in range(chapter, last + 1) if direction > 0 else range(min(chapter, last), -1, -1):
            if not self._count(index):
                continue
            blocks = range(len(self._flow.blocks_of(index)))
            for block in blocks if direction > 0 else reversed(blocks):
                yield from self._rows(index, block)[::direction]

    def _count(self, index: int) -> int:
        # A stored turn is searched as the messages it is, without making blocks of them.
        chapter = self._flow.chapters[index]
        if not chapter.stored:
            return sum(block.searched().lower().count(self.needle) for block in chapter.blocks)
        if chapter in self._without:
            return 0
        count = sum(_text_of(message).lower().count(self.needle) for message in chapter.stored)
        if not count:
            self._without.add(chapter)
        return count

    def _rows(self, chapter: int, index: int) -> list[Place]:
        # The rows that show the text. A folded block opens; text broken over rows is found at its head.
        block = self._flow.blocks_of(chapter)[index]
        if self.needle not in block.searched().lower():
            return []
        rows = self._visible_rows(chapter, index)
        if not rows and block.folded and block.toggle():
            self._flow.recount(block)
            rows = self._visible_rows(chapter, index)
        return rows or ([Place(chapter, index, 0, block.head_gap)] if block.pieces else [])

    def _visible_rows(self, chapter: int, index: int) -> list[Place]:
        block = self._flow.blocks_of(chapter)[index]
        return [
            Place(chapter, index, number, row)
            for number, piece in enumerate(block.pieces)
            for row, line in enumerate(self._flow.picture(block, piece).lines)
            if self.needle in line.text.lower()
        ]


def _text_of(message: Outgoing) -> str:
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
