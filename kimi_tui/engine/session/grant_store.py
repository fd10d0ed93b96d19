"""Storage of the user's permission grants, in the session's state and the project's config."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.config.configured_rules import format_date
from kimi_tui.history.session import Session
from kimi_tui.permission.rule import Rule


class SessionGrantStore:
    """Stores grants for one session and for its project."""

    def __init__(
        self, session: Session, *, data_dir: Path, wall_clock: Callable[[], float] = time.time
    ) -> None:
        self._session = session
        self._data_dir = data_dir
        self._wall_clock = wall_clock
        self._lock = asyncio.Lock()
        """Serializes updates, because each one extends the previous grants."""

    async def save_sensitive_reads(self, paths: tuple[str, ...]) -> None:
        """Save the paths of secrets and outside files that the session has read, in the session's state."""
        async with self._lock:
            await self._session.update_state(sensitive_reads=paths)

    async def save_for_session(self, rules: tuple[Rule, ...]) -> None:
        """Save `rules` in the session's state, so that the user can confirm them on resuming."""
        async with self._lock:
            known = self._session.state.grants
            added = tuple(str(rule) for rule in rules if str(rule) not in known)
            dates = {**self._session.state.grant_dates, **{str(rule): self._today for rule in rules}}
            await self._session.update_state(grants=(*known, *added), grant_dates=dates)

    async def save_always(self, rules: tuple[Rule, ...]) -> None:
        """Save `rules` in the project's config for later sessions."""
        from kimi_tui.config.toml_edit import allow_in_project  # imports tomlkit

        async with self._lock:
            for rule in rules:
                await run_in_thread_shielded(
                    allow_in_project,
                    str(rule),
                    work_dir=self._session.work_dir,
                    data_dir=self._data_dir,
                    date=self._today,
                )

    @property
    def _today(self) -> str:
        return format_date(self._wall_clock())
