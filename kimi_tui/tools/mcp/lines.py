"""Lines put together from the pieces that a pipe gives."""

from kimi_tui.tools.mcp.problem import McpProblem

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one message."""


class Lines:
    """Cuts bytes at newlines. What has no newline yet waits in pieces: a long line costs its length alone."""

    def __init__(self, *, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self._waiting = 0

    def add(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes. Raises McpProblem for one that is too long to hold."""
        *ended, rest = data.split(b"\n")
        lines = []
        for piece in ended:
            lines.append(b"".join((*self._pieces, piece)))
            self._pieces.clear()
            self._waiting = 0
        if rest:
            self._pieces.append(rest)
            self._waiting += len(rest)
        if self._waiting > self._longest:
            raise McpProblem(
                f"It sent a message larger than {self._longest // (1024 * 1024)} MB.",
                hint="Ask it for less at a time.",
            )
        return lines
