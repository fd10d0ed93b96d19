"""What the process's exit code says (`docs/headless.md`)."""

from enum import IntEnum

from kimi_tui.base.errors import ChatProviderError, KimiTuiError, UsageError


class ExitCode(IntEnum):
    """A signal's number plus 128 stands for an end by that signal, as in shells."""

    DONE = 0
    FAILED = 1
    """The configuration, a permanent error of the provider, or an internal error."""
    USAGE = 2
    LIMIT = 3
    """Stopped by a limit: steps, cost or time."""
    DENIED = 4
    """A tool that the model asked for was denied."""
    TRANSIENT = 75
    """Rate limit, server error, time-out or connection, retries exhausted: the same may succeed later."""
    INTERRUPTED = 130
    PIPE_CLOSED = 141
    """Whoever read the output has gone."""
    TERMINATED = 143


def exit_code_of(error: KimiTuiError) -> ExitCode:
    """The exit code of a process that `error` ended."""
    if isinstance(error, UsageError):
        return ExitCode.USAGE
    if isinstance(error, ChatProviderError) and error.retryable:
        return ExitCode.TRANSIENT
    return ExitCode.FAILED
