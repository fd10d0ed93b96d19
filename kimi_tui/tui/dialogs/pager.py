"""The pager: a long text on the whole screen, with search."""

from collections.abc import Callable

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import say
from kimi_tui.tui.hints import Hint, Hints
from kimi_tui.tui.key_tables import PAGER_KEYS
from kimi_tui.tui.keys import KeyNames, bindings
from kimi_tui.tui.line_view import LineView
from kimi_tui.tui.markdown.line import Line, ink
from kimi_tui.tui.markdown.wrap import chop


class Pager(ModalScreen[None]):
    """Read `text`; it is shown as it is."""

    BINDINGS = bindings(PAGER_KEYS)

    view = getters.query_one(LineView)
    field = getters.query_one("#pager-query", Input)
    hints = getters.query_one(Hints)

    def __init__(self, *, title: str, text: str, copy: Callable[[str], None], names: KeyNames) -> None:
        super().__init__()
        self._names = names
        self._title = plain_line(title)
        self._text = plain(text).expandtabs(8)
        self._copy = copy
        self._query = ""
        self._matches: list[int] = []
        self._current = 0

    def compose(self) -> ComposeResult:
        """Title, text, search."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield LineView(self._drawn)
            field = Input(placeholder=say("search for"), id="pager-query", disabled=True)
            field.cursor_blink = False
            yield field
            yield Hints(
                [
                    Hint(self._names.one("pager.page_down", "space"), say("a page down"), "page(1)"),
                    Hint(self._names.one("pager.page_up", "b"), say("a page up"), "page(-1)"),
                    Hint(self._names.first("pager.search"), say("search"), "search"),
                    Hint(self._names.first("pager.copy"), say("copy all of it"), "copy"),
                    self._close,
                ]
            )

    @property
    def _close(self) -> Hint:
        return Hint(self._names.first("pager.close"), say("close"), "close")

    def _drawn(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for row in self._text.split("\n"):
            for number, piece in enumerate(chop([(row, ink())], width)):
                lines.append(Line(piece, "" if number else "\n"))
        return lines

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a query is typed, letters are letters."""
        return action == "close" or self.field.disabled

    def action_close(self) -> None:
        """Leave the search, else the pager."""
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
        """Go to the beginning or the end."""
        if direction < 0:
            self.view.scroll_home(animate=False)
        else:
            self.view.scroll_end(animate=False)

    def action_copy(self) -> None:
        """Copy all of the text."""
        self._copy(self._text)

    def action_search(self) -> None:
        """Type what to look for."""
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
        self._go()

    def action_match(self, step: int) -> None:
        """Go to the next match, or the one before."""
        if self._matches:
            self._current = (self._current + step) % len(self._matches)
            self._go()

    def _go(self) -> None:
        if self._matches:
            self.view.mark(self._matches[self._current])
            found = say("match {number} of {count}", number=self._current + 1, count=len(self._matches))
            before = Hint(self._names.first("pager.previous"), say("the match before"), "match(-1)")
            after = Hint(self._names.first("pager.next"), found, "match(1)")
            self.hints.show([after, before, self._close])
        else:
            self.view.mark(None)
            words = say("“{query}” is not in the text", query=plain_line(self._query))
            self.hints.show([Hint(self._names.first("pager.search"), words, "search"), self._close])
