"""Panel above the prompt with the context, the cost and the checkpoints of the session, a page each."""

from dataclasses import dataclass
from typing import ClassVar, get_args

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.commands.command_host import CommandHost, InfoPage
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import INFO_PANEL_KEYS
from kimi_tui.tui.panes.context_page import render_context_page
from kimi_tui.tui.panes.cost_page import render_cost_page
from kimi_tui.tui.widgets.choice_list import ChoiceList
from kimi_tui.tui.widgets.close_button import CloseButton
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.tui.widgets.tabs import Tab, Tabs
from kimi_tui.wire.commands import RunSlash

_PAGES: tuple[InfoPage, ...] = get_args(InfoPage)
_TITLES: dict[InfoPage, str] = {
    "context": tr_lazy("Context"),
    "cost": tr_lazy("Cost"),
    "checkpoints": tr_lazy("Checkpoints"),
}
_ACTION_PAGES: dict[str, InfoPage] = {
    "compact": "context",
    "revert": "checkpoints",
    "preview": "checkpoints",
    "show_in_timeline": "checkpoints",
    "list_uncovered": "checkpoints",
}
"""Page of each action that is available on only one page."""


class InfoText(Widget):
    """Text of the page that is open, laid out for the width."""

    DEFAULT_CSS = """
    InfoText { height: auto; }
    """
    ALLOW_SELECT: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._page: InfoPage = "context"
        self._state = SessionViewState()

    def show(self, page: InfoPage, state: SessionViewState) -> None:
        """Show a page for `state`."""
        self._page, self._state = page, state
        self.refresh(layout=True)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Return the number of lines."""
        return len(self._build_lines(width))

    def render(self) -> Content:
        """Render the lines."""
        return Content("\n").join(self._build_lines(self.size.width))

    def _build_lines(self, width: int) -> list[Content]:
        match self._page:
            case "context":
                return render_context_page(self._state, width)
            case "cost":
                return render_cost_page(self._state, width)
            case "checkpoints":
                return [Content.styled(tr("No checkpoints yet."), "$text-muted")]


class InfoPanel(Vertical, can_focus=True):
    """Shows one page. The user can switch to the other pages with a key or a click."""

    DEFAULT_CSS = """
    InfoPanel { height: auto; }
    InfoPanel > Horizontal { height: 1; }
    InfoPanel Tabs { width: 1fr; }
    InfoPanel VerticalScroll { height: auto; scrollbar-size-vertical: 1; }
    """
    BINDINGS = bindings(INFO_PANEL_KEYS)
    BINDING_GROUP_TITLE = "Context, cost and checkpoints"

    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)

    tabs = getters.query_one(Tabs)
    text = getters.query_one(InfoText)
    scroll = getters.query_one(VerticalScroll)
    choices = getters.query_one(ChoiceList)
    hints = getters.query_one(KeyHints)

    @dataclass
    class Closed(Message):
        """Posted when the user closes the panel."""

        returns_focus: bool = True
        """Whether the prompt gets the focus. False if another widget takes it."""

    def __init__(self, page: InfoPage, *, host: CommandHost, key_labels: KeyLabels) -> None:
        super().__init__()
        self._page = page
        self._host = host
        self._key_labels = key_labels

    def compose(self) -> ComposeResult:
        """Yield the tabs, the text, the list of checkpoints and the keys."""
        with Horizontal():
            yield Tabs()
            yield CloseButton()
        with VerticalScroll(can_focus=False):
            yield InfoText()
        yield ChoiceList()
        yield KeyHints()

    def on_mount(self) -> None:
        """Show the page."""
        self._draw()

    def show(self, page: InfoPage) -> None:
        """Show a page, with the latest values."""
        self._page = page
        if self.is_mounted:
            self._draw()

    def _draw(self) -> None:
        page = self._page
        self.tabs.show([(tr(_TITLES[it]), "open") for it in _PAGES], _PAGES.index(page))
        self.scroll.scroll_home(animate=False)
        self._show_list(is_shown=page == "checkpoints" and bool(self.choices.choices))
        self.text.show(page, self.state)
        self.hints.show(self._build_hints())
        self._request()

    def fit(self, rows: int) -> None:
        """Use at most `rows` rows."""
        free = max(rows - 2 - self.gutter.height, 3)
        self.scroll.styles.max_height = free
        self.choices.set_max_height(free)

    def watch_state(self, old: SessionViewState, state: SessionViewState) -> None:
        """Show the new values. Request values that have become outdated."""
        if not self.is_mounted:
            return
        self.text.show(self._page, state)
        if (old.context_tokens, old.usage, old.turn is None, old.last_step, old.is_replaying) != (
            state.context_tokens,
            state.usage,
            state.turn is None,
            state.last_step,
            state.is_replaying,
        ):
            self._request()

    def _request(self) -> None:
        session = self.state.session
        if self._page == "checkpoints":
            self.run_worker(self._load_checkpoints(), group="info", exclusive=True)
        elif session is not None and session.find_command(self._page) is not None:
            self._host.command(RunSlash(self._page), scrolls=False)

    async def _load_checkpoints(self) -> None:
        from kimi_tui.tui.panes.checkpoint_choices import checkpoint_choices  # imports the timeline

        nodes = await self._host.timeline.load_checkpoints()
        rows = checkpoint_choices(nodes, now=self._host.wall_time)
        if self.choices.choices:
            self.choices.replace(rows)
        else:
            self.choices.show(rows)
        self._show_list(is_shown=self._page == "checkpoints" and bool(rows))

    def _show_list(self, *, is_shown: bool) -> None:
        self.choices.display = is_shown
        self.scroll.display = not is_shown

    def _build_hints(self) -> list[KeyHint]:
        first = self._key_labels.first_key
        close = KeyHint(first("info.close"), tr("close"), "close")
        copy = KeyHint(first("info.copy"), tr("copy"), "copy")
        turn_page = KeyHint(f"{first('info.previous')} {first('info.next')}", tr("page"), "switch_page(1)")
        match self._page:
            case "context":
                compact = KeyHint(first("info.compact"), tr("compact now"), "compact")
                return [close, turn_page, compact, copy]
            case "cost":
                return [close, turn_page, copy]
            case "checkpoints":
                return [
                    close,
                    KeyHint(first("info.revert"), tr("revert"), "revert"),
                    KeyHint(first("info.preview"), tr("changes"), "preview"),
                    KeyHint(first("info.timeline"), tr("timeline"), "show_in_timeline"),
                    KeyHint(first("info.uncovered"), tr("files not covered"), "list_uncovered"),
                    turn_page,
                    copy,
                ]

    # keys and mouse

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the actions of other pages."""
        return _ACTION_PAGES.get(action, self._page) == self._page

    @property
    def _number(self) -> int | None:
        """The number of the highlighted checkpoint."""
        choice = self.choices.choice
        return int(choice.value) if choice is not None else None

    def action_close(self) -> None:
        """Close the panel."""
        self.post_message(self.Closed())

    def action_switch_page(self, step: int) -> None:
        """Show another page."""
        self.show(_PAGES[(_PAGES.index(self._page) + step) % len(_PAGES)])

    def action_move(self, lines: int) -> None:
        """Highlight another checkpoint, or scroll the text."""
        if self.choices.display:
            self.choices.move(lines)
        else:
            self.scroll.scroll_relative(y=lines, animate=False)

    def action_revert(self) -> None:
        """Show the plan of a revert to the highlighted checkpoint."""
        if self._number is not None:
            self._host.timeline.revert_to_number(self._number)

    def action_preview(self) -> None:
        """Show how the files differ between the highlighted checkpoint and now."""
        if self._number is not None:
            self._host.timeline.compare_numbers(self._number, None)

    def action_show_in_timeline(self) -> None:
        """Close the panel and show the highlighted checkpoint in the timeline."""
        if (number := self._number) is not None:
            self.post_message(self.Closed(returns_focus=False))
            self._host.timeline.show_number(number)

    def action_list_uncovered(self) -> None:
        """Print the checkpoints and the files that they don't cover in the conversation."""
        self.action_close()
        self._host.command(RunSlash("checkpoints"))

    def action_compact(self) -> None:
        """Compact the conversation."""
        self.action_close()
        self._host.command(RunSlash("compact"))

    def action_copy(self) -> None:
        """Copy the page as text."""
        if self.choices.display:
            lines = [f"{it.label}  {it.detail}  {it.note}".rstrip() for it in self.choices.choices]
            self._host.copy("\n".join(lines))
        else:
            self._host.copy(self.text.render().plain)

    @on(Tab.Chosen)
    def _handle_tab(self, event: Tab.Chosen) -> None:
        event.stop()
        self.show(_PAGES[event.index])

    @on(ChoiceList.Chosen)
    def _handle_click(self, event: ChoiceList.Chosen) -> None:
        event.stop()
        if event.was_highlighted:
            self.action_revert()
