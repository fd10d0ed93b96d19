"""Search dialog: finds messages of all sessions, and opens their session or quotes them."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Unpack

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Static

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.text.message_passages import match_label, passage_line, speaker_name
from kimi_tui.i18n.translate import tr, tr_n
from kimi_tui.tui.chosen_message import ChosenMessage
from kimi_tui.tui.dialogs.state_dialog import StateBoundDialog, StateSource
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import MESSAGE_SEARCH_KEYS
from kimi_tui.tui.timeline.row_renderer import format_age
from kimi_tui.tui.widgets.choice_list import Choice, ChoiceList
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.wire.commands import SearchMessages
from kimi_tui.wire.message_search import MessageMatch, MessageMatches

_TYPING_PAUSE_S = 0.12
"""Seconds without a key press after which a search begins."""


class MessageSearchDialog(StateBoundDialog[ChosenMessage | None]):
    """Returns the chosen message, or None."""

    BINDINGS = bindings(MESSAGE_SEARCH_KEYS)
    AUTO_FOCUS = "Input"

    choices = getters.query_one(ChoiceList)
    field = getters.query_one("#message-search-query", Input)
    title_line = getters.query_one("#message-search-title", Static)
    passage = getters.query_one("#message-search-passage", Static)

    def __init__(
        self,
        text: str = "",
        *,
        wall_clock: Callable[[], float] = time.time,
        **source: Unpack[StateSource],
    ) -> None:
        super().__init__(**source)
        self._initial_text = text
        self._wall_clock = wall_clock
        self._searched_text = ""
        self._pause: Timer | None = None
        self._matches: MessageMatches | None = None

    def compose(self) -> ComposeResult:
        """Yield the title, the input field, the list, the highlighted message and the hints."""
        first = self._key_labels.first_key
        with Vertical(id="message-search", classes="dialog"):
            yield Static(
                tr("Search all sessions"), id="message-search-title", classes="dialog-title", markup=False
            )
            field = Input(
                self._initial_text, placeholder=tr("words, or “a phrase”"), id="message-search-query"
            )
            field.cursor_blink = False
            yield field
            yield ChoiceList()
            with VerticalScroll(id="message-search-preview", can_focus=False):
                yield Static(id="message-search-passage", markup=False)
            yield KeyHints(
                [
                    KeyHint("enter", tr("open at this checkpoint"), "open", "bold"),
                    KeyHint(first("message_search.quote"), tr("quote in the prompt"), "quote"),
                    KeyHint(first("message_search.scroll_down"), tr("scroll the message"), "scroll(5)"),
                    KeyHint(first("message_search.close"), tr("close"), "close"),
                ]
            )

    def on_mount(self) -> None:
        """Search for the initial text, and watch for the engine's replies."""
        self.watch(self._owner, "state", self._update_from_state, init=False)
        self.watch(self.choices, "highlighted", self._show_passage, init=False)
        self._search()

    def on_resize(self) -> None:
        """Divide the height between the list and the passage."""
        self.choices.set_max_height(self.size.height * 35 // 100)
        self._show_choices()

    # the search

    @on(Input.Changed)
    def _handle_typing(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(_TYPING_PAUSE_S, self._search)

    def _search(self) -> None:
        text = self.field.value.strip()
        if text != self._searched_text:
            self._searched_text = text
            self._host.command(SearchMessages(text))

    def _update_from_state(self, state: SessionViewState) -> None:
        matches = state.replies.message_matches
        if matches is not None and matches is not self._matches and matches.text == self._searched_text:
            self._matches = matches
            self._show_title(matches)
            self._show_choices()

    def _show_title(self, matches: MessageMatches) -> None:
        parts = [tr("Search all sessions")]
        if matches.text:
            count = len(matches.matches)
            parts.append(
                tr_n("the newest message", "the newest {count} messages", count)
                if matches.has_more
                else tr_n("{count} message", "{count} messages", count)
            )
        if matches.indexed < 1:
            parts.append(tr("indexing, {percent} %", percent=int(matches.indexed * 100)))
        self.title_line.update(" · ".join(parts))

    def _show_choices(self) -> None:
        matches = self._matches
        if matches is None:
            return
        highlighted = self.choices.highlighted
        width = max(self.size.width // 2, 20)
        self.choices.show(
            [
                Choice(
                    value=str(number),
                    label=sanitize_line(passage_line(match, width)),
                    detail=sanitize_line(match_label(match)),
                    note=format_age(self._wall_clock() - match.time) if match.time else "",
                )
                for number, match in enumerate(matches.matches)
            ]
        )
        if matches.matches:
            self.choices.highlighted = min(highlighted, len(matches.matches) - 1)
        self._show_passage()

    def _show_passage(self) -> None:
        match = self._highlighted_match
        if match is None:
            is_searched = self._matches is not None and self._matches.text and self._matches.indexed >= 1
            self.passage.update(tr("No message contains these words.") if is_searched else "")
            return
        heading = [speaker_name(match.speaker), match_label(match)]
        if match.work_dir:
            heading.append(Path(match.work_dir).name)
        self.passage.update(
            Content.assemble((sanitize_line(" · ".join(heading)), "$text-muted"), "\n", _highlight(match))
        )
        self.query_one("#message-search-preview").scroll_home(animate=False)

    @property
    def _highlighted_match(self) -> MessageMatch | None:
        choice = self.choices.choice
        if choice is None or self._matches is None:
            return None
        return self._matches.matches[int(choice.value)]

    # keys

    @on(Input.Submitted)
    def action_open(self) -> None:
        """Open the session of the highlighted message at its checkpoint."""
        self._choose("open")

    def action_quote(self) -> None:
        """Quote the highlighted message in the prompt."""
        self._choose("quote")

    @on(ChoiceList.Chosen)
    def _handle_click(self, event: ChoiceList.Chosen) -> None:
        if event.was_highlighted:
            self._choose("open")

    def _choose(self, action: Literal["open", "quote"]) -> None:
        if (match := self._highlighted_match) is not None:
            self.dismiss(ChosenMessage(match, action))

    def action_move(self, lines: int) -> None:
        """Move the highlight."""
        self.choices.move(lines)

    def action_scroll(self, lines: int) -> None:
        """Scroll the passage."""
        self.query_one("#message-search-preview").scroll_relative(y=lines, animate=False)

    def action_close(self) -> None:
        """Close the dialog."""
        self.dismiss(None)


def _highlight(match: MessageMatch) -> Content:
    """Return the passage with its matches marked, without control characters."""
    pieces: list[Content | str | tuple[str, str]] = []
    position = 0
    for start, end in match.matches:
        if start >= position:
            pieces.append(sanitize(match.passage[position:start]))
            pieces.append((sanitize(match.passage[start:end]), "bold $text-accent reverse"))
            position = end
    return Content.assemble(*pieces, sanitize(match.passage[position:]))
