"""Errors of MCP servers."""

from typing import Literal

from kimi_tui.base.errors import KimiTuiError

ErrorPersistence = Literal["transient", "permanent", "unauthorized"]


class McpServerError(KimiTuiError):
    """A failed connection or request to an MCP server."""

    def __init__(
        self,
        what: str,
        *,
        hint: str = "",
        persistence: ErrorPersistence = "transient",
        closes_connection: bool = False,
        is_session_expired: bool = False,
    ) -> None:
        super().__init__(what, hint=hint)
        self.persistence = persistence
        """What may resolve the error: a retry, a different config, or a sign-in."""
        self.closes_connection = closes_connection
        """Whether the error closes the connection."""
        self.is_session_expired = is_session_expired
        """Whether the session has expired. Then the server did nothing; retry in a new session."""
