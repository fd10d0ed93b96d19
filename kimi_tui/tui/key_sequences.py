"""Key sequences that terminals send and Textual does not know by itself.

Without the kitty keyboard protocol alt+enter comes as ESC CR, which Textual 8.2 reads as a plain enter;
xterm's modifyOtherKeys writes enter with modifiers as `CSI 27 ; modifiers ; 13 ~`.
"""

from collections.abc import MutableMapping
from enum import Enum
from typing import Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS


class _Extra(Enum):
    ALT_ENTER = "alt+enter"
    SHIFT_ENTER = "shift+enter"
    CTRL_ENTER = "ctrl+enter"


_SEQUENCES = {
    "\x1b\r": _Extra.ALT_ENTER,
    "\x1b\n": _Extra.ALT_ENTER,
    "\x1b[27;2;13~": _Extra.SHIFT_ENTER,
    "\x1b[27;3;13~": _Extra.ALT_ENTER,
    "\x1b[27;5;13~": _Extra.CTRL_ENTER,
}


def teach_key_sequences() -> None:
    """Let Textual's parser know them, for the whole process."""
    known = cast("MutableMapping[str, Any]", ANSI_SEQUENCES_KEYS)
    for sequence, key in _SEQUENCES.items():
        known.setdefault(sequence, (key,))
