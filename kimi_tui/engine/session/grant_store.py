"""Storage of the user's permission grants, in the session's state and the project's config."""

import asyncio
from pathlib import Path

from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.config.toml_edit import allow_in_project
from kimi_tui.history.session import Session
from kimi_tui.permission.rule import Rule


class SessionGrantStore:
    """Stores grants for one session and for its project."""

    def __init__(self, session: Session, *, data_dir: Path) -> None:
        self._session = session
        self._data_dir = data_dir
        self._lock = asyncio.Lock()
        """Serializes updates, because each one extends the previous grants."""

    async def save_sensitive_reads(self, paths: tuple[str, ...]) -> None:
        """Save in the session's state which secrets and files elsewhere it has read."""
        async with self._lock:
            await self._session.update_state(sensitive_reads=paths)

    async def save_for_session(self, rules: tuple[Rule, ...]) -> None:
        """Save `rules` in the session's state, which resumed runs of the session also use."""
        async with self._lock:
            known = self._session.state.grants
            added = tuple(str(rule) for rule in rules if str(rule) not in known)
            await self._session.update_state(grants=(*known, *added))

    async def save_always(self, rules: tuple[Rule, ...]) -> None:
        """Save `rules` in the project's config for later sessions."""
        async with self._lock:
            for rule in rules:
                await run_in_thread_shielded(
                    allow_in_project, str(rule), work_dir=self._session.work_dir, data_dir=self._data_dir
                )
