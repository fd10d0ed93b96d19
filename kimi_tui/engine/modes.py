"""The modes of a session: thinking, yolo, accepting edits, and planning; how they change and are kept."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.identity import new_id
from kimi_tui.engine.plan_file import PlanFile
from kimi_tui.history.session import Session
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.wire.events import Event, Notification, PlanDisplay, StatusUpdate

logger = logging.getLogger(__name__)


class Modes:
    """Changes what the user may change while a session runs, and tells everybody."""

    def __init__(
        self,
        *,
        session: Session,
        behaviour: Behaviour,
        plan: PlanFile,
        send: Callable[[Event], None],
    ) -> None:
        self._session = session
        self._behaviour = behaviour
        self._send = send
        self._plan = plan
        self.changed: Callable[[], None] = lambda: None
        """Called after each change: tells what the session is, and answers what needs no asking any more."""

    @property
    def is_on(self) -> bool:
        """Whether plan mode is on."""
        return self._behaviour.plan_mode.is_on

    @property
    def approves_all(self) -> bool:
        """Whether nothing needs to be asked (yolo)."""
        return self._behaviour.yolo

    @property
    def unsaved(self) -> dict[str, Any]:
        """What the session's state lacks: modes that it was started with."""
        known = self._session.state.plan_mode
        return {"plan_mode": self.is_on} if known != self.is_on else {}

    def tell(self) -> None:
        """Tell of plan mode, if it is on, when the session opens."""
        if self.is_on:
            self._send(StatusUpdate(plan_mode=True))

    def set_thinking(self, enabled: bool) -> None:
        """Think, or not, from the next step on."""
        self._behaviour.thinking = enabled
        self.changed()

    async def set_yolo(self, enabled: bool) -> None:
        """Approve everything, or ask again."""
        self._behaviour.yolo = enabled
        self.changed()
        await self._keep(yolo=enabled)

    async def set_accept_edits(self, enabled: bool) -> None:
        """Approve harmless edits in the work dir, or ask again."""
        self._behaviour.accept_edits = enabled
        self.changed()

    async def set_plan_mode(self, enabled: bool) -> None:
        """Allow reading alone, or changes again. The model is told before its next step."""
        if enabled == self.is_on:
            return
        self._behaviour.plan_mode.is_on = enabled
        self.changed()
        self._send(StatusUpdate(plan_mode=enabled))
        await self._keep(plan_mode=enabled)

    # the plan

    @property
    def file(self) -> Path:
        """Where the plan is kept."""
        return self._plan.path

    async def read(self) -> str:
        """The plan as it stands; empty when there is none. Raises FileProblem."""
        return await self._plan.read()

    async def write(self, plan: str) -> None:
        """Replace the plan. Raises FileProblem."""
        await self._plan.write(plan)

    async def show(self) -> None:
        """Show the plan to the user. Raises FileProblem."""
        self._send(PlanDisplay(await self._plan.read(), str(self._plan.path)))

    async def clear_plan(self) -> None:
        """Forget the plan. Raises FileProblem."""
        await self._plan.clear()

    async def _keep(self, **changes: Any) -> None:
        """For a resumed session; the mode holds for this one whether or not that works."""
        try:
            await self._session.update_state(**changes)
        except KimiTuiError as error:
            logger.warning("a mode could not be saved: %s", error)
            self._send(
                Notification(
                    id=new_id(),
                    category="session",
                    type="mode_not_kept",
                    source_kind="engine",
                    source_id=self._session.id,
                    title="What you set holds only until kimi-tui ends",
                    body=str(error),
                    severity="warning",
                )
            )
