"""Timeline pane: the checkpoint tree, details of the highlighted row, an input line and key hints."""

from collections.abc import Callable
from typing import Literal

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import TIMELINE_KEYS
from kimi_tui.tui.timeline.pane_hints import InputMode, PaneHints
from kimi_tui.tui.timeline.row_renderer import describe_now, describe_row
from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.tui.widgets.key_hints import KeyHints
from kimi_tui.wire.timeline import TimelineNode

TimelineAction = Literal[
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
"""What the user can request for the highlighted row."""
_MEDIUM_ROWS, _TALL_ROWS = 12, 22
"""Minimum heights of the pane, in rows, for some and for all details."""
_MAX_HINT_LINES = 8
"""Maximum number of hint lines when the tree is short."""
_MAX_DETAIL_ROWS = 6
"""Maximum height of the details of a checkpoint."""


class TimelinePane(Vertical):
    """The pane. It passes actions that involve the engine to `request_action`."""

    DEFAULT_CSS = """
    TimelinePane { height: 1fr; }
    TimelinePane #timeline-details { height: auto; max-height: 6; }
    TimelinePane Input, TimelinePane Input:focus { height: 1; border: none; padding: 0; }
    """
    BINDINGS = bindings(TIMELINE_KEYS)
    BINDING_GROUP_TITLE = "Timeline"

    view = getters.query_one(TimelineView)

    def __init__(
        self,
        *,
        key_labels: KeyLabels,
        wall_clock: Callable[[], float],
        read_only: Callable[[], bool],
        request_action: Callable[[TimelineAction], None],
        notify_highlighted: Callable[[TimelineNode | None], None],
    ) -> None:
        """`request_action` is called with the action for the highlighted row.

        `notify_highlighted` is called with the highlighted checkpoint, or None for the current state.
        """
        super().__init__(id="timeline")
        self._hints = PaneHints(key_labels, read_only=read_only)
        self._wall_clock = wall_clock
        self._request_action = request_action
        self._notify_highlighted = notify_highlighted
        self._details = Content()
        self._field: Input | None = None
        self._submit_callback: Callable[[str], None] | None = None
        self._change_callback: Callable[[str], None] | None = None

    def compose(self) -> ComposeResult:
        """Yield the tree, the details and the key hints."""
        yield TimelineView(wall_clock=self._wall_clock)
        yield Static(id="timeline-details", markup=False)
        yield KeyHints(max_lines=4)

    def on_mount(self) -> None:
        """Show the details of the current state and keep the ages up to date."""
        self.border_title = Content(tr("timeline"))
        self.set_interval(60, self._refresh_ages)
        self.refresh_details()

    def _refresh_ages(self) -> None:
        if self.display:
            self.view.refresh()

    # details and hints

    @on(TimelineView.Highlighted)
    def _handle_row_highlighted(self) -> None:
        self.refresh_details()
        self._notify_highlighted(self.view.highlighted_node)

    @on(TimelineView.FocusMoved)
    @on(TimelineView.Changed)
    def refresh_details(self) -> None:
        """Update the details and key hints of the highlighted row."""
        view = self.view
        row = view.highlighted_row
        lines = (
            describe_row(row, view.rows, view.row_context)
            if row is not None
            else describe_now(view.rows.tree)
        )
        details = Content("\n").join(lines[: 4 if self._is_tall else 1])
        if not details.is_same(self._details):
            self._details = details
            self.query_one("#timeline-details", Static).update(details)
        count = len(view.rows.all)
        self.border_title = Content(
            tr("timeline: {count} found", count=count) if view.rows.query else tr("timeline")
        )
        hints = self._hints.build(view, input_mode=self._input_mode, has_focus=self.has_focus_within)
        key_hints = self.query_one(KeyHints)
        key_hints.max_lines = self._hint_lines
        key_hints.show(hints)

    @property
    def _hint_lines(self) -> int:
        """Maximum number of hint lines: few in a low pane, more if the tree leaves lines free."""
        height = self.size.height
        minimum = 1 if height < _MEDIUM_ROWS else 4 if self._is_tall else 2
        free = height - 1 - len(self.view.rows.all) - (_MAX_DETAIL_ROWS if self._is_tall else 1)
        return max(minimum, min(free - 1, _MAX_HINT_LINES))

    @property
    def _is_tall(self) -> bool:
        return self.size.height >= _TALL_ROWS or self.size.height == 0

    def on_resize(self) -> None:
        """Show fewer details in a low pane."""
        self.set_class(self.size.height < _TALL_ROWS, "-low")
        self.refresh_details()

    @property
    def _input_mode(self) -> InputMode | None:
        if self._field is None:
            return None
        return "filter" if self._change_callback is not None else "name"

    # actions

    def action_ask(self, action: TimelineAction | Literal["filter"]) -> None:
        """Run the action of a key or a hint."""
        match action:
            case "leave" if self._field is not None:
                self._close_input()
            case "leave" if self.view.compare_uid:
                self.view.compare_uid = ""
                self.view.refresh()
                self.refresh_details()
            case "leave" if self.view.rows.query:
                self.view.filter("")
            case "filter":
                self.open_input(
                    tr("filter by text, file or tool"),
                    self._apply_filter,
                    initial=self.view.rows.query,
                    filter_live=True,
                )
            case _:
                self._request_action(action)

    async def action_submit_input(self) -> None:
        """Submit the input line; runs when its hint is clicked."""
        if self._field is not None:
            await self._field.action_submit()

    def action_first(self) -> None:
        """Highlight the newest row."""
        self.view.focus()
        self.view.action_move(1)

    def action_unfold(self) -> None:
        """Expand or collapse the highlighted row."""
        row = self.view.highlighted_row
        if row is not None:
            self.view.action_fold(not self.view.rows.is_open(row))

    @on(TimelineView.Entered)
    def _handle_entered(self) -> None:
        node = self.view.highlighted_node
        if node is not None and node.kind == "compaction":
            self._request_action("look")

    @on(TimelineView.Opened)
    def _handle_opened(self) -> None:
        self._request_action("back")

    # input line

    def open_input(
        self,
        placeholder: str,
        on_submit: Callable[[str], None],
        *,
        initial: str = "",
        filter_live: bool = False,
    ) -> None:
        """Open an input line; with `filter_live`, filter the tree while the user types."""
        if self._field is not None:
            self._field.focus()
            return
        self._field = Input(initial, placeholder=placeholder)
        self._field.cursor_blink = False
        self._submit_callback, self._change_callback = on_submit, (self.view.filter if filter_live else None)
        self.mount(self._field, before="#timeline-details")
        self._field.focus()
        self.refresh_details()

    def _apply_filter(self, query: str) -> None:
        self.view.filter(query)

    @on(Input.Changed)
    def _handle_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._change_callback is not None:
            self._change_callback(event.value)

    @on(Input.Submitted)
    def _handle_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        on_submit = self._submit_callback
        self._close_input(keep=True)
        if on_submit is not None:
            on_submit(event.value.strip())

    def on_key(self, event: events.Key) -> None:
        """Move through the matches with up and down while the filter is being typed."""
        if self._field is not None and self._field.has_focus and event.key in ("up", "down"):
            event.stop()
            self.view.action_move(-1 if event.key == "up" else 1)

    def _close_input(self, *, keep: bool = False) -> None:
        field, self._field = self._field, None
        if not keep and self._change_callback is not None:
            self.view.filter("")
        self._submit_callback = self._change_callback = None
        self.view.focus()
        self.refresh_details()
        if field is not None:
            field.remove()
