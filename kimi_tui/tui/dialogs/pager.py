"""Pager: shows a text. A long text takes the full screen and has a search."""

from typing import Protocol

from rich.cells import cell_len
from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import PAGER_KEYS
from kimi_tui.tui.markdown.styled_line import StyledLine, text_style
from kimi_tui.tui.markdown.wrap import chop
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.tui.widgets.line_view import LineView

_MAX_SHORT_LINES = 16
_MAX_SHORT_CELLS = 66
"""Limits of a short text, which is shown in a panel that fits it."""


class TextCopier(Protocol):
    """Copies text to the clipboard."""

    def copy(self, text: str) -> None:
        """Copy `text` and show a notification."""


class Pager(ModalScreen[None]):
    """Shows `text` without formatting."""

    BINDINGS = bindings(PAGER_KEYS)

    view = getters.query_one(LineView)
    field = getters.query_one("#pager-query", Input)
    hints = getters.query_one(KeyHints)

    def __init__(self, *, title: str, text: str, copier: TextCopier, key_labels: KeyLabels) -> None:
        super().__init__()
        self._key_labels = key_labels
        self._title = sanitize_line(title)
        self._text = sanitize(text).expandtabs(8)
        self._copier = copier
        self._query = ""
        self._matches: list[int] = []
        self._current = 0
        rows = self._text.split("\n")
        self._is_short = len(rows) <= _MAX_SHORT_LINES and max(map(cell_len, rows)) <= _MAX_SHORT_CELLS
        self.set_class(self._is_short, "-short")

    def compose(self) -> ComposeResult:
        """Yield the title, the text, the search field and the key hints."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield LineView(self)
            field = Input(placeholder=tr("search"), id="pager-query", disabled=True)
            field.cursor_blink = False
            yield field
            yield KeyHints(
                [*([] if self._is_short else self._scroll_hints), self._copy_hint, self._close_hint]
            )

    def on_mount(self) -> None:
        """Fit the height of the panel to a short text."""
        if self._is_short:
            self.view.styles.height = self._text.count("\n") + 1

    @property
    def _scroll_hints(self) -> list[KeyHint]:
        labels = self._key_labels
        return [
            KeyHint(labels.preferred_key("pager.page_down", "space"), tr("page down"), "page(1)"),
            KeyHint(labels.preferred_key("pager.page_up", "b"), tr("page up"), "page(-1)"),
            KeyHint(labels.first_key("pager.search"), tr("search"), "search"),
        ]

    @property
    def _copy_hint(self) -> KeyHint:
        return KeyHint(self._key_labels.first_key("pager.copy"), tr("copy all"), "copy")

    @property
    def _close_hint(self) -> KeyHint:
        return KeyHint(self._key_labels.first_key("pager.close"), tr("close"), "close")

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the text, wrapped to `width` cells."""
        lines: list[StyledLine] = []
        for row in self._text.split("\n"):
            for number, piece in enumerate(chop([(row, text_style())], width)):
                lines.append(StyledLine(piece, "" if number else "\n"))
        return lines

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable letter keys while a query is being typed."""
        return action == "close" or self.field.disabled

    def action_close(self) -> None:
        """Close the search field if it is open, otherwise the pager."""
        if self.field.disabled:
            self.dismiss(None)
        else:
            self.field.disabled = True

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.view.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        self.view.scroll_relative(y=pages * max(self.view.size.height - 1, 1), animate=False)

    def action_edge(self, direction: int) -> None:
        """Scroll to the start or the end."""
        if direction < 0:
            self.view.scroll_home(animate=False)
        else:
            self.view.scroll_end(animate=False)

    def action_copy(self) -> None:
        """Copy the whole text."""
        self._copier.copy(self._text)

    def action_search(self) -> None:
        """Open the search field."""
        self.field.disabled = False
        self.field.focus()

    @on(Input.Submitted)
    def _search(self, event: Input.Submitted) -> None:
        self._query = event.value.lower()
        self.field.disabled = True
        top = round(self.view.scroll_offset.y)
        self._matches = [
            index
            for index, line in enumerate(self.view.lines)
            if self._query and self._query in line.text.lower()
        ]
        self._current = next((n for n, line in enumerate(self._matches) if line >= top), 0)
        self._show_match()

    def action_match(self, step: int) -> None:
        """Go to the next or the previous match."""
        if self._matches:
            self._current = (self._current + step) % len(self._matches)
            self._show_match()

    def _show_match(self) -> None:
        if self._matches:
            self.view.highlight_line(self._matches[self._current])
            position = tr("match {number} of {count}", number=self._current + 1, count=len(self._matches))
            previous_hint = KeyHint(
                self._key_labels.first_key("pager.previous"), tr("previous match"), "match(-1)"
            )
            next_hint = KeyHint(self._key_labels.first_key("pager.next"), position, "match(1)")
            self.hints.show([next_hint, previous_hint, self._close_hint])
        else:
            self.view.highlight_line(None)
            text = tr("“{query}” not found", query=sanitize_line(self._query))
            self.hints.show(
                [KeyHint(self._key_labels.first_key("pager.search"), text, "search"), self._close_hint]
            )
