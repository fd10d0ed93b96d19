"""Suspends the app to hand the terminal to another program or to the shell."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual.app import App, SuspendNotSupported

from kimi_tui.base.errors import KimiTuiError

_suspended_apps: set[int] = set()


@contextmanager
def suspend_app(app: App[Any]) -> Iterator[None]:
    """Hand the terminal over until the end of the block. Drawing waits until then.

    Raises KimiTuiError if the driver can't suspend the app.
    """
    if app.is_headless:  # there is no terminal
        yield
        return
    _suspended_apps.add(id(app))
    try:
        with app.batch_update(), app.suspend():
            yield
    except SuspendNotSupported as error:
        raise KimiTuiError(
            "This terminal can't be used by another program while kimi-tui runs.",
            hint="Use another terminal window.",
        ) from error
    finally:
        _suspended_apps.discard(id(app))


def suspend_to_shell(app: App[Any]) -> None:
    """Stop the process and return to the shell, as ctrl+z does in other programs. `fg` resumes the app.

    Stops the whole job, as the terminal would, including the program that started this one. Raises
    KimiTuiError if there is no shell to resume the job.
    """
    driver = app._driver
    if driver is None or not driver.can_suspend or not _has_shell():
        raise KimiTuiError(
            "Can't suspend kimi-tui: it wasn't started from a shell.",
            hint="Start kimi-tui from a shell to suspend it.",
        )
    app._suspend_signal()
    os.killpg(os.getpgrp(), signal.SIGTSTP)


def _has_shell() -> bool:
    # A shell leads the session and gives each job a process group. Without one, the job leads the session.
    return hasattr(os, "getsid") and os.getsid(0) != os.getpgrp()


def is_suspended(app: App[Any]) -> bool:
    """Return whether another program has the terminal. In that case, ctrl+c is for that program."""
    return id(app) in _suspended_apps
