"""Key sequences that terminals send but Textual doesn't recognize.

Without the kitty keyboard protocol, alt+enter is sent as ESC CR, which Textual 8.2 reads as a plain enter.
xterm's modifyOtherKeys sends enter with modifiers as `CSI 27 ; modifiers ; 13 ~`.
"""

from collections.abc import MutableMapping
from enum import Enum
from typing import Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS


class _KeySequence(Enum):
    ALT_ENTER = "alt+enter"
    SHIFT_ENTER = "shift+enter"
    CTRL_ENTER = "ctrl+enter"


_SEQUENCES = {
    "\x1b\r": _KeySequence.ALT_ENTER,
    "\x1b\n": _KeySequence.ALT_ENTER,
    "\x1b[27;2;13~": _KeySequence.SHIFT_ENTER,
    "\x1b[27;3;13~": _KeySequence.ALT_ENTER,
    "\x1b[27;5;13~": _KeySequence.CTRL_ENTER,
}


def register_key_sequences() -> None:
    """Add the sequences to Textual's parser for the whole process."""
    known = cast("MutableMapping[str, Any]", ANSI_SEQUENCES_KEYS)
    for sequence, key in _SEQUENCES.items():
        known.setdefault(sequence, (key,))
