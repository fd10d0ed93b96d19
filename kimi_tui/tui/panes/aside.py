"""The aside: a question beside the work, and its answer, until it is put away."""

from dataclasses import dataclass

from textual import events, getters
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Static

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.hints import Hint, Hints
from kimi_tui.tui.key_tables import ASIDE_KEYS
from kimi_tui.tui.keys import KeyNames, bindings
from kimi_tui.tui.line_view import LineView
from kimi_tui.tui.markdown.layout import markdown_lines
from kimi_tui.tui.markdown.line import Line, ink
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.wire.events import BtwBegin, BtwEnd


class Aside(Vertical, can_focus=True):
    """The newest side question. It is not part of the conversation, so it doesn't stand there."""

    DEFAULT_CSS = """
    Aside { height: auto; }
    Aside > Horizontal { height: 1; }
    Aside #aside-question { width: 1fr; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    Aside #aside-close { width: auto; height: 1; }
    Aside LineView { height: auto; }
    """
    BINDINGS = bindings(ASIDE_KEYS)

    view = getters.query_one(LineView)

    class Closed(Message):
        """The user has read it."""

    @dataclass
    class CopyWanted(Message):
        """The user wants the answer's Markdown."""

        text: str

    def __init__(self, begin: BtwBegin, *, names: KeyNames) -> None:
        super().__init__()
        self._names = names
        self._begin = begin
        self._end: BtwEnd | None = None

    def compose(self) -> ComposeResult:
        """The question, the answer, what one can do."""
        with Horizontal():
            yield Static(
                say("by the way: {question}", question=plain_line(self._begin.question)),
                id="aside-question",
                markup=False,
            )
            yield Static(" ✕ ", id="aside-close", markup=False)
        yield LineView(self._drawn)
        yield Hints(most_lines=1)

    def on_mount(self) -> None:
        """Say what one can do."""
        self._show_hint()

    @property
    def is_answered(self) -> bool:
        """Whether the answer is there."""
        return self._end is not None

    def finish(self, end: BtwEnd) -> None:
        """Show the answer to it, if it is one."""
        if end.id == self._begin.id:
            self._end = end
            if self.is_mounted:  # an answer may be as quick as the panel
                self.view.redraw()
                self._show_hint()

    def fit(self, rows: int) -> None:
        """Take at most `rows`."""
        self.view.styles.max_height = max(rows - 2 - self.gutter.height, 1)

    def _drawn(self, width: int) -> list[Line]:
        end = self._end
        if end is None:
            return wrap([(say("the model is thinking about it …"), ink("dim"))], width)
        if end.error is not None:
            return wrap([(plain_line(retell(end.error)), ink("failed"))], width)
        return markdown_lines(plain(end.response or ""), width)

    def _show_hint(self) -> None:
        hints = [
            Hint(
                self._names.first("aside.close"), say("puts it away · not kept in the conversation"), "close"
            )
        ]
        if self.is_answered:
            hints.insert(0, Hint(self._names.first("aside.copy"), say("copies"), "copy"))
            up, down = self._names.first("aside.up"), self._names.first("aside.down")
            hints.append(Hint(f"{up} {down}", say("scroll"), "scroll(1)"))
        self.query_one(Hints).show(hints)

    # keys and mouse

    def action_close(self) -> None:
        """Put it away."""
        self.post_message(self.Closed())

    def action_scroll(self, lines: int) -> None:
        """Scroll the answer."""
        self.view.scroll_relative(y=lines, animate=False)

    def action_copy(self) -> None:
        """Copy the answer."""
        if self._end is not None and self._end.response is not None:
            self.post_message(self.CopyWanted(self._end.response))

    def on_click(self, event: events.Click) -> None:
        """The cross puts it away."""
        if event.widget is not None and event.widget.id == "aside-close":
            event.stop()
            self.action_close()
