"""Base dialog that follows the session state of the screen that opened it."""

from collections.abc import Callable
from typing import Generic, TypedDict, TypeVar, Unpack

from textual.screen import ModalScreen, Screen

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.wire.commands import Command

ResultT = TypeVar("ResultT")


class StateSource(TypedDict):
    """The screen that opened a dialog, as far as the dialog uses it."""

    owner: Screen[object]
    state: Callable[[], SessionViewState]
    command: Callable[[Command], None]
    key_labels: KeyLabels


class StateBoundDialog(ModalScreen[ResultT], Generic[ResultT]):
    """Reads the session state and sends commands. Subclasses watch the owner's `state` once they are
    mounted.
    """

    def __init__(self, **source: Unpack[StateSource]) -> None:
        super().__init__()
        self._owner = source["owner"]
        self._state = source["state"]
        self._command = source["command"]
        self._key_labels = source["key_labels"]
