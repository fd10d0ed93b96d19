"""The timeline pane: the tree, what is told of the marked row, a line to type in, and what one can do."""

from collections.abc import Callable
from typing import Literal

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from kimi_tui.language.saying import say
from kimi_tui.tui.hints import Hints
from kimi_tui.tui.key_tables import TIMELINE_KEYS
from kimi_tui.tui.keys import KeyNames, bindings
from kimi_tui.tui.timeline.look import told, told_now
from kimi_tui.tui.timeline.pane_hints import PaneHints, Typing
from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.wire.timeline import TimelineNode

Wish = Literal[
    "back",
    "preview",
    "conversation",
    "files",
    "turn",
    "undo",
    "redo",
    "switch",
    "look",
    "fork",
    "compare",
    "mail",
    "name",
    "leave",
]
"""What the user may want of the marked row."""
_FLAT, _TALL = 12, 22
"""Rows of the pane below which it tells little, and from which on it tells everything."""
_MOST_HINTS = 8
"""Lines of hints that a short tree leaves room for."""
_TOLD = 6
"""Rows that what is told of a checkpoint may take."""


class TimelinePane(Vertical):
    """The pane; what is wanted of the engine it passes on."""

    DEFAULT_CSS = """
    TimelinePane { height: 1fr; }
    TimelinePane #timeline-told { height: auto; max-height: 6; }
    TimelinePane Input, TimelinePane Input:focus { height: 1; border: none; padding: 0; }
    """
    BINDINGS = bindings(TIMELINE_KEYS)
    BINDING_GROUP_TITLE = "Timeline"

    view = getters.query_one(TimelineView)

    def __init__(
        self,
        *,
        names: KeyNames,
        wall_clock: Callable[[], float],
        read_only: Callable[[], bool],
        wish: Callable[[Wish], None],
        marked: Callable[[TimelineNode | None], None],
    ) -> None:
        """`wish` hears what is wanted of the marked row, `marked` which checkpoint that is; None is now."""
        super().__init__(id="timeline")
        self._hints = PaneHints(names, read_only=read_only)
        self._wall_clock = wall_clock
        self._wish = wish
        self._marked = marked
        self._told = Content()
        self._field: Input | None = None
        self._typed: Callable[[str], None] | None = None
        self._live: Callable[[str], None] | None = None

    def compose(self) -> ComposeResult:
        """Tree, details, hints."""
        yield TimelineView(wall_clock=self._wall_clock)
        yield Static(id="timeline-told", markup=False)
        yield Hints(most_lines=4)

    def on_mount(self) -> None:
        """Tell of now, and keep the ages true."""
        self.border_title = Content(say("timeline"))
        self.set_interval(60, self._grow_older)
        self.tell()

    def _grow_older(self) -> None:
        if self.display:
            self.view.refresh()

    # what is told

    @on(TimelineView.Marked)
    def _row_marked(self) -> None:
        self.tell()
        self._marked(self.view.node)

    @on(TimelineView.FocusMoved)
    @on(TimelineView.Changed)
    def tell(self) -> None:
        """Tell of the marked row, and what can be done with it."""
        view = self.view
        row = view.marked
        lines = told(row, view.rows, view.marks) if row is not None else told_now(view.rows.tree)
        words = Content("\n").join(lines[: 4 if self._tall else 1])
        if not words.is_same(self._told):
            self._told = words
            self.query_one("#timeline-told", Static).update(words)
        count = len(view.rows.all)
        self.border_title = Content(
            say("timeline: {count} found", count=count) if view.rows.query else say("timeline")
        )
        hints = self._hints.of(view, typing=self._typing, here=self.has_focus_within)
        shown = self.query_one(Hints)
        shown.most_lines = self._room_for_hints
        shown.show(hints)

    @property
    def _room_for_hints(self) -> int:
        """Lines: a low pane has few of them, but what the tree leaves free is theirs."""
        height = self.size.height
        least = 1 if height < _FLAT else 4 if self._tall else 2
        free = height - 1 - len(self.view.rows.all) - (_TOLD if self._tall else 1)
        return max(least, min(free - 1, _MOST_HINTS))

    @property
    def _tall(self) -> bool:
        return self.size.height >= _TALL or self.size.height == 0

    def on_resize(self) -> None:
        """A low pane tells less."""
        self.set_class(self.size.height < _TALL, "-low")
        self.tell()

    @property
    def _typing(self) -> Typing | None:
        if self._field is None:
            return None
        return "filter" if self._live is not None else "name"

    # what is wanted

    def action_ask(self, wish: Wish | Literal["filter"]) -> None:
        """Do what a key or a hint says."""
        match wish:
            case "leave" if self._field is not None:
                self._close_field()
            case "leave" if self.view.compared:
                self.view.compared = ""
                self.view.refresh()
                self.tell()
            case "leave" if self.view.rows.query:
                self.view.filter("")
            case "filter":
                self.ask_for(
                    say("filter by text, file or tool"),
                    self._keep_filter,
                    initial=self.view.rows.query,
                    live=True,
                )
            case _:
                self._wish(wish)

    async def action_keep(self) -> None:
        """Take what is typed: what a click on the hint does."""
        if self._field is not None:
            await self._field.action_submit()

    def action_first(self) -> None:
        """Go to the newest row."""
        self.view.focus()
        self.view.action_move(1)

    def action_unfold(self) -> None:
        """Open the marked row, or close it."""
        row = self.view.marked
        if row is not None:
            self.view.action_fold(not self.view.rows.shows_open(row))

    @on(TimelineView.Entered)
    def _entered(self) -> None:
        node = self.view.node
        if node is not None and node.kind == "compaction":
            self._wish("look")

    @on(TimelineView.Opened)
    def _opened(self) -> None:
        self._wish("back")

    # typing

    def ask_for(
        self, placeholder: str, typed: Callable[[str], None], *, initial: str = "", live: bool = False
    ) -> None:
        """Let the user type a line; with `live` the tree is filtered by it meanwhile."""
        if self._field is not None:
            self._field.focus()
            return
        self._field = Input(initial, placeholder=placeholder)
        self._field.cursor_blink = False
        self._typed, self._live = typed, (self.view.filter if live else None)
        self.mount(self._field, before="#timeline-told")
        self._field.focus()
        self.tell()

    def _keep_filter(self, query: str) -> None:
        self.view.filter(query)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._live is not None:
            self._live(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        typed = self._typed
        self._close_field(keep=True)
        if typed is not None:
            typed(event.value.strip())

    def on_key(self, event: events.Key) -> None:
        """Up and down move through what a filter found while it is typed."""
        if self._field is not None and self._field.has_focus and event.key in ("up", "down"):
            event.stop()
            self.view.action_move(-1 if event.key == "up" else 1)

    def _close_field(self, *, keep: bool = False) -> None:
        field, self._field = self._field, None
        if not keep and self._live is not None:
            self.view.filter("")
        self._typed = self._live = None
        self.view.focus()
        self.tell()
        if field is not None:
            field.remove()
