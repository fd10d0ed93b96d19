"""Output of a running command as text that can be shown."""

from abc import ABC, abstractmethod

from kimi_tui.base.text_sanitizer import ByteStreamSanitizer


class CommandOutput(ABC):
    """Receives the output of a command and passes it on as sanitized text, as it arrives."""

    def __init__(self) -> None:
        self._sanitizer = ByteStreamSanitizer()

    def receive(self, data: bytes) -> None:
        """Implement `OutputReceiver.receive`."""
        if text := self._sanitizer.feed(data):
            self.add_text(text)

    def flush(self) -> None:
        """Pass on the text that was held back. Call it at the end of the output."""
        if text := self._sanitizer.flush():
            self.add_text(text)

    @abstractmethod
    def add_text(self, text: str) -> None:
        """Handle the next piece of text, which isn't empty."""
