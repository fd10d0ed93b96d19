"""The dialog in which a branch is read: what was said on it since it left."""

from typing import get_args

from textual import getters
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.hints import Hint, Hints
from kimi_tui.tui.key_tables import BRANCH_KEYS
from kimi_tui.tui.keys import KeyNames, bindings
from kimi_tui.tui.transcript.transcript import Transcript
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import UnknownWireMessage, unwrap
from kimi_tui.wire.timeline import BranchContent, WireEnvelope


class BranchDialog(ModalScreen[bool]):
    """Shows a branch once it has come; True when the user wants to go on with it."""

    BINDINGS = bindings(BRANCH_KEYS)
    AUTO_FOCUS = "Transcript"

    transcript = getters.query_one(Transcript)

    def __init__(self, *, title: str, names: KeyNames, may_switch: bool) -> None:
        super().__init__()
        self._title = title
        self._names = names
        self._may_switch = may_switch

    def compose(self) -> ComposeResult:
        """Title, what was said, what one can do."""
        with Vertical(classes="dialog files-dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield Static(say("Reading …"), id="branch-summary", markup=False)
            yield Transcript()
            hints = [Hint(self._names.first("branch.close"), say("close"), "close")]
            if self._may_switch:
                switch = self._names.first("branch.switch")
                hints.insert(0, Hint(switch, say("go on with this branch"), "switch", "bold"))
            yield Hints(hints)

    def show_content(self, content: BranchContent) -> None:
        """Show what was said."""
        messages = [message for wrapped in content.events if (message := _opened(wrapped)) is not None]
        self.transcript.show_all(messages)
        summary = self.query_one("#branch-summary", Static)
        if content.summary:
            text = say("This summary took its place: {summary}", summary=plain(content.summary))
            summary.update(Content.styled(text, "$text-muted"))
        else:
            summary.display = not messages
            summary.update(Content.styled(say("Nothing was said on it."), "$text-muted"))

    def show_problem(self, text: str) -> None:
        """Say why it can't be read."""
        self.query_one("#branch-summary", Static).update(Content.styled(plain_line(retell(text)), "$warning"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where nothing may change, the key does nothing."""
        return self._may_switch or action != "switch"

    def action_switch(self) -> None:
        """Go on with this branch."""
        self.dismiss(True)

    def action_close(self) -> None:
        """Leave it."""
        self.dismiss(False)


def _opened(wrapped: WireEnvelope) -> Outgoing | None:
    try:
        message = unwrap(wrapped)
    except UnknownWireMessage:
        return None
    return message if isinstance(message, get_args(Outgoing)) else None
