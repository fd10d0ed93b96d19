"""What the prompt has to say before the screen is complete, which takes a moment after the first frame."""

from collections.abc import Callable

from textual.message import Message


class Doorway:
    """Lets messages out once somebody is there to hear them; until then they wait, in order."""

    def __init__(self, post: Callable[[Message], object]) -> None:
        self._post = post
        self._waiting: list[Message] | None = []

    def send(self, message: Message) -> None:
        """Let `message` out, or have it wait."""
        if self._waiting is None:
            self._post(message)
        else:
            self._waiting.append(message)

    def open(self) -> None:
        """Somebody hears now."""
        waiting, self._waiting = self._waiting, None
        for message in waiting or ():
            self._post(message)
