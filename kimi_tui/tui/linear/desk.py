"""What the commands of the linear front work with."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from kimi_tui.base.value import value
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.commands import Command


@value
class SessionChange:
    """Which session takes the place of the one that is open: a new one unless it names one."""

    session_id: str | None = None
    fork: bool = False
    read_only: bool = False


class Desk(Protocol):
    """What a command may do."""

    work_dir: Path
    config_file: Path | None

    @property
    def state(self) -> ScreenState:
        """What is known of the session."""
        ...

    @property
    def results(self) -> Sequence[tuple[str, str]]:
        """What the latest tool calls gave back, the newest last, each with the words for its call."""
        ...

    @property
    def last_answer(self) -> str:
        """The latest answer; empty when there is none."""
        ...

    def tell(self, text: str) -> None:
        """Say something."""
        ...

    async def ask(self, prompt: str) -> str | None:
        """A line of the user's; None at the end of the input."""
        ...

    async def edit(self, text: str, name: str) -> str | None:
        """`text` as the user leaves it in their editor; None when it stays as it is."""
        ...

    async def carry_out(self, command: Command) -> bool:
        """Have the engine do something, and say what came of it; False when that is an error."""
        ...

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the engine has told what is waited for, but not for ever."""
        ...

    def attach(self, path: str) -> None:
        """Send a picture along with the next prompt. Raises KimiTuiError."""
        ...

    def write_next(self, text: str) -> None:
        """Send `text` as the next prompt."""
        ...

    def tell_past(self) -> None:
        """Say what was said before."""
        ...

    async def copy(self, text: str) -> None:
        """Put `text` on the clipboard and say so."""
        ...

    def leave(self, change: SessionChange | None = None) -> None:
        """End, or open another session."""
        ...
