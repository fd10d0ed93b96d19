"""Output of linear mode."""

from kimi_tui.linear.line_input import LineInput


class LineOutput:
    """Writes streamed text and whole lines."""

    def __init__(self, lines: LineInput) -> None:
        self._lines = lines
        self._is_mid_line = False

    def write(self, text: str) -> None:
        """Write `text`, continuing the current line."""
        if text:
            self._lines.write(text)
            self._is_mid_line = not text.endswith("\n")

    def write_line(self, text: str) -> None:
        """Write one or more lines."""
        self.end_line()
        self._lines.write(f"{text}\n")

    def end_line(self) -> None:
        """End the current line, if it has text."""
        if self._is_mid_line:
            self._lines.write("\n")
            self._is_mid_line = False
