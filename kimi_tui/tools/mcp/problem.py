"""What goes wrong with an MCP server."""

from typing import Literal

from kimi_tui.base.errors import KimiTuiError

Persistence = Literal["passing", "lasting", "unauthorized"]


class McpProblem(KimiTuiError):
    """An MCP server can't be reached, has gone, or doesn't do what was asked."""

    def __init__(
        self, what: str, *, hint: str = "", persistence: Persistence = "passing", breaks: bool = False
    ) -> None:
        super().__init__(what, hint=hint)
        self.persistence = persistence
        """Whether trying again may help, only another config does, or only the user's authorization."""
        self.breaks = breaks
        """Whether the connection is gone with it."""
