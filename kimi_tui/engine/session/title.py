"""Title of a session: its first prompt, until the user sets one."""

from kimi_tui.base.content_parts import UserInput, text_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.session import Session

TITLE_LENGTH = 60


class SessionTitle:
    """Determines and saves the title of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._is_named = bool(session.state.title)
        """Whether the session has a title or one was suggested."""

    def suggest(self, user_input: UserInput) -> str:
        """Return a title for a session whose first prompt is `user_input`, or an empty string if it has
        one.
        """
        named = self._is_named or bool(self._session.state.title)
        title = "" if named else sanitize_line(text_of(user_input))[:TITLE_LENGTH]
        self._is_named = self._is_named or bool(title)
        return title

    async def set(self, title: str) -> None:
        """Save the title. Raises KimiTuiError if it's empty."""
        title = sanitize_line(title)
        if not title:
            raise KimiTuiError("The title is empty.", hint="Type /title NAME.")
        self._is_named = True
        await self._session.update_state(title=title)
