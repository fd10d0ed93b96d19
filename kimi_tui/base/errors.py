"""KimiTuiError                base class: what happened, and what to do
├── UsageError              invalid combination of options, or a missing prompt
├── ConfigError             an invalid config, agent or MCP file; names the file, line and key
├── SessionError            a session doesn't exist, is in use, or can't be read or written
│   ├── SessionInUse        another process is writing to the session
│   └── JournalWriteError   a write to disk failed; memory and disk are still consistent
│       └── JournalGone     the file was deleted or moved; it can be written again
├── EngineLost              the connection to the resident engine was lost; the session is saved
├── ModelNotSet             no model is configured
│   └── ModelKeyNotSet      its provider has no API key; also a ConfigError
├── ModelNotSupported       the model lacks a required capability (images, thinking)
├── HookBlocked             a hook of the user or client blocked the action
├── MaxStepsReached         a turn reached its maximum number of steps
├── LimitReached            a turn stopped because it reached a limit
│   └── SharedBudgetSpent   the limit of a budget that several sessions share
├── ShellUnavailable        a command can't be started
├── FileProblem             a tool can't use a file or directory; reported to the model
├── WebProblem              a page or search failed; reported to the model
└── ChatProviderError       an error of the model's server or the connection to it
    ├── APIConnectionError
    │   └── APITimeoutError no data within the idle timeout, or no connection in time
    ├── APIStatusError      an HTTP status of 400 or higher
    │   └── ContextTooLong  the request exceeds the model's context window
    ├── APIEmptyResponseError
    └── ScriptError         a scripted model's script is exhausted or invalid
"""

from kimi_tui.base.message_text import as_message, join_messages, msg


class KimiTuiError(Exception):
    """Base class of errors that are shown to the user: `what` happened, and a `hint` what to do."""

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.what: str = as_message(what)
        self.hint: str = as_message(hint)

    def __str__(self) -> str:
        """Return both sentences on one line, as a message that a front end can translate."""
        return join_messages(self.what, self.hint)


class UsageError(KimiTuiError):
    """The command line or an argument is invalid."""


class ConfigError(KimiTuiError):
    """A config, agent or MCP file is invalid."""


class SessionError(KimiTuiError):
    """A session can't be found, opened or written."""


class SessionInUse(SessionError):
    """Another process is writing to the session."""

    def __init__(self, what: str, *, session_id: str, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.session_id = session_id


class JournalWriteError(SessionError):
    """A write to the journal failed. The record isn't in memory either."""


class JournalGone(JournalWriteError):
    """The journal file was deleted or moved while in use. Its content is still in memory."""


class HookBlocked(KimiTuiError):
    """A hook blocked the action. The message is the hook's reason."""


class EngineLost(KimiTuiError):
    """The connection to the resident engine was lost. The session is saved and can be opened again."""

    def __init__(self, what: str, *, session_id: str, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.session_id = session_id
        """Empty if the session wasn't open yet."""


class ModelNotSet(KimiTuiError):
    """No model is configured."""


class ModelKeyNotSet(ModelNotSet, ConfigError):
    """The provider of the model has no API key."""


class ModelNotSupported(KimiTuiError):
    """The model lacks a capability that the request needs."""


class MaxStepsReached(KimiTuiError):
    """The turn reached its maximum number of steps."""

    def __init__(self, steps: int) -> None:
        super().__init__(
            msg("The turn reached the limit of {steps} steps.", steps=steps),
            hint="Send “continue”, or increase loop_control.max_steps_per_turn.",
        )
        self.steps = steps


class LimitReached(KimiTuiError):
    """A turn stopped because it reached a limit."""


class SharedBudgetSpent(LimitReached):
    """The limit of a budget that several sessions share was reached."""


class ShellUnavailable(KimiTuiError):
    """Raised if a command can't be started, or was stopped because it wrote too much."""


class FileProblem(KimiTuiError):
    """A tool can't use a file or directory. The message is for the model."""


class WebProblem(KimiTuiError):
    """A page couldn't be fetched, or a web search failed. The message is for the model."""


class ChatProviderError(KimiTuiError):
    """An error of the model's server, or of the connection to it."""

    retryable = False


class APIConnectionError(ChatProviderError):
    """The connection failed or was lost."""

    retryable = True
    dropped = False
    """Whether the server is unreachable after earlier requests succeeded, such as during a network change."""


class APITimeoutError(APIConnectionError):
    """The server didn't send anything in time."""


class APIStatusError(ChatProviderError):
    """The server returned an HTTP error status."""

    RETRYABLE_STATUSES = frozenset({408, 409, 429, 500, 502, 503, 504, *range(520, 530)})

    def __init__(
        self, what: str, *, status_code: int, hint: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(what, hint=hint)
        self.status_code = status_code
        self.retry_after = retry_after
        """Seconds to wait, from the Retry-After header."""

    @property
    def retryable(self) -> bool:  # type: ignore[override]
        """Whether the same request may succeed later."""
        return self.status_code in self.RETRYABLE_STATUSES


class ContextTooLong(APIStatusError):
    """The request exceeds the model's context window."""

    @property
    def retryable(self) -> bool:  # type: ignore[override]
        """Always False: only a shorter context helps."""
        return False


class APIEmptyResponseError(ChatProviderError):
    """The response contains neither text nor a tool call."""

    retryable = True


class EmptyAtOutputLimit(APIEmptyResponseError):
    """The response reached the model's output limit before any text or tool call.

    It isn't retried: another attempt would cost as much and end the same way.
    """

    retryable = False


class ScriptError(ChatProviderError):
    """A scripted model's script is exhausted or invalid."""
