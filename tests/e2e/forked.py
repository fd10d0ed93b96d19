"""The program in a fork of this process, which has imported it already: a start costs a fifth.

What it does from its entry on is the same; what is left out is the interpreter's start and the imports. Only
for a process of its own that has no threads and no test runner in it: the zygote.
"""

import atexit
import gc
import importlib
import os
import pkgutil
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import get_args

import kimi_tui
from kimi_tui.wire.codec import decode
from kimi_tui.wire.events import Event
from kimi_tui.wire.requests import Answer, Request

_THEIRS = (
    "anthropic.resources.messages",
    "markdown_it",
    "openai.resources.chat.completions",
    "pygments.lexers.python",
    "rich.cells",
    "textual.drivers.linux_driver",
    "textual.layouts.factory",
    "textual.pilot",
    "textual.scrollbar",
)
"""What the program imports of others while it runs."""
_NOT_OURS_TO_LOAD = ("kimi_tui.__main__", "kimi_tui.tools.web.")
"""Modules that run something, or are loaded in a process of their own."""
_MOST_FILES = 1024


def prepare() -> None:
    """Import what the program imports, and work out what it works out when it is first asked for."""
    for name in (*_THEIRS, *_ours()):
        importlib.import_module(name)
    for cls in [it for name in _ours() for it in vars(sys.modules[name]).values() if isinstance(it, type)]:
        cls.__init__  # noqa: B018  # a value's methods are made when they are asked for
    for spoken in (*get_args(Event), *get_args(Request), *get_args(Answer)):
        with suppress(ValueError):
            decode({"type": spoken.__name__, "payload": {}})
    gc.collect()
    gc.freeze()


def _ours() -> list[str]:
    names = [it.name for it in pkgutil.walk_packages(kimi_tui.__path__, "kimi_tui.")]
    return [name for name in names if not name.startswith(_NOT_OURS_TO_LOAD)]


def in_fork(arguments: Sequence[str], environment: Mapping[str, str]) -> Callable[[], None]:
    """What a forked child calls in place of executing the program. It doesn't return."""

    def run() -> None:
        os.closerange(3, _MOST_FILES)
        gc.enable()
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["kimi-tui", *arguments]
        lenient = "surrogateescape"  # as the interpreter's own streams are in the C.UTF-8 locale
        sys.stdin = sys.__stdin__ = os.fdopen(0, encoding="utf-8", errors=lenient, closefd=False)
        sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8", errors=lenient, closefd=False)
        sys.stderr = sys.__stderr__ = os.fdopen(
            2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False
        )
        os._exit(_code())

    return run


def _code() -> int:
    from kimi_tui.cli.main import run

    code: object = 1
    try:
        run()
    except SystemExit as end:
        code = end.code
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # as the interpreter does before it ends
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # nobody reads any more
        return 120
    return code if isinstance(code, int) else int(code is not None)
