"""Where the user's grants are kept: the session's state, and the project's config."""

import asyncio
from pathlib import Path

from kimi_tui.config.editing import add_allowed_rule
from kimi_tui.history.session import Session
from kimi_tui.tools.permission.rule import Rule


class SessionGrants:
    """Keeps grants for one session and for its project."""

    def __init__(self, session: Session, project_config: Path) -> None:
        self._session = session
        self._project_config = project_config

    async def keep_for_session(self, rules: tuple[Rule, ...]) -> None:
        """Remember `rules` as long as the session lives, over restarts too."""
        known = self._session.state.grants
        added = tuple(str(rule) for rule in rules if str(rule) not in known)
        await self._session.update_state(grants=(*known, *added))

    async def keep_always(self, rules: tuple[Rule, ...]) -> None:
        """Write `rules` to the project's config."""
        for rule in rules:
            await asyncio.to_thread(add_allowed_rule, self._project_config, str(rule))
