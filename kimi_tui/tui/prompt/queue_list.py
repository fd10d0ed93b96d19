"""List of queued prompts above the prompt."""

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr

_MAX_SHOWN = 3


class QueueList(Static):
    """Queued prompts. Hidden while the queue is empty."""

    DEFAULT_CSS = """
    QueueList { height: auto; display: none; }
    QueueList.-waiting { display: block; }
    """

    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)

    class Clicked(Message):
        """Posted when the user clicks the list to edit the last prompt."""

    def on_click(self, event: events.Click) -> None:
        """Do the same as the key that the list names."""
        event.stop()
        self.post_message(self.Clicked())

    def watch_state(self, old: SessionViewState, state: SessionViewState) -> None:
        """Redraw the list if the queue has changed."""
        if old.queue != state.queue:
            self._show(state.queue)

    def _show(self, queue: Sequence[str]) -> None:
        self.set_class(bool(queue), "-waiting")
        lines = [
            Content.assemble((f" {number} ", "$accent"), sanitize_line(text[:500]))
            for number, text in enumerate(queue[:_MAX_SHOWN], 1)
        ]
        if len(queue) > _MAX_SHOWN:
            lines.append(
                Content.styled(tr("   and {count} more", count=len(queue) - _MAX_SHOWN), "$text-muted")
            )
        elif queue:
            lines[-1] = Content.assemble(lines[-1], (tr("   ↑ in an empty prompt to edit it"), "$text-muted"))
        self.update(Content("\n").join(lines))
