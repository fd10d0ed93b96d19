"""What stands in the conversation before there is one."""

from textual.content import Content
from textual.widgets import Static

from kimi_tui.tui.keys import KeyNames

_LINES = (
    ("enter", "prompt.send", "sends, also while the agent works: then it waits its turn"),
    ("new line", "prompt.newline", "breaks the line, and so does shift+enter in most terminals"),
    ("/", "", "commands"),
    ("@", "", "names a file"),
    ("interrupt", "turn.interrupt", "stops the agent"),
    ("timeline", "panes.timeline", "goes back in time, and forth again"),
    ("help", "app.help", "lists every command and key"),
)


class Welcome(Static):
    """Who is there, and how to talk to it; gone with the first turn."""

    DEFAULT_CSS = """
    Welcome { height: auto; padding: 1 2; }
    """

    def __init__(self, *, names: KeyNames) -> None:
        rows = [
            Content.assemble(((names.first(key) if key else label).ljust(14), "$accent"), text)
            for label, key, text in _LINES
        ]
        head = Content.assemble(
            ("What shall we work on?\n", "bold"),
            (
                "The agent reads, edits and runs things in this folder.",
                "$text-muted",
            ),
        )
        super().__init__(Content("\n").join([head, Content(), *rows]))
