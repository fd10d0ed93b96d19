"""Runs the program in a fork of a process that has already imported it: startup takes a fifth of the time.

After startup, the program behaves as usual; only the interpreter's start and the imports are skipped. The
parent must have no threads and no test runner: see `tests/e2e/zygote.py`.
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

_THIRD_PARTY_MODULES = (
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
"""Third-party modules that the program imports while it runs."""
_SKIPPED_MODULES = ("kimi_tui.__main__", "kimi_tui.harbor", "kimi_tui.tools.web.")
"""Modules that run something on import, run in a separate process, or need an extra."""
_MAX_FILES = 1024


def prepare() -> None:
    """Import the program's modules and fill the caches that are filled on first use."""
    for name in (*_THIRD_PARTY_MODULES, *_own_modules()):
        importlib.import_module(name)
    for cls in [
        it for name in _own_modules() for it in vars(sys.modules[name]).values() if isinstance(it, type)
    ]:
        cls.__init__  # noqa: B018  # the methods of frozen classes are generated on first access
    for message_type in (*get_args(Event), *get_args(Request), *get_args(Answer)):
        with suppress(ValueError):
            decode({"type": message_type.__name__, "payload": {}})
    gc.collect()
    gc.freeze()


def _own_modules() -> list[str]:
    names = [it.name for it in pkgutil.walk_packages(kimi_tui.__path__, "kimi_tui.")]
    return [name for name in names if not name.startswith(_SKIPPED_MODULES)]


def fork_main(arguments: Sequence[str], environment: Mapping[str, str]) -> Callable[[], None]:
    """Return the function that a forked child calls instead of executing the program. It doesn't return."""

    def run() -> None:
        os.closerange(3, _MAX_FILES)
        gc.enable()
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["kimi-tui", *arguments]
        errors = "surrogateescape"  # as in the interpreter's own streams in the C.UTF-8 locale
        sys.stdin = sys.__stdin__ = os.fdopen(0, encoding="utf-8", errors=errors, closefd=False)
        sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8", errors=errors, closefd=False)
        sys.stderr = sys.__stderr__ = os.fdopen(
            2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False
        )
        os._exit(_run_program())

    return run


def _run_program() -> int:
    """Run the program and the interpreter's exit handlers. Return the exit code."""
    from kimi_tui.cli.main import run

    code: object = 1
    try:
        run()
    except SystemExit as exit_request:
        code = exit_request.code
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # as the interpreter does before it exits
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # the reader has closed the pipe
        return 120
    return code if isinstance(code, int) else int(code is not None)
