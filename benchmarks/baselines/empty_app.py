"""Empty Textual app: the minimum cost of the first frame."""

from textual.app import App, ComposeResult
from textual.widgets import Static


class Empty(App[None]):
    """Shows `ready`."""

    def compose(self) -> ComposeResult:
        """Create one line of text."""
        yield Static("ready")


if __name__ == "__main__":
    Empty().run()
