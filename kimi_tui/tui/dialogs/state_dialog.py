"""Base dialog that follows the session state of the screen that opened it."""

from typing import Generic, TypedDict, TypeVar, Unpack

from textual.screen import ModalScreen, Screen

from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import KeyLabels

ResultT = TypeVar("ResultT")


class StateSource(TypedDict):
    """Arguments of a dialog from the screen that opens it: the screen, its host and its key labels."""

    owner: Screen[object]
    host: CommandHost
    key_labels: KeyLabels


class StateBoundDialog(ModalScreen[ResultT], Generic[ResultT]):
    """Reads the session state and sends commands. Subclasses watch the owner's `state` once they are
    mounted.
    """

    def __init__(self, **source: Unpack[StateSource]) -> None:
        super().__init__()
        self._owner = source["owner"]
        self._host = source["host"]
        self._key_labels = source["key_labels"]
