"""The conversation on the screen: the welcome before it, the transcript, and the line that searches it."""

from collections.abc import Callable, Sequence

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical

from kimi_tui.tui.dialogs.pager import Pager
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.panes.search import SearchLine
from kimi_tui.tui.panes.welcome import Welcome
from kimi_tui.tui.transcript.transcript import Transcript
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import Notification, TurnBegin
from kimi_tui.wire.shell import ShellCommandBegin


class Conversation(Vertical):
    """Does what is wanted of a block: copies it, follows its link, shows it on the whole screen."""

    transcript = getters.query_one(Transcript)

    def __init__(self, *, names: KeyNames, clock: Callable[[], float], copy: Callable[[str], None]) -> None:
        super().__init__(id="conversation")
        self._names = names
        self._clock = clock
        self._copy = copy
        self._search_line: SearchLine | None = None

    def compose(self) -> ComposeResult:
        """The welcome, which the first words replace, and what is said."""
        yield Welcome(names=self._names)
        yield Transcript(clock=self._clock)

    def show(self, batch: Sequence[Outgoing]) -> None:
        """Show what arrived; the first words take the welcome's place."""
        if any(isinstance(message, TurnBegin | Notification | ShellCommandBegin) for message in batch):
            self.query(Welcome).remove()
        self.transcript.show_all(batch)

    # what is wanted of a block

    @on(Transcript.CopyWanted)
    def _copy_wanted(self, event: Transcript.CopyWanted) -> None:
        self._copy(event.text)

    @on(Transcript.PagerWanted)
    def _pager_wanted(self, event: Transcript.PagerWanted) -> None:
        self.open_pager(event.title, event.text)

    def open_pager(self, title: str, text: str) -> None:
        """Show a text on the whole screen."""
        self.app.push_screen(Pager(title=title, text=text, copy=self._copy, names=self._names))

    @on(Transcript.LinkClicked)
    def _link_clicked(self, event: Transcript.LinkClicked) -> None:
        if event.url.startswith(("http://", "https://", "mailto:")):
            self.app.open_url(event.url)
        else:
            self._copy(event.url)

    @on(Transcript.CommandWanted)
    async def _command_wanted(self, event: Transcript.CommandWanted) -> None:
        await self.app.run_action(f"screen.command('{event.name}')", self)

    # searching

    @on(Transcript.SearchWanted)
    async def open_search(self) -> None:
        """Let the user type what to search for."""
        if self._search_line is None:
            self._search_line = SearchLine()
            await self.mount(self._search_line)
        self._search_line.field.focus()

    @on(SearchLine.Searched)
    def _search(self, event: SearchLine.Searched) -> None:
        count = self.transcript.search(event.text)
        if self._search_line is not None:
            self._search_line.show_count(count)

    @on(SearchLine.Stepped)
    def _search_stepped(self, event: SearchLine.Stepped) -> None:
        self.transcript.next_match(event.direction)

    @on(SearchLine.Closed)
    async def _search_closed(self) -> None:
        self.transcript.focus()
        if self._search_line is not None:
            line, self._search_line = self._search_line, None
            await line.remove()
