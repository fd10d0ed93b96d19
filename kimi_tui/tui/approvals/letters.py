"""Letters where some are answers: one by itself is given, several are the beginning of a sentence."""

from collections.abc import Awaitable, Callable

from textual import events
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

_SOONEST_S = 0.01

Act = Callable[[], Awaitable[object]]


async def nothing() -> None:
    """What a letter does that answers nothing at the moment."""


class Letters:
    """What was typed at `owner` and is not decided yet.

    A letter that answers does so once nothing else was typed for `pause_s` seconds. Letters that belong
    together answer nothing: `said` gets them, and is to take the keyboard at once.
    """

    class Typed(Message, namespace="letters"):
        """The user typed; keys that are handled here come to nobody else."""

    def __init__(self, owner: Widget, *, pause_s: float, said: Callable[[str], None]) -> None:
        self._owner = owner
        self._pause_s = pause_s
        self._said = said
        self._typed = ""
        self._waiting: Act | None = None
        self._timer: Timer | None = None

    @property
    def may_be_word(self) -> bool:
        """Whether a space that is typed next ends a word, such as "a" or "2", and is no key of its own."""
        return self._waiting is not None or self._typed.isdecimal()

    async def take(self, letter: str, act: Act | None, *, harmless: bool = False) -> None:
        """`letter` was typed, which by itself does `act`; None when it means nothing here.

        What is `harmless` is done at once. A letter that is typed twice means it.
        """
        self._owner.post_message(self.Typed())
        if self._waiting is not None and letter == self._typed:
            await self.settle()
        typed, goes_on = self._typed + letter, harmless and self._waiting is None
        if act is None or (self._typed and not goes_on):
            self.forget()
            self._said(typed)
            return
        self.forget()
        self._typed, self._waiting = typed, None if harmless else act
        self._timer = self._owner.set_timer(max(self._pause_s, _SOONEST_S), self._paused)
        if harmless:
            await act()

    async def settle(self) -> None:
        """Nothing belongs to what was typed any more: do what it means."""
        act = self._waiting
        self.forget()
        if act is not None:
            await act()

    def forget(self) -> None:
        """Nothing was typed."""
        self._typed, self._waiting = "", None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _paused(self) -> None:
        # Behind the keys that have come to the app by now, and to the owner: the program may have been late.
        if (timer := self._timer) is not None:
            self._owner.app.call_later(self._owner.call_later, self._settle_if, timer)

    async def _settle_if(self, timer: Timer) -> None:
        if self._timer is timer:
            await self.settle()


def letter_of(event: events.Key) -> str | None:
    """What a key writes; None when it writes nothing."""
    is_letter = event.is_printable and not event.key.startswith(("alt+", "ctrl+"))
    return event.character if is_letter else None
