"""Debounces letters that may be an answer or the beginning of a sentence."""

from textual import events
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

_MIN_PAUSE_S = 0.01


class LetterDebouncer:
    """Holds letters that were typed at `owner` until their meaning is clear.

    A single letter runs its action after `pause_s` seconds without another key. Several letters in a row
    are text.
    """

    class Typed(Message, namespace="letters"):
        """Posted for each letter. Other widgets don't see the keys that are handled here."""

    def __init__(self, owner: Widget, *, pause_s: float) -> None:
        self._owner = owner
        self._pause_s = pause_s
        self._typed = ""
        self._pending_action: str | None = None
        self._timer: Timer | None = None

    @property
    def can_be_word(self) -> bool:
        """Whether a space would end a word such as "a" or "2". Otherwise, a space is a key of its own."""
        return self._pending_action is not None or self._typed.isdecimal()

    async def add_letter(self, letter: str, action: str | None, *, is_harmless: bool = False) -> str:
        """Handle `letter`. Return all letters typed so far if they are text, otherwise an empty string.

        `action` is the letter's action: empty if it has no effect now, None if the letter has no action.
        A harmless action runs immediately. Typing a letter twice confirms its action.
        """
        self._owner.post_message(self.Typed())
        if self._pending_action is not None and letter == self._typed:
            await self.settle()
        typed, can_continue = self._typed + letter, is_harmless and self._pending_action is None
        if action is None or (self._typed and not can_continue):
            self.reset()
            return typed
        self.reset()
        self._typed, self._pending_action = typed, None if is_harmless else action
        self._timer = self._owner.set_timer(max(self._pause_s, _MIN_PAUSE_S), self._handle_pause)
        if is_harmless:
            await self._run(action)
        return ""

    async def settle(self) -> None:
        """Run the pending action now."""
        action = self._pending_action
        self.reset()
        if action is not None:
            await self._run(action)

    async def _run(self, action: str) -> None:
        if action:
            await self._owner.app.run_action(action, self._owner)

    def reset(self) -> None:
        """Discard the typed letters."""
        self._typed, self._pending_action = "", None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _handle_pause(self) -> None:
        # Run after the keys that are already queued for the app and the owner: the timer may have fired late.
        if (timer := self._timer) is not None:
            self._owner.app.call_later(self._owner.call_later, self._settle_if, timer)

    async def _settle_if(self, timer: Timer) -> None:
        if self._timer is timer:
            await self.settle()


def letter_of(event: events.Key) -> str | None:
    """Return the character that a key types. None for a key that types nothing."""
    is_letter = event.is_printable and not event.key.startswith(("alt+", "ctrl+"))
    return event.character if is_letter else None
