"""Queue for messages that the prompt posts before the screen's controllers are loaded."""

from textual.message import Message
from textual.message_pump import MessagePump


class MessageGate:
    """Queues the messages of `sender` until the gate is opened, then posts them in order."""

    def __init__(self, sender: MessagePump) -> None:
        self._sender = sender
        self._queued: list[Message] | None = []

    def send(self, message: Message) -> None:
        """Post `message`, or queue it while the gate is closed."""
        if self._queued is None:
            self._sender.post_message(message)
        else:
            self._queued.append(message)

    def open(self) -> None:
        """Post the queued messages. Later messages are posted immediately."""
        queued, self._queued = self._queued, None
        for message in queued or ():
            self._sender.post_message(message)
