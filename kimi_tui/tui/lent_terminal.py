"""The terminal, lent to another program while the app waits."""

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


def is_lent(app: App[Any]) -> bool:
    """Whether another program has the terminal: a ctrl+c is meant for that one."""
    return id(app) in _lent
