"""What stands in the conversation before there is one."""

from textual.content import Content
from textual.widgets import Static

from kimi_tui.language.saying import later, say
from kimi_tui.tui.keys import KeyNames

_LINES = (
    ("enter", "prompt.send", later("sends, also while the agent works: then it waits its turn")),
    ("", "prompt.newline", later("breaks the line, and so does shift+enter in most terminals")),
    ("/", "", later("commands")),
    ("@", "", later("names a file")),
    ("interrupt", "turn.interrupt", later("stops the agent")),
    ("timeline", "panes.timeline", later("goes back in time, and forth again")),
    ("help", "app.help", later("lists every command and key")),
)


class Welcome(Static):
    """Who is there, and how to talk to it; gone with the first turn."""

    DEFAULT_CSS = """
    Welcome { height: auto; padding: 1 2; }
    """

    def __init__(self, *, names: KeyNames) -> None:
        rows = [
            Content.assemble(((names.first(key) if key else label).ljust(14), "$accent"), say(text))
            for label, key, text in _LINES
        ]
        head = Content.assemble(
            (say("What shall we work on?") + "\n", "bold"),
            (
                say("The agent reads, edits and runs things in this folder."),
                "$text-muted",
            ),
        )
        super().__init__(Content("\n").join([head, Content(), *rows]))
