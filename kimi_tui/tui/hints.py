"""Keys and what they do, in as many lines as there are; each can be clicked as well."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.widget import Widget

from kimi_tui.base.terminal import plain_line

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
"""Keys whose names are longer than what stands on them."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A key, what it does, and the action of the widget that holds the hints."""

    key: str
    label: str
    action: str
    style: str = ""

    @property
    def content(self) -> Content:
        """As it is drawn."""
        key = " ".join(_KEYS.get(part, part) for part in self.key.split(" "))
        style = self.style or "$text-muted"
        return Content.assemble((plain_line(key), "bold $primary"), " ", (plain_line(self.label), style))


class Hints(Widget):
    """Hints, the most important first; what does not fit is left out."""

    DEFAULT_CSS = """
    Hints { height: auto; width: 1fr; }
    """
    ALLOW_SELECT: ClassVar[bool] = False
    _GAP = 2

    def __init__(self, hints: Sequence[Hint] = (), *, most_lines: int = 2) -> None:
        super().__init__()
        self._hints = tuple(hints)
        self.most_lines = most_lines
        self._places: dict[tuple[int, int], Hint] = {}
        """By line and column of every cell that a hint takes."""

    def show(self, hints: Sequence[Hint]) -> None:
        """Show other hints."""
        self._hints = tuple(hints)
        self.refresh(layout=len(self._lines(self.size.width)) != self.size.height)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """As many lines as they take."""
        return max(1, len(self._lines(width)))

    def render(self) -> Content:
        """The lines, and where on them a click means what."""
        self._places.clear()
        drawn: list[Content] = []
        for number, line in enumerate(self._lines(self.size.width)):
            column = 0
            for hint in line:
                width = hint.content.cell_length
                self._places.update({(number, column + cell): hint for cell in range(width)})
                column += width + self._GAP
            drawn.append(Content(" " * self._GAP).join(hint.content for hint in line))
        return Content("\n").join(drawn)

    def _lines(self, width: int) -> list[list[Hint]]:
        lines: list[list[Hint]] = []
        room = 0
        for hint in self._hints:
            cells = hint.content.cell_length
            if not lines or cells > room:
                if len(lines) == self.most_lines:
                    continue
                lines.append([])
                room = max(width, cells)
            lines[-1].append(hint)
            room -= cells + self._GAP
        return lines

    async def on_click(self, event: events.Click) -> None:
        """Do what the key would."""
        event.stop()
        hint = self._places.get((event.y, event.x))
        if hint is None:
            return
        name = hint.action.partition("(")[0]
        for node in self.ancestors:
            if hasattr(node, f"action_{name}"):
                await self.app.run_action(hint.action, node)
                return
