"""A dialog that follows the state of the screen that opened it."""

from collections.abc import Callable
from typing import Generic, TypedDict, TypeVar, Unpack

from textual.screen import ModalScreen, Screen

from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.commands import Command

Answer = TypeVar("Answer")


class Followed(TypedDict):
    """What a dialog follows: the screen that opened it, and what that lends it."""

    owner: Screen[object]
    state: Callable[[], ScreenState]
    command: Callable[[Command], None]
    names: KeyNames


class FollowingDialog(ModalScreen[Answer], Generic[Answer]):
    """Sees the screen's state and gives commands; begins to follow when it is mounted."""

    def __init__(self, **followed: Unpack[Followed]) -> None:
        super().__init__()
        self._owner = followed["owner"]
        self._state = followed["state"]
        self._command = followed["command"]
        self._names = followed["names"]
