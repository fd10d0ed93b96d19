"""The conversation: the welcome text, the transcript, and the search input."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget

from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.tui.dialogs.pager import Pager, TextCopier
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.panes.search_line import SearchLine
from kimi_tui.tui.panes.welcome import Welcome
from kimi_tui.tui.transcript.transcript import Transcript
from kimi_tui.wire.events import Notification, TurnBegin
from kimi_tui.wire.user_shell import ShellCommandBegin


class ConversationPane(Vertical):
    """Shows the transcript and handles the actions of its blocks: copy, open a link, open in the pager."""

    def __init__(self, *, transcript: Transcript, key_labels: KeyLabels, copier: TextCopier) -> None:
        super().__init__(id="conversation")
        self.transcript = transcript
        self._key_labels = key_labels
        self._copier = copier
        self._search_line: SearchLine | None = None
        self._match_count = 0
        self._focused_before_search: Widget | None = None

    def compose(self) -> ComposeResult:
        """Yield the welcome text, which the first turn replaces, and the transcript."""
        yield Welcome(key_labels=self._key_labels)
        yield self.transcript

    def show(self, batch: MessageBatch) -> None:
        """Show new messages. The first turn removes the welcome text."""
        if batch.has_any(TurnBegin, Notification, ShellCommandBegin):
            self.query(Welcome).remove()
        self.transcript.show_all(batch.conversation)

    # block actions

    @on(Transcript.CopyRequested)
    def _handle_copy_requested(self, event: Transcript.CopyRequested) -> None:
        self._copier.copy(event.text)

    @on(Transcript.PagerRequested)
    def _handle_pager_requested(self, event: Transcript.PagerRequested) -> None:
        self.open_pager(event.title, event.text)

    def open_pager(self, title: str, text: str) -> None:
        """Open `text` in the pager."""
        self.app.push_screen(Pager(title=title, text=text, copier=self._copier, key_labels=self._key_labels))

    @on(Transcript.LinkClicked)
    def _handle_link_clicked(self, event: Transcript.LinkClicked) -> None:
        if event.url.startswith(("http://", "https://", "mailto:")):
            self.app.open_url(event.url)
        else:
            self._copier.copy(event.url)

    @on(Transcript.CommandRequested)
    async def _handle_command_requested(self, event: Transcript.CommandRequested) -> None:
        await self.app.run_action(f"screen.command('{event.name}')", self)

    # search

    @on(Transcript.SearchRequested)
    async def _handle_search_requested(self) -> None:
        await self.open_search()

    async def open_search(self, text: str = "") -> None:
        """Open the search input, and search `text` unless it is empty."""
        if self._search_line is None:
            self._focused_before_search = self.screen.focused
            self._search_line = SearchLine()
            await self.mount(self._search_line)
        if text:
            self._search_line.field.value = text
        self._search_line.field.focus()

    @on(SearchLine.Searched)
    def _search(self, event: SearchLine.Searched) -> None:
        self._match_count = self.transcript.search(event.text)
        self._show_match()

    @on(SearchLine.Stepped)
    def _handle_search_stepped(self, event: SearchLine.Stepped) -> None:
        self.transcript.next_match(event.direction)
        self._show_match()

    def _show_match(self) -> None:
        if self._search_line is not None:
            number = min(self.transcript.match_number, self._match_count)
            self._search_line.show_count(self._match_count, number)

    @on(SearchLine.Closed)
    async def _close_search(self) -> None:
        previous = self._focused_before_search
        (previous if previous is not None and previous.is_attached else self.transcript).focus()
        if self._search_line is not None:
            line, self._search_line = self._search_line, None
            await line.remove()
