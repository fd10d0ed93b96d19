"""Base class of the panels for requests, which ignore keys and clicks meant for something else."""

from collections.abc import Callable
from typing import Literal, Protocol, assert_never

from textual import events
from textual.containers import Vertical

from kimi_tui.base.frozen import frozen
from kimi_tui.tui.approvals.letter_debounce import LetterDebouncer, letter_of
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.keys.tables import Key

GRACE_S = 0.5
"""Keys and clicks within this time after a request appears are ignored."""

InputKind = Literal["step", "answer", "nothing"]
"""How an action is handled.

A step is harmless and runs immediately. An answer waits until it is clear that its letter doesn't begin a
sentence. "nothing" is for keys that came too early.
"""


class TextInput(Protocol):
    """The prompt, as the request panels use it."""

    def insert_and_focus(self, text: str) -> None:
        """Take the focus and insert text that was typed at a panel but isn't an answer."""


@frozen(kw_only=True)
class KeyboardConfig:
    """Keyboard settings shared by the request panels."""

    key_labels: KeyLabels
    clock: Callable[[], float]
    letter_pause_s: float
    """Seconds that a letter waits for a second letter before it answers. See `LetterDebouncer`."""
    prompt: TextInput


class RequestPanel(Vertical, can_focus=True):
    """Panel that separates answers from keys and clicks that were meant for something else.

    Subclasses call `start_grace_period` for each request, and `handle_unused_key` for keys that no input
    consumed.
    """

    def __init__(self, *, keyboard: KeyboardConfig, keys: tuple[Key, ...]) -> None:
        super().__init__()
        self._keyboard = keyboard
        self._keys = keys
        self._debouncer = LetterDebouncer(self, pause_s=keyboard.letter_pause_s)
        self._shown_at = 0.0
        self._terminal_focused_at = -1e9

    # hooks for subclasses

    def classify_action(self, action: str) -> InputKind:
        """Return the kind of an action of the panel's keys."""
        raise NotImplementedError

    def handle_text(self, text: str) -> None:
        """Handle typed text that isn't an answer. The focus must move immediately."""
        self._keyboard.prompt.insert_and_focus(text)

    def highlight_pending(self, action: str) -> None:
        """Show which answer waits for a possible second letter."""

    # guard

    def start_grace_period(self) -> None:
        """Ignore input for `GRACE_S` seconds: a new request appeared."""
        self._shown_at = self._keyboard.clock()
        self._debouncer.reset()

    def drop_pending_letter(self) -> None:
        """Drop a pending letter, because another part of the request is shown."""
        self._debouncer.reset()

    def handle_app_focus(self) -> None:
        """Ignore the click that focused the terminal."""
        self._terminal_focused_at = self._keyboard.clock()

    @property
    def accepts_keys(self) -> bool:
        """Whether the request has been visible for long enough to accept keys."""
        return self._keyboard.clock() - self._shown_at >= GRACE_S

    @property
    def accepts_clicks(self) -> bool:
        """Whether the request accepts clicks."""
        return self.accepts_keys and self._keyboard.clock() - self._terminal_focused_at >= GRACE_S

    async def handle_unused_key(self, event: events.Key) -> None:
        """Handle a key that no input consumed. A letter answers or begins a sentence; enter confirms a
        pending letter.
        """
        letter = letter_of(event)
        # The prompt may have the focus by now.
        is_text = letter != " " or self._debouncer.can_be_word or not self.has_focus_within
        if letter is not None and is_text:
            event.stop()
            if text := await self._add_letter(letter, event.key):
                self.handle_text(text)
        elif event.key == "enter":
            await self._debouncer.settle()
        else:
            self._debouncer.reset()

    async def _add_letter(self, letter: str, key: str) -> str:
        action = self._keyboard.key_labels.actions_by_key(self._keys).get(key) if letter != " " else None
        if action is None or not self.has_focus_within:
            return await self._debouncer.add_letter(letter, None)
        match self.classify_action(action):
            case "step":
                return await self._debouncer.add_letter(letter, action, is_harmless=True)
            case "answer":
                self.highlight_pending(action)
                return await self._debouncer.add_letter(letter, action)
            case "nothing":
                return await self._debouncer.add_letter(letter, "")
            case kind:
                assert_never(kind)
