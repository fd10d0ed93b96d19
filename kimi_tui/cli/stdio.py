"""Exclusive access to the process's stdin and stdout, for front ends that serve a client on them."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.base.raw_input import RawInput


@contextmanager
def process_stdio(option: str) -> Iterator[tuple[RawInput, io.FileIO]]:
    """Yield the client's pipes, hidden from all other code. `option` is the one that started the front end.

    Anything that libraries or child processes print goes to stderr; reads from stdin return nothing. The
    input stays open, because a thread may still read from it. Raises UsageError.
    """
    if sys.stdin is None or sys.stdout is None:
        raise UsageError(
            "Standard input or output is closed.",
            hint=msg("Start kimi-tui {option} with pipes for both.", option=option),
        )
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2 if sys.stderr is not None else nothing, 1)
    os.close(nothing)
    with io.FileIO(outgoing, "w") as stdout:
        yield RawInput(incoming), stdout
