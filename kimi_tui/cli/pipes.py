"""The process's own standard input and output, for a front end that serves a program on them."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kimi_tui.base.errors import UsageError
from kimi_tui.base.raw_input import RawInput


@contextmanager
def own_pipes(option: str) -> Iterator[tuple[RawInput, io.FileIO]]:
    """The client's pipes, out of everybody else's reach. `option` started the front end.

    What a library or a child process prints goes to stderr, and one that reads finds nothing. The end that is
    read from stays open: a thread may still read from it. Raises UsageError.
    """
    if sys.stdin is None or sys.stdout is None:
        raise UsageError(
            "Standard input or output is closed.", hint=f"Start kimi-tui {option} with a pipe on both."
        )
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2 if sys.stderr is not None else nothing, 1)
    os.close(nothing)
    with io.FileIO(outgoing, "w") as stdout:
        yield RawInput(incoming), stdout
