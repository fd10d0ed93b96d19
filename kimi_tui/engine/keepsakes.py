"""What a session keeps beside the conversation for its resuming: its name, its folders, agent and modes."""

from collections.abc import Mapping
from typing import Any

from kimi_tui.base.content import UserInput
from kimi_tui.engine.modes import Modes
from kimi_tui.engine.telling import Telling
from kimi_tui.engine.title import Title
from kimi_tui.history.session import Session


class Keepsakes:
    """Writes them down with the first prompt: a session in which nobody says anything leaves nothing."""

    def __init__(
        self, *, session: Session, title: Title, modes: Modes, telling: Telling, others: Mapping[str, Any]
    ) -> None:
        """`others` are fields of the session's state, as they are for this run of the program."""
        self._session = session
        self._title = title
        self._modes = modes
        self._telling = telling
        self._others = others

    async def keep(self, user_input: UserInput) -> None:
        """Keep what isn't kept yet of a session in which the user says that. Raises SessionError."""
        title = self._title.suggested_by(user_input)
        changes: dict[str, Any] = ({"title": title} if title else {}) | self._modes.unsaved
        state = self._session.state
        changes |= {name: it for name, it in self._others.items() if getattr(state, name) != it}
        if changes:
            await self._session.update_state(**changes)
            self._telling.info()
