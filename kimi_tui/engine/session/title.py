"""Title of a session: its first prompt, until the model or the user sets one."""

from kimi_tui.base.content_parts import UserInput, text_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.session import Session

TITLE_LENGTH = 60
_MARKUP = " \t#*_`\"'“”‘’「」《》"
"""Characters that models put around a title."""


class SessionTitle:
    """Determines and saves the title of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._is_named = bool(session.state.title)
        """Whether the session has a title or one was suggested."""

    def suggest(self, user_input: UserInput) -> str:
        """Return a title made from the first prompt `user_input`; empty if the session already has one."""
        named = self._is_named or bool(self._session.state.title)
        title = "" if named else sanitize_line(text_of(user_input))[:TITLE_LENGTH]
        self._is_named = self._is_named or bool(title)
        return title

    async def set(self, title: str) -> None:
        """Save the user's title. Raises KimiTuiError if `title` is empty."""
        title = sanitize_line(title)
        if not title:
            raise KimiTuiError("The title is empty.", hint="Type /title NAME.")
        self._is_named = True
        await self._session.update_state(title=title, title_source="user")

    @property
    def is_final(self) -> bool:
        """Whether the session has a title that isn't merely its first prompt."""
        state = self._session.state
        return bool(state.title) and state.title_source != "prompt"

    async def replace_provisional(self, title: str) -> bool:
        """Save the model's title and return True. Raises SessionError.

        Return False if `title` is empty or the user has set a title.
        """
        title = _clean_generated_title(title)
        if not title or self.is_final:
            return False
        await self._session.update_state(title=title, title_source="model")
        return True


def _clean_generated_title(text: str) -> str:
    """Return the first line of a model's response without quotes and Markdown around it, shortened."""
    line = next((it for it in text.splitlines() if it.strip()), "")
    line = sanitize_line(line).strip(_MARKUP).removeprefix("Title:").strip(_MARKUP).rstrip(f"{_MARKUP}.。")
    return line if len(line) <= TITLE_LENGTH else f"{line[: TITLE_LENGTH - 1].rstrip()}…"
