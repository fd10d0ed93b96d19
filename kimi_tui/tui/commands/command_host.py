"""Interface to the session and the screen for slash commands."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.tui.chosen_message import ChosenMessage
from kimi_tui.tui.dialogs.models import ModelChoice
from kimi_tui.tui.session_request import FleetVisit, SessionRequest
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.commands import Command
from kimi_tui.wire.session import SessionInfo
from kimi_tui.wire.timeline import RevertScope, TimelineNode

Severity = Literal["information", "warning", "error"]
PaneName = Literal["todo", "tools", "timeline"]
InfoPage = Literal["context", "cost", "checkpoints"]
"""A page of the panel about the session."""


class TimelineNavigator(Protocol):
    """The timeline actions that the commands run."""

    async def load_checkpoints(self) -> Sequence[TimelineNode]:
        """Return the checkpoints of the current branch, oldest first."""
        ...

    def show_number(self, number: int) -> None:
        """Show the pane and highlight the checkpoint with this number."""
        ...

    def revert_to_number(
        self, number: int | None, *, scope: RevertScope = "both", note: str = "", only: str = ""
    ) -> None:
        """Show the plan of a revert to a checkpoint, by default the last prompt, and run it if the user
        confirms.

        `note` is a message for the model. With `only`, only that file is restored.
        """
        ...

    def switch_to_number(self, number: int, *, to: int | None = None) -> None:
        """Show the plan of a switch to a branch and run it if the user confirms.

        With `to`, the branch is restored up to just before its checkpoint `to`.
        """
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

    def review_numbers(self, before: int | None, after: int | None) -> None:
        """Let the user review the changes between two checkpoints, by default since the last review."""
        ...

    def open_attempts(self, adopted: Sequence[int] = ()) -> None:
        """Let the user compare the attempts and adopt their changes.

        With `adopted`, show the plan that adopts these attempts, and run it if the user confirms.
        """
        ...


class CommandDialogs(Protocol):
    """The dialogs that commands open."""

    async def choose(self, title: str, choices: Sequence[Choice], *, hint: str = "") -> str | None:
        """Let the user choose. Return None if they cancel."""
        ...

    async def choose_model(self, session: SessionInfo) -> ModelChoice | None:
        """Let the user choose a model and its thinking level; return None if they cancel."""
        ...

    async def choose_theme(self) -> str | None:
        """Let the user choose a theme with a preview; return None if they cancel."""
        ...

    async def choose_command(self) -> str | None:
        """Let the user choose a command; return None if they cancel."""
        ...

    def show_help(self, content: Literal["all", "keys"], query: str = "") -> None:
        """Open the help, with `query` in its search."""
        ...

    def show_mcp(self) -> None:
        """Open the list of MCP servers."""
        ...

    def show_tasks(self) -> None:
        """Open the list of background tasks."""
        ...

    def show_permissions(self, *, only_unconfirmed: bool = False) -> None:
        """Open the list of permissions, or only the grants that need confirmation."""
        ...

    def search_conversation(self, text: str) -> None:
        """Search `text` in the conversation. If `text` is empty, let the user type it."""
        ...

    def show_text(self, title: str, text: str) -> None:
        """Open a text in the pager."""
        ...

    async def connect_model(self, service: str) -> None:
        """Let the user connect a model. With `service`, open the form of that service."""
        ...

    async def open_settings(self) -> None:
        """Let the user view and change settings."""
        ...

    async def choose_session(self, *, at_start: bool = False) -> SessionRequest | ChosenMessage | None:
        """Let the user choose a session or search a message. Return None if they cancel.

        `at_start`: the app has just opened.
        """
        ...

    async def choose_message(self, text: str) -> ChosenMessage | None:
        """Let the user search the messages of all sessions and choose one; return None if they cancel."""
        ...

    async def choose_running_session(self) -> SessionRequest | None:
        """Show the open sessions of this user; return a request for the one that the user opens, or None."""
        ...

    async def choose_fleet_task(self, database: Path) -> SessionRequest | None:
        """Show a fleet; return a request for the session of the task that the user opens, or None."""
        ...

    async def choose_agent(self, name: str) -> SessionRequest | None:
        """Let the user choose an agent. Highlight the agent `name` if it exists."""
        ...


class CommandHost(Protocol):
    """Interface to the session and the screen for slash commands."""

    @property
    def state(self) -> SessionViewState:
        """The state of the session."""
        ...

    @property
    def dialogs(self) -> CommandDialogs:
        """The dialogs that commands open."""
        ...

    @property
    def timeline(self) -> TimelineNavigator:
        """The timeline actions."""
        ...

    @property
    def wall_time(self) -> float:
        """The current time in seconds since the epoch."""
        ...

    def command(self, command: Command, *, scrolls: bool = True) -> None:
        """Send a command to the engine. With `scrolls`, scroll to the output of the command, if any."""
        ...

    def notify(self, message: str, *, severity: Severity = "information", topic: str = "") -> None:
        """Show a notification. It replaces an earlier notification about the same topic."""
        ...

    async def choose(self, title: str, choices: Sequence[Choice], *, hint: str = "") -> str | None:
        """Let the user choose; return None if they cancel."""
        ...

    def copy(self, text: str) -> None:
        """Copy `text` to the clipboard and notify the user."""
        ...

    def toggle_pane(self, name: PaneName) -> None:
        """Show or hide a pane."""
        ...

    def show_info(self, page: InfoPage) -> None:
        """Open the panel about the session."""
        ...

    @property
    def theme_name(self) -> str:
        """The current theme."""
        ...

    def use_theme(self, name: str) -> None:
        """Switch the theme and save the choice, or report why the theme can't be used."""
        ...

    def use_model(self, name: str) -> None:
        """Switch the model; save the choice if the config file defines the model."""
        ...

    @property
    def last_response(self) -> str:
        """The Markdown source of the last response, or an empty string."""
        ...

    def print_all(self) -> None:
        """Print the conversation to the terminal's scrollback."""
        ...

    async def attach_image(self, path: str) -> None:
        """Attach the image in a file to the prompt."""
        ...

    def insert_in_prompt(self, text: str) -> None:
        """Insert `text` at the cursor of the prompt."""
        ...

    async def edit_prompt(self) -> None:
        """Let the user edit the prompt in their own editor."""
        ...

    @property
    def facts(self) -> Sequence[tuple[str, str]]:
        """Names and values for the diagnostic information."""
        ...

    @property
    def log_tail(self) -> Sequence[str]:
        """The last lines of the log."""
        ...

    @property
    def fleet_visit(self) -> FleetVisit | None:
        """The open task of a fleet. None if the session isn't a fleet's task."""
        ...

    def open_session(self, request: SessionRequest) -> None:
        """Open another session."""
        ...

    def suspend(self) -> None:
        """Suspend the app until `fg`."""
        ...

    def leave(self) -> None:
        """Shut down the app."""
        ...
