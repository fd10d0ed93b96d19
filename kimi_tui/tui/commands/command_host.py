"""What slash commands can read of the session and do on the screen."""

from collections.abc import Sequence
from typing import Literal, Protocol

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.commands import Command
from kimi_tui.wire.timeline import RevertScope

Severity = Literal["information", "warning", "error"]
PaneName = Literal["todo", "tools", "timeline"]


class TimelineNavigator(Protocol):
    """The timeline actions that the commands run."""

    def revert_to_number(self, number: int, *, scope: RevertScope = "both") -> None:
        """Show the plan of a revert to a checkpoint and run it if the user confirms."""
        ...

    def undo_or_redo(self, action: Literal["undo", "redo"]) -> None:
        """Show the plan of an undo or a redo and run it if the user confirms."""
        ...

    def choose_branch(self) -> None:
        """Let the user choose a branch to switch to."""
        ...

    def compare_numbers(self, before: int | None, after: int | None) -> None:
        """Show how the files differ between two checkpoints, by default the last prompt's and now."""
        ...


class CommandHost(Protocol):
    """What commands can do to the screen."""

    @property
    def state(self) -> SessionViewState:
        """The state of the session."""
        ...

    def command(self, command: Command) -> None:
        """Send the engine a command."""
        ...

    def notify(self, message: str, *, severity: Severity = "information") -> None:
        """Show a notification."""
        ...

    async def choose(self, title: str, choices: Sequence[Choice], *, hint: str = "") -> str | None:
        """Let the user choose; return None if they cancel."""
        ...

    def show_help(self, topic: Literal["commands", "keys"]) -> None:
        """Open the help."""
        ...

    def show_mcp(self) -> None:
        """Open the list of MCP servers."""
        ...

    async def connect_model(self) -> None:
        """Let the user connect a model."""
        ...

    async def open_settings(self) -> None:
        """Let the user view and change settings."""
        ...

    def show_tasks(self) -> None:
        """Open the list of background tasks."""
        ...

    def toggle_pane(self, name: PaneName) -> None:
        """Show or hide a pane."""
        ...

    @property
    def timeline(self) -> TimelineNavigator:
        """The timeline actions."""
        ...

    @property
    def theme_name(self) -> str:
        """The current theme."""
        ...

    def use_theme(self, name: str) -> None:
        """Switch the theme and save the choice."""
        ...

    def use_model(self, name: str) -> None:
        """Switch the model; save the choice if the config file defines the model."""
        ...

    def copy(self, text: str) -> None:
        """Copy `text` to the clipboard and notify the user."""
        ...

    @property
    def last_response(self) -> str:
        """The Markdown source of the last response, or an empty string."""
        ...

    def leave(self) -> None:
        """Shut down the app."""
        ...
