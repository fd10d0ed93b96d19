"""Publisher of session info, replays and notices."""

import contextlib
from collections.abc import Sequence
from typing import Literal

from kimi_tui.base.errors import KimiTuiError, SessionError
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.base.redaction import redact
from kimi_tui.engine.models.model_pool import ModelPool
from kimi_tui.engine.recording.replay_sender import send_replay
from kimi_tui.engine.session.hooks import SessionHooks
from kimi_tui.engine.session.notices import build_notice
from kimi_tui.engine.slash.registry import SlashRegistry
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import SessionInfo

MAX_PROBLEMS = 5
"""Maximum number of invalid files that are reported one by one."""
Severity = Literal["info", "warning", "error"]


class SessionPublisher:
    """Sends a session's info, its replay and its notices to front ends."""

    def __init__(
        self,
        *,
        sender: EventSender,
        session: Session,
        context: Context,
        agent: Agent,
        runtime_settings: RuntimeSettings,
        models: ModelPool,
        hooks: SessionHooks,
        sandbox: bool = False,
        problems: Sequence[KimiTuiError] = (),
        sent_history: Sequence[Message] | None = None,
    ) -> None:
        """`sent_history` is the conversation that front ends have already received."""
        self._sender = sender
        self._session = session
        self._context = context
        self._agent = agent
        self._runtime_settings = runtime_settings
        self._models = models
        self._hooks = hooks
        self._sandbox = sandbox
        self._problems = problems
        self._sent_history = sent_history
        self.slash_registry: SlashRegistry | None = None
        context.on_file_rewritten = self._on_directory_recreated

    def send_info(self) -> None:
        """Send all session info. Call this after each change."""
        llm = self._runtime_settings.llm
        self._sender.send(
            SessionInfo(
                session_id=self._session.id,
                work_dir=str(self._session.work_dir),
                title=self._session.state.title,
                model=llm.name if llm is not None else "",
                model_kind=llm.kind if llm is not None else "",
                agent=self._agent.name,
                thinking=self._runtime_settings.effort != "off",
                thinking_effort=self._runtime_settings.effort,
                thinking_levels=self._runtime_settings.thinking_levels,
                yolo=self._runtime_settings.approves_all,
                plan_mode=self._runtime_settings.plan_mode.is_on,
                accept_edits=self._runtime_settings.accept_edits,
                sandbox=self._sandbox,
                capabilities=tuple(sorted(llm.capabilities)) if llm is not None else (),
                slash_commands=self.slash_registry.command_infos if self.slash_registry is not None else (),
                models=tuple(self._models.names),
                model_details=self._models.details,
                tools=self._agent.toolset.names,
                recording=str(self._session.wire_file),
                hooks=self._hooks.counts,
            )
        )

    async def send_replay(self, *, replace_previous: bool = False) -> None:
        """Replay the conversation. See `replay_sender.send_replay`."""
        await send_replay(self._sender.send, self._session, self._context, replace_previous=replace_previous)

    async def send_initial_replay(self) -> None:
        """Replay the conversation unless front ends have already received it."""
        if self._sent_history is None:
            await self.send_replay()
        elif self._sent_history is not self._context.history:  # an interrupted revert was recovered since
            await self.send_replay(replace_previous=True)

    def send_repairs(self) -> None:
        """Send notices about damaged session files and invalid skills, commands and settings."""
        if self._session.problem:
            self.send_notice("The session's state was damaged", self._session.problem, severity="warning")
        for error in self._problems[:MAX_PROBLEMS]:
            self.send_notice(error.what, error.hint, severity="warning")
        if len(self._problems) > MAX_PROBLEMS:
            self.send_notice(
                msg("{count} more invalid files", count=len(self._problems) - MAX_PROBLEMS),
                "",
                severity="warning",
            )
        for repair in self._context.repairs:
            self.send_notice("The session's journal was repaired", repair.description, severity="warning")

    def _on_directory_recreated(self) -> None:
        with contextlib.suppress(SessionError):  # if another process has the lock, the next write fails
            self._session.acquire()
        self.send_notice(
            "The session's directory was deleted or moved while it was in use",
            msg(
                "The conversation was saved again to {path}. Its branches and file snapshots are "
                "lost. New snapshots are taken after you reopen the session.",
                path=self._session.dir,
            ),
            severity="warning",
        )

    def send_notice(self, title: str, body: str, *, severity: Severity) -> None:
        """Send a notice to the user."""
        self._sender.send(build_notice(title, body, source_id=self._session.id, severity=severity))

    def send_internal_error(self, error: Exception) -> None:
        """Send a notice about an unexpected error."""
        what = msg(
            "Internal error: {error}: {problem}.", error=type(error).__name__, problem=redact(str(error))
        )
        self.send_notice(what, "See the log for details.", severity="error")
