"""Queue for messages that the prompt posts before the screen's controllers are loaded."""

from collections.abc import Callable

from textual.message import Message


class MessageGate:
    """Queues messages until the gate is opened, then posts them in order."""

    def __init__(self, post: Callable[[Message], object]) -> None:
        self._post = post
        self._queued: list[Message] | None = []

    def send(self, message: Message) -> None:
        """Post `message`, or queue it while the gate is closed."""
        if self._queued is None:
            self._post(message)
        else:
            self._queued.append(message)

    def open(self) -> None:
        """Post the queued messages. Later messages are posted immediately."""
        queued, self._queued = self._queued, None
        for message in queued or ():
            self._post(message)
