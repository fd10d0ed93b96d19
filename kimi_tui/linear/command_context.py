"""Interface that the commands of linear mode use."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.frontend.running_session_service import RunningSessionService
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.wire.commands import Command


@frozen
class SessionSwitch:
    """The session to open instead of the current session. Without an id, a new session."""

    session_id: str | None = None
    fork: bool = False
    read_only: bool = False
    work_dir: Path | None = None
    """Working directory. None: the directory that the program was started in."""


class CommandContext(Protocol):
    """Interface to the session, the prompt and the terminal for commands."""

    work_dir: Path
    config_file: Path | None
    running_sessions: RunningSessionService | None
    """The open sessions of this user. None if only one session can be opened."""

    @property
    def state(self) -> SessionViewState:
        """Current state of the session."""
        ...

    @property
    def results(self) -> Sequence[tuple[str, str]]:
        """Summaries and outputs of the latest tool calls, newest last."""
        ...

    @property
    def last_response(self) -> str:
        """The latest response, or an empty string."""
        ...

    def write_line(self, text: str) -> None:
        """Print `text`."""
        ...

    async def ask(self, prompt: str) -> str | None:
        """Prompt for a line. Return None at the end of the input."""
        ...

    async def edit(self, text: str, name: str) -> str | None:
        """Let the user edit `text` in their editor. Return the new text, or None if it is unchanged."""
        ...

    def command(self, command: Command) -> None:
        """Send `command` without waiting for it. Its results are printed when they arrive."""
        ...

    async def command_and_wait(self, command: Command) -> bool:
        """Send `command`, wait for it and print its results. Return False if it reported an error."""
        ...

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until `condition` holds, the session closes or a timeout expires."""
        ...

    def attach_image(self, path: str) -> None:
        """Attach an image to the next prompt. Raises KimiTuiError."""
        ...

    def queue_prompt(self, text: str) -> None:
        """Send `text` as the next prompt."""
        ...

    def show_transcript(self) -> None:
        """Print the conversation from before this run."""
        ...

    async def copy(self, text: str) -> None:
        """Copy `text` to the clipboard and report it."""
        ...

    def leave(self, switch: SessionSwitch | None = None) -> None:
        """Exit, or open another session."""
        ...
