"""Exit codes of the process (`docs/headless.md`)."""

from enum import IntEnum

from kimi_tui.base.errors import ChatProviderError, KimiTuiError, UsageError


class ExitCode(IntEnum):
    """Exit codes. As in shells, termination by a signal is 128 plus the signal number."""

    DONE = 0
    FAILED = 1
    """Invalid configuration, permanent provider error, or internal error."""
    USAGE = 2
    LIMIT = 3
    """Stopped by a limit on steps, cost or time."""
    DENIED = 4
    """A tool call was denied."""
    TRANSIENT = 75
    """Rate limit, server error, timeout or connection error after all retries. The same run may succeed
    later.
    """
    INTERRUPTED = 130
    PIPE_CLOSED = 141
    """The reader of the output closed the pipe."""
    TERMINATED = 143


def exit_code_of(error: KimiTuiError) -> ExitCode:
    """Return the exit code for a process that ends with `error`."""
    if isinstance(error, UsageError):
        return ExitCode.USAGE
    if isinstance(error, ChatProviderError) and error.retryable:
        return ExitCode.TRANSIENT
    return ExitCode.FAILED
