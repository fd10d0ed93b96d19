"""Clickable key hints, wrapped into lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.widget import Widget

from kimi_tui.base.terminal_text import sanitize_line

_KEYS = {
    "slash": "/",
    "escape": "esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "pgup",
    "pagedown": "pgdn",
}
"""Display names of keys, shorter than Textual's names."""


@dataclass(frozen=True, slots=True)
class KeyHint:
    """A key, its description, and its action of an ancestor widget."""

    key: str
    label: str
    action: str
    style: str = ""

    @property
    def content(self) -> Content:
        """The rendered hint."""
        key = " ".join(_KEYS.get(part, part) for part in self.key.split(" "))
        style = self.style or "$text-muted"
        return Content.assemble(
            (sanitize_line(key), "bold $primary"), " ", (sanitize_line(self.label), style)
        )


class KeyHints(Widget):
    """Key hints, most important first. Hints that don't fit are left out."""

    DEFAULT_CSS = """
    KeyHints { height: auto; width: 1fr; }
    """
    ALLOW_SELECT: ClassVar[bool] = False
    _GAP = 2

    def __init__(self, hints: Sequence[KeyHint] = (), *, max_lines: int = 2, id_: str | None = None) -> None:
        super().__init__(id=id_)
        self._hints = tuple(hints)
        self.max_lines = max_lines
        self._hint_by_cell: dict[tuple[int, int], KeyHint] = {}
        """Hints by the line and column of each cell."""

    def show(self, hints: Sequence[KeyHint]) -> None:
        """Replace the hints."""
        self._hints = tuple(hints)
        self.refresh(layout=len(self._wrap_hints(self.size.width)) != self.size.height)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Return the number of lines."""
        return max(1, len(self._wrap_hints(width)))

    def render(self) -> Content:
        """Render the lines and record the cells of each hint."""
        self._hint_by_cell.clear()
        lines: list[Content] = []
        for number, line in enumerate(self._wrap_hints(self.size.width)):
            column = 0
            for hint in line:
                width = hint.content.cell_length
                self._hint_by_cell.update({(number, column + cell): hint for cell in range(width)})
                column += width + self._GAP
            lines.append(Content(" " * self._GAP).join(hint.content for hint in line))
        return Content("\n").join(lines)

    def _wrap_hints(self, width: int) -> list[list[KeyHint]]:
        lines: list[list[KeyHint]] = []
        free_cells = 0
        for hint in self._hints:
            cells = hint.content.cell_length
            if not lines or cells > free_cells:
                if len(lines) == self.max_lines:
                    continue
                lines.append([])
                free_cells = max(width, cells)
            lines[-1].append(hint)
            free_cells -= cells + self._GAP
        return lines

    async def on_click(self, event: events.Click) -> None:
        """Run the action of the clicked hint."""
        event.stop()
        hint = self._hint_by_cell.get((event.y, event.x))
        if hint is None:
            return
        name = hint.action.partition("(")[0]
        for node in self.ancestors:
            if hasattr(node, f"action_{name}"):
                await self.app.run_action(hint.action, node)
                return
