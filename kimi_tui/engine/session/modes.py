"""Modes of a session: thinking, yolo, accept edits and plan mode."""

import logging
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.ids import new_id
from kimi_tui.base.thinking_effort import ThinkingEffort
from kimi_tui.engine.session.info_sender import InfoSender
from kimi_tui.engine.session.plan_file import PlanFile
from kimi_tui.history.session import Session
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.wire_approval import WireApproval
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import Notification, PlanDisplay, StatusUpdate

logger = logging.getLogger(__name__)


class Modes:
    """Changes the session's modes, saves them, and notifies front ends."""

    def __init__(
        self,
        *,
        session: Session,
        runtime_settings: RuntimeSettings,
        plan: PlanFile,
        approval: WireApproval,
        sender: EventSender,
    ) -> None:
        self._session = session
        self._runtime_settings = runtime_settings
        self._sender = sender
        self._plan = plan
        self._approval = approval
        self.info: InfoSender | None = None
        """Sends the session info after each change."""

    @property
    def is_on(self) -> bool:
        """Whether plan mode is on."""
        return self._runtime_settings.plan_mode.is_on

    @property
    def approves_all(self) -> bool:
        """Whether all requests are approved automatically (yolo or afk)."""
        return self._runtime_settings.approves_all

    @property
    def is_afk(self) -> bool:
        """Whether afk mode is on."""
        return self._runtime_settings.afk

    @property
    def unsaved(self) -> dict[str, Any]:
        """Modes that differ from the session's saved state."""
        known = self._session.state.plan_mode
        return {"plan_mode": self.is_on} if known != self.is_on else {}

    def announce(self) -> None:
        """Send the plan mode status when the session opens, if plan mode is on."""
        if self.is_on:
            self._sender.send(StatusUpdate(plan_mode=True))

    def set_thinking(self, effort: ThinkingEffort) -> None:
        """Use another thinking level, from the next step on."""
        self._runtime_settings.requested_effort = effort
        self._handle_change()

    async def set_yolo(self, enabled: bool) -> None:
        """Turn yolo mode on or off. Turning yolo mode off also turns afk mode off."""
        self._runtime_settings.yolo = enabled
        self._runtime_settings.afk = self._runtime_settings.afk and enabled
        self._handle_change()
        await self._save(yolo=enabled)

    async def set_afk(self, enabled: bool) -> None:
        """Turn afk mode on or off, for this run."""
        self._runtime_settings.afk = enabled
        self._handle_change()

    async def set_accept_edits(self, enabled: bool) -> None:
        """Turn automatic approval of harmless edits in the working directory on or off."""
        self._runtime_settings.accept_edits = enabled
        self._handle_change()

    async def set_plan_mode(self, enabled: bool) -> None:
        """Turn plan mode on or off. The model is notified before its next step."""
        if enabled == self.is_on:
            return
        self._runtime_settings.plan_mode.is_on = enabled
        self._handle_change()
        self._sender.send(StatusUpdate(plan_mode=enabled))
        await self._save(plan_mode=enabled)

    # the plan

    @property
    def file(self) -> Path:
        """Path of the plan."""
        return self._plan.path

    async def read(self) -> str:
        """Return the plan, or an empty string. Raises FileProblem."""
        return await self._plan.read()

    async def write(self, plan: str) -> None:
        """Replace the plan. Raises FileProblem."""
        await self._plan.write(plan)

    async def show(self) -> None:
        """Send the plan to front ends. Raises FileProblem."""
        self._sender.send(PlanDisplay(await self._plan.read(), str(self._plan.path)))

    async def clear_plan(self) -> None:
        """Delete the plan. Raises FileProblem."""
        await self._plan.clear()

    def _handle_change(self) -> None:
        """Approve requests that no longer need an answer, and send the session info."""
        self._approval.resolve_granted_requests()
        if self.info is not None:
            self.info.send_info()

    async def _save(self, **changes: Any) -> None:
        """Save modes for a resumed session. If that fails, warn the user; the mode applies anyway."""
        try:
            await self._session.update_state(**changes)
        except KimiTuiError as error:
            logger.warning("a mode could not be saved: %s", error)
            self._sender.send(
                Notification(
                    id=new_id(),
                    category="session",
                    type="mode_not_kept",
                    source_kind="engine",
                    source_id=self._session.id,
                    title="The mode wasn't saved and applies only to this run",
                    body=str(error),
                    severity="warning",
                )
            )
