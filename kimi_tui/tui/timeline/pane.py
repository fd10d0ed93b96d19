"""Timeline pane: the checkpoint tree, details of the highlighted row, an input line and key hints."""

from typing import Literal

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import TIMELINE_KEYS
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.timeline.pane_hints import InputMode, PaneHints
from kimi_tui.tui.timeline.request import TimelineAction, TimelineRequestHandler
from kimi_tui.tui.timeline.row_renderer import describe_now, describe_row
from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.tui.widgets.closable_title import closable_title
from kimi_tui.tui.widgets.key_hints import KeyHints
from kimi_tui.wire.timeline import TimelineNode

_MEDIUM_ROWS, _TALL_ROWS = 12, 22
"""Minimum heights of the pane, in rows, for some and for all details."""
_MAX_HINT_LINES = 8
"""Maximum number of hint lines when the tree is short."""
_MAX_DETAIL_ROWS = 6
"""Maximum height of the details of a checkpoint."""


class TimelinePane(Vertical):
    """The pane. Requests that involve the engine or the conversation go to `handler`."""

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
        handler: TimelineRequestHandler,
        host: CommandHost,
        options: TuiOptions,
        key_labels: KeyLabels,
    ) -> None:
        super().__init__(id="timeline")
        self._handler = handler
        self._host = host
        self._options = options
        self._hints = PaneHints(key_labels, host=host)
        self._details = Content()
        self._field: Input | None = None
        """The input line. None while it is closed."""
        self._named_node: TimelineNode | None = None
        """The checkpoint that the user is naming. None while the input line is a filter."""

    def compose(self) -> ComposeResult:
        """Yield the tree, the details and the key hints."""
        yield TimelineView(handler=self._handler, wall_clock=self._options.wall_clock)
        yield Static(id="timeline-details", markup=False)
        yield KeyHints(max_lines=4)

    def on_mount(self) -> None:
        """Show the details of the current state and keep the ages up to date."""
        self.border_title = closable_title(tr("timeline"))
        self.set_interval(60, self._refresh_ages)
        self.refresh_details()

    def _refresh_ages(self) -> None:
        if self.display:
            self.view.refresh()

    # details and hints

    @on(TimelineView.Highlighted)
    def _handle_row_highlighted(self) -> None:
        self.refresh_details()
        if self.has_focus_within:
            self._handler.preview(self.view.highlighted_node)

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
        self.border_title = closable_title(
            tr("timeline: {count} found", count=count) if view.rows.query else tr("timeline")
        )
        hints = self._hints.build(view, input_mode=self._input_mode, has_focus=self.has_focus_within)
        key_hints = self.query_one(KeyHints)
        key_hints.max_lines = self._hint_lines
        key_hints.show(hints)

    @property
    def _hint_lines(self) -> int:
        """Maximum number of hint lines. Fewer in a low pane, more if the tree is short."""
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
        return "filter" if self._named_node is None else "name"

    # actions

    def action_hide(self) -> None:
        """Hide the pane."""
        self._handler.hide()

    def action_ask(self, action: TimelineAction | Literal["filter"]) -> None:
        """Run the action of a key or a hint."""
        node = self.view.highlighted_node
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
                self._open_input(tr("filter by text, file or tool"), self.view.rows.query)
            case "name" if node is not None and not self._host.state.read_only:
                title = tr("name of checkpoint {number} (empty to remove)", number=node.id)
                self._open_input(title, node.name, named_node=node)
            case "compare" if node is not None:
                self._compare(node)
            case _:
                self.view.request(action)

    def _compare(self, node: TimelineNode) -> None:
        """Mark a checkpoint, or compare it with the marked one."""
        view = self.view
        other = view.rows.tree.nodes.get(view.compare_uid)
        view.compare_uid = node.uid if other is None else ""
        if other is not None and other is not node:
            before, after = sorted((other, node), key=lambda each: each.id)
            view.request("compare", node=before, other_node=after)
        view.refresh()
        self.refresh_details()

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

    # input line

    def _open_input(self, placeholder: str, initial: str, *, named_node: TimelineNode | None = None) -> None:
        """Open the input line for the name of a checkpoint, or for a filter that applies while typing."""
        if self._field is not None:
            self._field.focus()
            return
        self._field = Input(initial, placeholder=placeholder)
        self._field.cursor_blink = False
        self._named_node = named_node
        self.mount(self._field, before="#timeline-details")
        self._field.focus()
        self.refresh_details()

    @on(Input.Changed)
    def _handle_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._input_mode == "filter":
            self.view.filter(event.value)

    @on(Input.Submitted)
    def _handle_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        node = self._named_node
        self._close_input(keep=True)
        if node is not None:
            self.view.request("name", node=node, name=event.value.strip())
        else:
            self.view.filter(event.value.strip())

    def on_key(self, event: events.Key) -> None:
        """Move through the matches with up and down while the filter is being typed."""
        if self._field is not None and self._field.has_focus and event.key in ("up", "down"):
            event.stop()
            self.view.action_move(-1 if event.key == "up" else 1)

    def _close_input(self, *, keep: bool = False) -> None:
        if not keep and self._input_mode == "filter":
            self.view.filter("")
        field, self._field, self._named_node = self._field, None, None
        self.view.focus()
        self.refresh_details()
        if field is not None:
            field.remove()
