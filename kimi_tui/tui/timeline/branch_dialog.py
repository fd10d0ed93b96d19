"""Dialog that shows the messages of a branch."""

from textual import getters
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.message_batch import ConversationMessage, is_conversation_message
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import BRANCH_KEYS
from kimi_tui.tui.timeline.query_dialog import QueryDialog, Reply, TimelineQueries
from kimi_tui.tui.transcript.transcript import Transcript
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.wire.codec import UnknownWireMessage, unwrap
from kimi_tui.wire.commands import ReadBranch
from kimi_tui.wire.timeline import BranchContent, TimelineBranch, WireEnvelope


class BranchDialog(QueryDialog[bool]):
    """Shows a branch once its content arrives. Returns True if the user wants to switch to it."""

    BINDINGS = bindings(BRANCH_KEYS)
    AUTO_FOCUS = "Transcript"

    transcript = getters.query_one(Transcript)

    def __init__(
        self,
        branch: TimelineBranch,
        *,
        title: str,
        can_switch: bool,
        queries: TimelineQueries,
        key_labels: KeyLabels,
    ) -> None:
        super().__init__(title=title, queries=queries, key_labels=key_labels)
        self._branch = branch
        self._can_switch = can_switch

    def compose(self) -> ComposeResult:
        """Yield the title, the transcript and the key hints."""
        with Vertical(classes="dialog files-dialog"):
            yield Static(self._dialog_title, classes="dialog-title", markup=False)
            yield Static(tr("Loading …"), id="branch-summary", markup=False)
            yield Transcript()
            hints = [KeyHint(self.key_labels.first_key("branch.close"), tr("close"), "close")]
            if self._can_switch:
                switch_key = self.key_labels.first_key("branch.switch")
                hints.insert(0, KeyHint(switch_key, tr("switch to this branch"), "switch", "bold"))
            yield KeyHints(hints)

    def on_mount(self) -> None:
        """Request the messages."""
        self._queries.ask(ReadBranch(self._branch.number))

    def show_reply(self, reply: Reply) -> None:
        """Show the messages of the branch."""
        if isinstance(reply, BranchContent):
            self._show_content(reply)

    def _show_content(self, content: BranchContent) -> None:
        messages = [
            message for envelope in content.events if (message := _unwrap_event(envelope)) is not None
        ]
        self.transcript.show_all(messages)
        summary = self.query_one("#branch-summary", Static)
        if content.summary:
            text = tr("Replaced by this summary: {summary}", summary=sanitize(content.summary))
            summary.update(Content.styled(text, "$text-muted"))
        else:
            summary.display = not messages
            summary.update(Content.styled(tr("This branch has no messages."), "$text-muted"))

    def show_problem(self, text: str) -> None:
        """Show why the branch can't be read."""
        self.query_one("#branch-summary", Static).update(
            Content.styled(sanitize_line(translate_message(text)), "$warning")
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the switch key in a read-only session."""
        return self._can_switch or action != "switch"

    def action_switch(self) -> None:
        """Close the dialog and switch to this branch."""
        self.dismiss(True)

    def action_close(self) -> None:
        """Close the dialog."""
        self.dismiss(False)


def _unwrap_event(envelope: WireEnvelope) -> ConversationMessage | None:
    try:
        message = unwrap(envelope)
    except UnknownWireMessage:
        return None
    return message if is_conversation_message(message) else None
