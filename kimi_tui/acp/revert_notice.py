"""Notices about reverts. ACP can't remove messages, so the client still shows reverted messages."""

from kimi_tui.base.content_parts import TextPart, UserInput, text_of
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import ReplayBegin, Reverted, StepBegin, TurnBegin

_MAX_CHARS = 400
"""Maximum characters to quote from a message, enough to recognize it."""


class RevertNotice:
    """Summarizes the current branch from the events of a replay."""

    def __init__(self) -> None:
        self._prompt: UserInput | None = None
        self._response: list[str] = []

    def record(self, event: Outgoing) -> None:
        """Record an event of a replay."""
        match event:
            case ReplayBegin():
                self._prompt = None
                self._response.clear()
            case TurnBegin(user_input=user_input):
                self._prompt = user_input
                self._response.clear()
            case StepBegin():
                self._response.clear()
            case TextPart(text=text):
                self._response.append(text)

    @property
    def summary(self) -> str:
        """The last prompt and response of the current branch, in Markdown. Read it after the replay."""
        if self._prompt is None:
            return "*The current branch has no messages. Messages above aren't part of the conversation.*"
        prompt = self._prompt if isinstance(self._prompt, str) else text_of(self._prompt)
        lines = ["*The current branch ends with these messages. Continue from here.*", ""]
        lines.append(f"> **You:** {_shorten(prompt)}")
        if response := "".join(self._response).strip():
            lines += [">", f"> **Agent:** {_shorten(response)}"]
        return "\n".join(lines)


def describe_reverted(reverted: Reverted) -> str:
    """Return a Markdown note about the reverted messages.

    The note is empty if no messages were reverted, or if a replay follows.
    """
    if reverted.reason != "user" or reverted.prompt is None:
        return ""
    prompt = reverted.prompt if isinstance(reverted.prompt, str) else text_of(reverted.prompt)
    return (
        f"*Messages above were reverted, starting with “{_shorten(prompt)}”. Enter a new prompt to continue.*"
    )


def _shorten(text: str) -> str:
    line = sanitize_line(text)
    return f"{line[:_MAX_CHARS]}…" if len(line) > _MAX_CHARS else line
