"""The error tree.

::

    KimiTuiError                what happened, and what to do about it
    ├── UsageError              options that make no sense together, a prompt that is missing
    ├── ConfigError             a config, agent or MCP file that can't be used; names file, line and key
    ├── SessionError            a session that isn't there, is in use, or can't be read or written
    │   ├── SessionInUse        another process writes it
    │   └── JournalWriteError   the disk refused a write; memory and disk still agree
    │       └── JournalGone     somebody deleted or moved the file; it can be written anew
    ├── ModelNotSet             no model is configured
    ├── ModelNotSupported       the model lacks what the request needs (images, thinking)
    ├── HookBlocked             a hook of the user's or the client's said no
    ├── MaxStepsReached         a turn took as many steps as it may
    ├── FileProblem             a file or folder can't be used as a tool was asked to; told to the model
    ├── WebProblem              a page or a search can't be had; told to the model
    └── ChatProviderError       the model's server or the way there
        ├── APIConnectionError
        │   └── APITimeoutError no byte for the idle time-out, or no connection in time
        ├── APIStatusError      an HTTP status of 400 or more
        │   └── ContextTooLong  the request exceeds the model's window
        ├── APIEmptyResponseError
        └── ScriptError         a scripted model's script is exhausted or malformed
"""


class KimiTuiError(Exception):
    """An error with one sentence of what happened and one of what to do."""

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        """Both sentences on one line."""
        return f"{self.what} {self.hint}".strip()


class UsageError(KimiTuiError):
    """The command line can't be followed."""


class ConfigError(KimiTuiError):
    """A configuration, agent or MCP file can't be used."""


class SessionError(KimiTuiError):
    """A session can't be opened, found or written."""


class SessionInUse(SessionError):
    """Another process writes the session."""

    def __init__(self, what: str, *, session_id: str, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.session_id = session_id


class JournalWriteError(SessionError):
    """The disk refused a write to the journal; nothing of it is in memory either."""


class JournalGone(JournalWriteError):
    """The journal's file was deleted or moved while it was in use. What it held is still in memory."""


class HookBlocked(KimiTuiError):
    """A hook said no, in words of its own."""


class ModelNotSet(KimiTuiError):
    """No model is configured."""


class ModelNotSupported(KimiTuiError):
    """The model can't do what the request needs."""


class MaxStepsReached(KimiTuiError):
    """The turn took as many steps as it may."""

    def __init__(self, steps: int) -> None:
        super().__init__(
            f"The turn stopped after {steps} steps, the most it may take.",
            hint="Say “continue” to go on, or raise loop_control.max_steps_per_turn.",
        )
        self.steps = steps


class FileProblem(KimiTuiError):
    """A file or folder can't be used as a tool was asked to. Its reader is the model."""


class WebProblem(KimiTuiError):
    """A page can't be fetched, or the web not searched. Its reader is the model."""


class ChatProviderError(KimiTuiError):
    """The model's server, or the way there, failed."""

    retryable = False


class APIConnectionError(ChatProviderError):
    """No connection, or one that broke."""

    retryable = True
    dropped = False
    """Whether the server answered before and can't be reached any more: the network changes, or is gone for a
    while."""


class APITimeoutError(APIConnectionError):
    """The server kept silent for too long."""


class APIStatusError(ChatProviderError):
    """The server answered with an HTTP error status."""

    RETRYABLE_STATUSES = frozenset({408, 409, 429, 500, 502, 503, 504, *range(520, 530)})

    def __init__(
        self, what: str, *, status_code: int, hint: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(what, hint=hint)
        self.status_code = status_code
        self.retry_after = retry_after
        """Seconds that the server asked to wait, from Retry-After."""

    @property
    def retryable(self) -> bool:  # type: ignore[override]
        """Whether the same request may succeed later."""
        return self.status_code in self.RETRYABLE_STATUSES


class ContextTooLong(APIStatusError):
    """The request exceeds the model's context window."""

    @property
    def retryable(self) -> bool:  # type: ignore[override]
        """Never: only a shorter context helps."""
        return False


class APIEmptyResponseError(ChatProviderError):
    """The server ended the answer without a word or a tool call."""

    retryable = True


class ScriptError(ChatProviderError):
    """A scripted model's script is exhausted or malformed."""
