"""What a jump in time takes back of what the user said: it returns to the prompt, to be edited."""

from collections.abc import Callable, Iterable
from typing import Protocol

from kimi_tui.base.content import text_of
from kimi_tui.language.saying import say
from kimi_tui.tui.prompt.drafts import Draft
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.timeline import Reverted


class Prompting(Protocol):
    """Where the user writes."""

    @property
    def blank(self) -> bool:
        """Whether there is nothing to lose."""
        ...

    @property
    def text(self) -> str:
        """What stands there."""
        ...

    def restore(self, draft: Draft) -> None:
        """Put a draft into the empty editor."""
        ...

    def select(self) -> None:
        """Mark all of it."""
        ...

    def discard(self) -> None:
        """Clear the editor."""
        ...


class TakenBack:
    """Gives what was taken back to an empty prompt, and takes it away again when the jump is undone."""

    def __init__(self, *, prompt: Callable[[], Prompting], say: Callable[[str], None]) -> None:
        self._prompt = prompt
        self._say = say
        self._returned = ""

    def follow(self, batch: Iterable[Outgoing]) -> None:
        """Look for jumps in what arrived."""
        for message in batch:
            if isinstance(message, Reverted):
                self._jumped(message)

    def _jumped(self, jump: Reverted) -> None:
        prompt = self._prompt()
        if jump.reason == "undo" and self._returned and prompt.text == self._returned:
            prompt.discard()
        self._returned = ""
        text = text_of(jump.prompt) if jump.prompt is not None else ""
        if not text.strip():
            return
        if prompt.blank:
            prompt.restore(Draft(text))
            prompt.select()  # what is typed next takes its place, such as /undo
            self._returned = text
        elif prompt.text != text:
            self._say(say("Your draft stays in the prompt. What you took back is among your older prompts."))
