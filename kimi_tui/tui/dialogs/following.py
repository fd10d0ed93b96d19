"""A dialog that follows the state of the screen that opened it."""

from collections.abc import Callable
from typing import Generic, TypeVar

from textual.screen import ModalScreen, Screen

from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.commands import Command

Answer = TypeVar("Answer")


class FollowingDialog(ModalScreen[Answer], Generic[Answer]):
    """Sees the screen's state and gives commands; begins to follow when it is mounted."""

    def __init__(
        self,
        *,
        owner: Screen[object],
        state: Callable[[], ScreenState],
        command: Callable[[Command], None],
        names: KeyNames,
    ) -> None:
        super().__init__()
        self._owner = owner
        self._state = state
        self._command = command
        self._names = names
