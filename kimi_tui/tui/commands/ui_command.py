"""A slash command of the screen."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost


@dataclass(frozen=True, slots=True, kw_only=True)
class UiCommand:
    """A slash command. `run` gets the host and the argument."""

    name: str
    summary: str
    run: Callable[[CommandHost, str], Awaitable[None]]
    aliases: tuple[str, ...] = ()
    argument: str = ""
    """The argument as shown in the help. Optional arguments are in brackets."""
    choices: Callable[[SessionViewState], Sequence[str]] | None = None
    """Returns the possible arguments."""
    completes: bool = False
    """Whether the engine completes the argument."""
    binding_id: str = ""
    """Id of the key binding that runs the command, perhaps with a common argument. Menus show its key."""

    @property
    def translated_summary(self) -> str:
        """The summary in the user's language."""
        return tr(self.summary)
