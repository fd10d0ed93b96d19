"""What was said before this run: kept as it came, and said on demand."""

from collections.abc import Sequence

from kimi_tui.language.saying import say, say_many
from kimi_tui.tui.linear.teller import Teller
from kimi_tui.tui.linear.voice import Voice
from kimi_tui.tui.linear.words import said
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import TurnBegin


class Past:
    """The replay of a resumed conversation."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._messages: list[Outgoing] = []

    def forget(self) -> None:
        """What follows takes its place."""
        self._messages = []

    def add(self, message: Outgoing) -> None:
        """One more message of it."""
        self._messages.append(message)

    def tell_end(self) -> None:
        """Say how much there is, and the last turn."""
        begins = [place for place, message in enumerate(self._messages) if isinstance(message, TurnBegin)]
        if begins:
            self._voice.line(
                say_many(
                    "Back in a conversation of {count} prompt. /transcript says all of it.",
                    "Back in a conversation of {count} prompts. /transcript says all of it.",
                    len(begins),
                )
            )
            self._tell(self._messages[begins[-1] :])

    def tell(self) -> None:
        """Say all of it."""
        self._tell(self._messages)

    def _tell(self, messages: Sequence[Outgoing]) -> None:
        teller = Teller(self._voice, clock=lambda: 0.0, is_past=True)
        for message in messages:
            if isinstance(message, TurnBegin):
                self._voice.line(say("You: {text}", text=said(message.user_input)))
            teller.tell(message)
        self._voice.end_line()
