"""The program in a fork of this process, which has imported it already: a start costs a fifth.

What it does from its entry on is the same; what is left out is the interpreter's start and the imports. Only
for a process of its own that has no threads and no test runner in it: the zygote.
"""

import atexit
import gc
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence

_HEAVY = (
    "anthropic.resources.messages",
    "kimi_tui.cli.acp_front",
    "kimi_tui.cli.daemon_front",
    "kimi_tui.cli.print_front",
    "kimi_tui.cli.screen_front",
    "kimi_tui.cli.wire_front",
    "kimi_tui.engine.build",
    "kimi_tui.history.snapshots.file_history",
    "kimi_tui.llm.anthropic_messages",
    "kimi_tui.llm.openai_chat",
    "kimi_tui.llm.scripted",
    "kimi_tui.tools.mcp.connection",
    "kimi_tui.tui.app",
    "openai.resources.chat.completions",
)
_MOST_FILES = 1024


def prepare() -> None:
    """Import what the program imports, once."""
    for name in _HEAVY:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


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
