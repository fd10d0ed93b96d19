"""The name of a session: what its first prompt says, until the user names it."""

from kimi_tui.base.content import UserInput, text_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal import plain_line
from kimi_tui.history.session import Session

TITLE_LENGTH = 60


class Title:
    """Names one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._is_named = bool(session.state.title)
        """Whether the session has its name, or is being given it."""

    def suggested_by(self, user_input: UserInput) -> str:
        """What to call a session that begins with `user_input`; empty when it has its name."""
        named = self._is_named or bool(self._session.state.title)
        title = "" if named else plain_line(text_of(user_input))[:TITLE_LENGTH]
        self._is_named = self._is_named or bool(title)
        return title

    async def set(self, title: str) -> None:
        """Name the session. Raises KimiTuiError without a name."""
        title = plain_line(title)
        if not title:
            raise KimiTuiError("A title needs a name.", hint="Type /title NAME.")
        self._is_named = True
        await self._session.update_state(title=title)
