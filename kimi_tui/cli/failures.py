"""Telling the user what ended the process: two sentences on stderr, and the rest in the log."""

import logging
import os
import sys
import traceback
from collections.abc import Sequence

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.exit_codes import ExitCode, exit_code_of
from kimi_tui.base.logging import is_logging, log_path, start_logging
from kimi_tui.base.paths import share_dir
from kimi_tui.base.secrets import blacked_out, fit_to_share, keep_hidden, secrets_in
from kimi_tui.base.terminal import plain
from kimi_tui.cli.debugging import is_debugging
from kimi_tui.language.errors import told
from kimi_tui.language.saying import joined, retell, say

logger = logging.getLogger(__name__)


def tell(error: KimiTuiError, arguments: Sequence[str]) -> int:
    """What happened and what to do. Returns the exit code."""
    keep_hidden(secrets_in(os.environ))
    _write(fit_to_share(told(error)))
    if is_debugging(asked="--debug" in arguments):
        _write(blacked_out("".join(traceback.format_exception(error))))
    return exit_code_of(error)


def tell_unexpected(error: Exception, arguments: Sequence[str], *, then: str = "") -> int:
    """A defect of ours: one sentence, where the traceback is, what to do `then`. Returns the exit code."""
    problem = f"{type(error).__name__}: {error}"
    keep_hidden(secrets_in(os.environ))
    what = blacked_out(say("kimi-tui ended by an internal error: {problem}.", problem=problem))
    then = retell(then)
    if is_debugging(asked="--debug" in arguments):
        _write(blacked_out("".join(traceback.format_exception(error))))
        _write(joined(what, then))
        return ExitCode.FAILED
    try:
        if not is_logging():
            start_logging(share_dir())
        logger.critical("internal error", exc_info=error)
    except OSError:
        _write(joined(what, say("Run it with --debug to see where."), then))
    else:
        path = log_path(share_dir())
        _write(joined(what, say("The details are in {path}.", path=path), then))
    return ExitCode.FAILED


def _write(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{plain(text).rstrip()}\n")
