"""Welcome text of an empty conversation."""

from textual.content import Content
from textual.widgets import Static

from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.keys.keymap import KeyLabels

_LINES = (
    ("enter", "prompt.send", tr_lazy("send a prompt; while the agent works, it is queued")),
    ("", "prompt.newline", tr_lazy("line break; shift+enter also works in most terminals")),
    ("/", "", tr_lazy("commands")),
    ("@", "", tr_lazy("mention a file")),
    ("interrupt", "turn.interrupt", tr_lazy("interrupt the agent")),
    ("timeline", "panes.timeline", tr_lazy("timeline: revert or redo")),
    ("help", "app.help", tr_lazy("list all commands and keys")),
)


class Welcome(Static):
    """Introduction to the agent and the most important keys. Removed when the first turn begins."""

    DEFAULT_CSS = """
    Welcome { height: auto; padding: 1 2; }
    """

    def __init__(self, *, key_labels: KeyLabels) -> None:
        rows = [
            Content.assemble(((key_labels.first_key(key) if key else label).ljust(14), "$accent"), tr(text))
            for label, key, text in _LINES
        ]
        head = Content.assemble(
            (tr("What do you want to work on?") + "\n", "bold"),
            (
                tr("The agent can read and edit files and run commands in this directory."),
                "$text-muted",
            ),
        )
        super().__init__(Content("\n").join([head, Content(), *rows]))
