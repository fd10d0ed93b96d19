"""What a panel that asks hears: keys and clicks, once they can be meant for what it asks."""

from collections.abc import Callable
from functools import partial
from typing import Literal, assert_never

from textual import events
from textual.widget import Widget

from kimi_tui.base.value import value
from kimi_tui.tui.approvals.letters import Letters, letter_of, nothing
from kimi_tui.tui.key_tables import Key
from kimi_tui.tui.keys import KeyNames

GRACE_S = 0.5
"""A key or a click within this time of a request's appearing was meant for something else."""

Weight = Literal["step", "answer", "nothing"]
"""What an action is at the moment: a step that can be taken back, done at once; an answer, which waits to see
whether its letter is the beginning of a sentence; nothing, since it came too early.
"""


@value(kw_only=True)
class Keyboard:
    """What the panels have to know of the keyboard."""

    names: KeyNames
    clock: Callable[[], float]
    letter_pause_s: float
    """How long a letter that answers waits for a second one (`Letters`)."""
    write: Callable[[str], None]
    """Puts into the prompt, which takes the keyboard, what was typed at a panel and is no answer."""


class Hearing:
    """Tells at `panel` answers from what was typed, or clicked, for something else."""

    def __init__(
        self,
        panel: Widget,
        *,
        keyboard: Keyboard,
        keys: tuple[Key, ...],
        weigh: Callable[[str], Weight],
        said: Callable[[str], None],
        awaited: Callable[[str], None] = lambda action: None,
    ) -> None:
        """`weigh` tells what an action of `keys` is at the moment; `said` gets what is no answer.

        `awaited` is told of an answer that waits for whether its letter was all.
        """
        self._panel = panel
        self._keyboard = keyboard
        self._keys = keys
        self._weigh = weigh
        self._awaited = awaited
        self._letters = Letters(panel, pause_s=keyboard.letter_pause_s, said=said)
        self._asked_at = 0.0
        self._terminal_focused_at = -1e9

    def begin(self) -> None:
        """Something else is asked from now on: what was typed before was not for that."""
        self._asked_at = self._keyboard.clock()
        self._letters.forget()

    def forget(self) -> None:
        """Another part of what is asked is shown: what was typed begins anew."""
        self._letters.forget()

    def terminal_focused(self) -> None:
        """The terminal got the focus: the click that gave it is no answer."""
        self._terminal_focused_at = self._keyboard.clock()

    @property
    def takes_keys(self) -> bool:
        """Whether what is asked has been on screen long enough for a key to mean it."""
        return self._keyboard.clock() - self._asked_at >= GRACE_S

    @property
    def takes_clicks(self) -> bool:
        """Whether a click can mean it as well."""
        return self.takes_keys and self._keyboard.clock() - self._terminal_focused_at >= GRACE_S

    async def key(self, event: events.Key) -> None:
        """A key that no field took: a letter answers or is a sentence, enter says that the letter was all."""
        letter = letter_of(event)
        # The prompt may have the keyboard by now.
        is_said = letter != " " or self._letters.may_be_word or not self._panel.has_focus_within
        if letter is not None and is_said:
            event.stop()
            await self._typed(letter, event.key)
        elif event.key == "enter":
            await self._letters.settle()
        else:
            self._letters.forget()

    async def _typed(self, letter: str, key: str) -> None:
        action = self._keyboard.names.actions(self._keys).get(key) if letter != " " else None
        if action is None or not self._panel.has_focus_within:
            await self._letters.take(letter, None)
            return
        act = partial(self._panel.app.run_action, action, self._panel)
        match self._weigh(action):
            case "step":
                await self._letters.take(letter, act, harmless=True)
            case "answer":
                self._awaited(action)
                await self._letters.take(letter, act)
            case "nothing":
                await self._letters.take(letter, nothing)
            case weight:
                assert_never(weight)
