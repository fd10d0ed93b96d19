"""An empty Textual app: what the first frame costs without us."""

from textual.app import App, ComposeResult
from textual.widgets import Static


class Empty(App[None]):
    """Shows `ready`."""

    def compose(self) -> ComposeResult:
        """One line of text."""
        yield Static("ready")


if __name__ == "__main__":
    Empty().run()
