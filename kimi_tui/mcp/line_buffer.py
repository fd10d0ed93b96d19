"""Buffer that assembles lines from a pipe's chunks."""

from kimi_tui.mcp.errors import McpServerError

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Maximum bytes of one message."""


class LineBuffer:
    """Splits bytes at newlines.

    The chunks of an incomplete line are joined once, so a long line takes linear time.
    """

    def __init__(self, *, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._chunks: list[bytes] = []
        self._pending_bytes = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes. Raises McpServerError if a line is too long."""
        *line_ends, rest = data.split(b"\n")
        lines = []
        for line_end in line_ends:
            lines.append(b"".join((*self._chunks, line_end)))
            self._chunks.clear()
            self._pending_bytes = 0
        if rest:
            self._chunks.append(rest)
            self._pending_bytes += len(rest)
        if self._pending_bytes > self._max_bytes:
            raise McpServerError(
                f"The server sent a message larger than {self._max_bytes // (1024 * 1024)} MB.",
                hint="Request less data at a time.",
            )
        return lines
