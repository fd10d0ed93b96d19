"""Reports of errors that end the process: a short message on stderr, details in the log.

What they need is imported when there is an error: redaction compiles long patterns.
"""

import logging
import os
import sys
import traceback
from collections.abc import Sequence

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.exit_codes import ExitCode, exit_code_of
from kimi_tui.base.paths import data_dir
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.i18n.translate import join_sentences, tr, translate_error, translate_message

logger = logging.getLogger(__name__)


def is_debugging(*, debug_option: bool) -> bool:
    """Return whether `--debug` or KIMI_DEBUG turns on debug output."""
    return debug_option or os.environ.get("KIMI_DEBUG", "") not in ("", "0")


def print_error(error: KimiTuiError, arguments: Sequence[str]) -> int:
    """Print what happened and what to do. Return the exit code."""
    from kimi_tui.base.redaction import redact, redact_for_sharing, register_secrets, secret_values

    register_secrets(secret_values(os.environ))
    _write(redact_for_sharing(translate_error(error)))
    if is_debugging(debug_option="--debug" in arguments):
        _write(redact("".join(traceback.format_exception(error))))
    return exit_code_of(error)


def print_crash(error: Exception, arguments: Sequence[str], *, advice: str = "") -> int:
    """Print an internal error, the location of its traceback, and `advice`. Return the exit code."""
    from kimi_tui.base.logging import is_logging, log_path, start_logging
    from kimi_tui.base.redaction import redact, register_secrets, secret_values

    problem = f"{type(error).__name__}: {error}"
    register_secrets(secret_values(os.environ))
    what = redact(tr("kimi-tui crashed with an internal error: {problem}.", problem=problem))
    advice = translate_message(advice)
    if is_debugging(debug_option="--debug" in arguments):
        _write(redact("".join(traceback.format_exception(error))))
        _write(join_sentences(what, advice))
        return ExitCode.FAILED
    try:
        if not is_logging():
            start_logging(data_dir())
        logger.critical("internal error", exc_info=error)
    except OSError:
        _write(join_sentences(what, tr("Run it with --debug for details."), advice))
    else:
        path = log_path(data_dir())
        _write(join_sentences(what, tr("See {path} for details.", path=path), advice))
    return ExitCode.FAILED


def _write(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{sanitize(text).rstrip()}\n")
