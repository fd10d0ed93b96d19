"""What counts of a conversation after a jump in time: clients can't be made to forget what they show."""

from kimi_tui.base.content import TextPart, UserInput, text_of
from kimi_tui.base.terminal import plain_line
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import ReplayBegin, Reverted, StepBegin, TurnBegin

_LONGEST = 400
"""Characters of a message that are enough to know it by."""


class Recalled:
    """Says in words what counts, and for that takes what is replayed."""

    def __init__(self) -> None:
        self._asked: UserInput | None = None
        self._answer: list[str] = []

    def take(self, event: Outgoing) -> None:
        """An event of a replay."""
        match event:
            case ReplayBegin():
                self._asked = None
                self._answer.clear()
            case TurnBegin(user_input=user_input):
                self._asked = user_input
                self._answer.clear()
            case StepBegin():
                self._answer.clear()
            case TextPart(text=text):
                self._answer.append(text)

    @property
    def remaining(self) -> str:
        """The last words that count once all of them have been replayed, in Markdown."""
        if self._asked is None:
            return "*Nothing of what you see above counts any more: the conversation is at its beginning.*"
        asked = self._asked if isinstance(self._asked, str) else text_of(self._asked)
        lines = ["*The conversation goes on from here; what else you see above counts no more:*", ""]
        lines.append(f"> **You:** {_short(asked)}")
        if answer := "".join(self._answer).strip():
            lines += [">", f"> **Agent:** {_short(answer)}"]
        return "\n".join(lines)


def taken_back(jump: Reverted) -> str:
    """What a jump backwards took back, in Markdown; empty when nothing was, or a replay follows it."""
    if jump.reason != "user" or jump.prompt is None:
        return ""
    said = jump.prompt if isinstance(jump.prompt, str) else text_of(jump.prompt)
    return f"*What you see above from “{_short(said)}” on counts no more; say what to do in its place.*"


def _short(text: str) -> str:
    line = plain_line(text)
    return f"{line[:_LONGEST]}…" if len(line) > _LONGEST else line
