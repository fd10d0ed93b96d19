"""The terminal, lent to another program while the app waits, or given back to the shell for a while."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual.app import App, SuspendNotSupported

from kimi_tui.base.errors import KimiTuiError

_lent: set[int] = set()


@contextmanager
def lent_terminal(app: App[Any]) -> Iterator[None]:
    """Give the terminal away until the end of the block; what the app would draw meanwhile waits for it.

    Raises KimiTuiError where that can't be done.
    """
    if app.is_headless:  # nobody looks at a terminal
        yield
        return
    _lent.add(id(app))
    try:
        with app.batch_update(), app.suspend():
            yield
    except SuspendNotSupported as error:
        raise KimiTuiError(
            "This terminal can't be lent to another program.", hint="Do it in another window."
        ) from error
    finally:
        _lent.discard(id(app))


def suspend(app: App[Any]) -> None:
    """Stop, as ctrl+z stops other programs, and give the terminal back to the shell; its `fg` goes on.

    The whole job is stopped, as the terminal would do it: what started this program waits for it as well.
    Raises KimiTuiError where no shell is there that could go on.
    """
    driver = app._driver
    if driver is None or not driver.can_suspend or not _has_shell():
        raise KimiTuiError(
            "No shell is behind kimi-tui that could go on with it.",
            hint="Start kimi-tui in a shell to suspend it there.",
        )
    app._suspend_signal()
    os.killpg(os.getpgrp(), signal.SIGTSTP)


def _has_shell() -> bool:
    # A shell that leads the session gives each job a process group; without one the job leads the session.
    return hasattr(os, "getsid") and os.getsid(0) != os.getpgrp()


def is_lent(app: App[Any]) -> bool:
    """Whether another program has the terminal: a ctrl+c is meant for that one."""
    return id(app) in _lent
