"""Prompts that wait for the running turn to end, listed above the prompt."""

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import say

_SHOWN = 3


class QueueList(Static):
    """The queue; it takes no room while it is empty."""

    DEFAULT_CSS = """
    QueueList { height: auto; display: none; }
    QueueList.-waiting { display: block; }
    """

    queue: reactive[tuple[str, ...]] = reactive(())
    """Oldest first."""

    class Clicked(Message):
        """The user wants the last one back, to edit it."""

    def on_click(self, event: events.Click) -> None:
        """As the key does that is named here."""
        event.stop()
        self.post_message(self.Clicked())

    def watch_queue(self, queue: tuple[str, ...]) -> None:
        """Draw it anew."""
        self.set_class(bool(queue), "-waiting")
        lines = [
            Content.assemble((f" {number} ", "$accent"), plain_line(text[:500]))
            for number, text in enumerate(queue[:_SHOWN], 1)
        ]
        if len(queue) > _SHOWN:
            lines.append(Content.styled(say("   and {count} more", count=len(queue) - _SHOWN), "$text-muted"))
        elif queue:
            lines[-1] = Content.assemble(
                lines[-1], (say("   ↑ in an empty prompt takes it back"), "$text-muted")
            )
        self.update(Content("\n").join(lines))
