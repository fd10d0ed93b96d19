"""Where the user's grants are kept: the session's state, and the project's config."""

import asyncio
from pathlib import Path

from kimi_tui.base.completion import run_to_end
from kimi_tui.config.editing import allow_in_project
from kimi_tui.history.session import Session
from kimi_tui.tools.permission.rule import Rule


class SessionGrants:
    """Keeps grants for one session and for its project."""

    def __init__(self, session: Session, *, share_dir: Path) -> None:
        self._session = session
        self._share_dir = share_dir
        self._order = asyncio.Lock()
        """Each grant is added to what the one before it left."""

    async def keep_for_session(self, rules: tuple[Rule, ...]) -> None:
        """Remember `rules` as long as the session lives, over restarts too."""
        async with self._order:
            known = self._session.state.grants
            added = tuple(str(rule) for rule in rules if str(rule) not in known)
            await self._session.update_state(grants=(*known, *added))

    async def keep_always(self, rules: tuple[Rule, ...]) -> None:
        """Write `rules` to the project's config, for its later sessions."""
        async with self._order:
            for rule in rules:
                await run_to_end(
                    allow_in_project, str(rule), work_dir=self._session.work_dir, share_dir=self._share_dir
                )
