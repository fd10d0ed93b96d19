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
        """Whether a retry may help, or only a different config, or only a sign-in."""
        self.closes_connection = closes_connection
        """Whether the error closes the connection."""
        self.is_session_expired = is_session_expired
        """Whether the server forgot the session, so that it did nothing and a new one can be started."""
