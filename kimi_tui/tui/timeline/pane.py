"""The timeline pane: the tree, what is told of the marked row, a line to type in, and what one can do."""

from collections.abc import Callable, Sequence
from typing import Literal

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from kimi_tui.language.saying import say
from kimi_tui.tui.keys import TIMELINE_KEYS, KeyNames, bindings
from kimi_tui.tui.timeline.hints import Hint, Hints
from kimi_tui.tui.timeline.look import told, told_now
from kimi_tui.tui.timeline.rows import Row
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
        self._names = names
        self._wall_clock = wall_clock
        self._read_only = read_only
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
        self.query_one(Hints).show(self._hints())

    @property
    def _tall(self) -> bool:
        return self.size.height >= _TALL or self.size.height == 0

    def on_resize(self) -> None:
        """A low pane tells less."""
        height = self.size.height
        self.query_one(Hints).most_lines = 1 if height < _FLAT else 2 if height < _TALL else 4
        self.set_class(height < _TALL, "-low")
        self.tell()

    def _hints(self) -> Sequence[Hint]:
        view = self.view
        row, tree = view.marked, view.rows.tree
        hints: list[Hint] = []
        if not self.has_focus_within:
            return self._hints_from_afar()
        if row is None:
            hints += self._undo_hints()
            if tree.nodes:
                hints.append(Hint("↓", say("choose a moment"), "first"))
        elif row.kind != "origin" and self._read_only():
            hints += self._looking_hints(row)
        elif row.kind == "branch":
            hints += [
                self._hint("timeline.open", say("open"), "unfold"),
                self._hint("timeline.switch", say("go on with it"), "ask('switch')"),
                self._hint("timeline.look", say("read it"), "ask('look')"),
                self._hint("timeline.preview", say("compare"), "ask('preview')"),
                *self._undo_hints(),
            ]
        elif row.kind != "origin":
            hints += [
                self._hint("timeline.back", say("go back here"), "ask('back')", "bold"),
                self._hint("timeline.preview", say("compare"), "ask('preview')"),
                *self._undo_hints(),
                *self._branch_hints(row.uid),
                self._hint("timeline.conversation", say("conversation"), "ask('conversation')"),
                self._hint("timeline.files", say("files"), "ask('files')"),
                self._hint("timeline.turn", say("this turn"), "ask('turn')"),
                self._hint("timeline.name", say("name"), "ask('name')"),
                self._hint("timeline.mail", say("note"), "ask('mail')"),
                self._hint("timeline.compare", say("mark to compare"), "ask('compare')"),
                self._hint("timeline.fork", say("fork"), "ask('fork')"),
            ]
        hints.append(self._hint("timeline.filter", say("filter"), "ask('filter')"))
        hints.append(self._hint("timeline.leave", say("leave"), "ask('leave')"))
        return hints

    def _looking_hints(self, row: Row) -> list[Hint]:
        """What can be done where nothing may change."""
        hints = [self._hint("timeline.open", say("open"), "unfold")] if row.kind == "branch" else []
        hints.append(self._hint("timeline.preview", say("compare"), "ask('preview')", "bold"))
        if self.view.rows.tree.branch_at(row.uid) is not None:
            hints.append(self._hint("timeline.look", say("read it"), "ask('look')"))
        hints.append(self._hint("timeline.compare", say("mark to compare"), "ask('compare')"))
        return hints

    def _hints_from_afar(self) -> list[Hint]:
        """What works while the keyboard is in the prompt, where the pane's own keys are letters."""
        tree = self.view.rows.tree
        hints = [Hint(self._names.first("panes.timeline"), say("choose a moment"), "first", "bold")]
        if tree.redo:
            hints.insert(0, Hint("/redo", say("redo"), "ask('redo')", "bold"))
        if tree.undo:
            hints.insert(0, Hint("/undo", say("undo"), "ask('undo')", "bold"))
        return hints

    def _branch_hints(self, uid: str) -> list[Hint]:
        tree = self.view.rows.tree
        branch = tree.branch_at(uid)
        if branch is None:
            return []
        hints = [self._hint("timeline.look", say("read it"), "ask('look')")]
        if tree.nodes[uid].kind == "compaction":
            hints.append(self._hint("timeline.switch", say("undo the compaction"), "ask('switch')"))
        return hints

    def _undo_hints(self) -> list[Hint]:
        tree = self.view.rows.tree
        hints = []
        if tree.undo:
            hints.append(self._hint("timeline.undo", say("undo"), "ask('undo')", "bold"))
        if tree.redo:
            hints.append(self._hint("timeline.redo", say("redo"), "ask('redo')", "bold"))
        return hints

    def _hint(self, binding_id: str, label: str, action: str, style: str = "") -> Hint:
        return Hint(self._names.first(binding_id), label, action, style)

    # what is wanted

    def action_ask(self, wish: Wish | Literal["filter"]) -> None:
        """Do what a key or a hint says."""
        match wish:
            case "leave" if self._field is not None:
                self._close_field()
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
        if field is not None:
            field.remove()
