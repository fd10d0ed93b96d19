"""The end of a command's output, kept while the output is passed on."""

from kimi_tui.tools.shell.output_pipe import OutputReceiver

_MAX_BYTES = 1 << 16


class OutputTail:
    """Passes output on, and keeps the last 64 KiB."""

    def __init__(self, receiver: OutputReceiver) -> None:
        self._receiver = receiver
        self._data = bytearray()

    def receive(self, data: bytes) -> None:
        """Implement `OutputReceiver.receive`."""
        self._receiver.receive(data)
        self._data += data
        del self._data[:-_MAX_BYTES]

    @property
    def text(self) -> str:
        """The end of the output. Invalid bytes are replaced."""
        return self._data.decode("utf-8", "replace")
