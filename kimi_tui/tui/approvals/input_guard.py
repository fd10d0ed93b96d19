"""Guards request panels against keys and clicks that were meant for something else."""

from collections.abc import Callable
from functools import partial
from typing import Literal, assert_never

from textual import events
from textual.widget import Widget

from kimi_tui.base.frozen import frozen
from kimi_tui.tui.approvals.letter_debounce import LetterDebouncer, letter_of, noop
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.keys.tables import Key

GRACE_S = 0.5
"""Keys and clicks within this time after a request appears are ignored."""

InputKind = Literal["step", "answer", "nothing"]
"""How an action is handled.

A step is harmless and runs immediately. An answer waits until it is clear that its letter doesn't begin a
sentence. Nothing happens if the key came too early.
"""


@frozen(kw_only=True)
class KeyboardConfig:
    """Keyboard settings shared by the request panels."""

    key_labels: KeyLabels
    clock: Callable[[], float]
    letter_pause_s: float
    """How long a letter that answers waits for a second letter. See `LetterDebouncer`."""
    write_to_prompt: Callable[[str], None]
    """Focuses the prompt and inserts text that was typed at a panel but isn't an answer."""


class InputGuard:
    """Separates answers at `panel` from keys and clicks that were meant for something else."""

    def __init__(
        self,
        panel: Widget,
        *,
        keyboard: KeyboardConfig,
        keys: tuple[Key, ...],
        classify: Callable[[str], InputKind],
        pass_through: Callable[[str], None],
        on_pending: Callable[[str], None] = lambda action: None,
    ) -> None:
        """`classify` returns the kind of an action of `keys`. `pass_through` receives text that isn't an
        answer.

        `on_pending` receives the action of an answer that waits for a possible second letter.
        """
        self._panel = panel
        self._keyboard = keyboard
        self._keys = keys
        self._classify = classify
        self._on_pending = on_pending
        self._debouncer = LetterDebouncer(panel, pause_s=keyboard.letter_pause_s, pass_through=pass_through)
        self._shown_at = 0.0
        self._terminal_focused_at = -1e9

    def start_grace_period(self) -> None:
        """Ignore input for `GRACE_S` seconds: a new request appeared."""
        self._shown_at = self._keyboard.clock()
        self._debouncer.reset()

    def reset(self) -> None:
        """Drop a pending letter: another part of the request is shown."""
        self._debouncer.reset()

    def handle_terminal_focus(self) -> None:
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

    async def handle_key(self, event: events.Key) -> None:
        """Handle a key that no input consumed. A letter answers or begins a sentence; enter confirms a
        pending letter.
        """
        letter = letter_of(event)
        # The prompt may have the focus by now.
        is_text = letter != " " or self._debouncer.can_be_word or not self._panel.has_focus_within
        if letter is not None and is_text:
            event.stop()
            await self._handle_letter(letter, event.key)
        elif event.key == "enter":
            await self._debouncer.settle()
        else:
            self._debouncer.reset()

    async def _handle_letter(self, letter: str, key: str) -> None:
        action = self._keyboard.key_labels.actions_by_key(self._keys).get(key) if letter != " " else None
        if action is None or not self._panel.has_focus_within:
            await self._debouncer.add_letter(letter, None)
            return
        act = partial(self._panel.app.run_action, action, self._panel)
        match self._classify(action):
            case "step":
                await self._debouncer.add_letter(letter, act, is_harmless=True)
            case "answer":
                self._on_pending(action)
                await self._debouncer.add_letter(letter, act)
            case "nothing":
                await self._debouncer.add_letter(letter, noop)
            case kind:
                assert_never(kind)
