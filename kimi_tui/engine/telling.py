"""What the engine tells beside the turns: what the session is, what was said in it, what went wrong."""

import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from kimi_tui.base.errors import KimiTuiError, SessionError
from kimi_tui.base.message import Message
from kimi_tui.base.secrets import blacked_out
from kimi_tui.engine.models import Models
from kimi_tui.engine.notices import notice
from kimi_tui.engine.past import tell_past
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.wire.events import Event, SessionInfo, SlashCommandInfo

logger = logging.getLogger(__name__)

MOST_BROKEN = 5
"""Broken skills and commands that are told one by one."""
Severity = Literal["info", "warning", "error"]


class Telling:
    """Sends a session's description, its past and its notices."""

    def __init__(
        self,
        *,
        send: Callable[[Event], None],
        session: Session,
        context: Context,
        agent: Agent,
        behaviour: Behaviour,
        models: Models,
        sandbox: bool = False,
        broken: Sequence[KimiTuiError] = (),
        shown: Sequence[Message] | None = None,
    ) -> None:
        """`shown` is the conversation that front ends know already."""
        self._send = send
        self._session = session
        self._context = context
        self._agent = agent
        self._behaviour = behaviour
        self._models = models
        self._sandbox = sandbox
        self._broken = broken
        self._shown = shown
        self.slash_commands: Callable[[], tuple[SlashCommandInfo, ...]] = tuple
        """The commands there are at this moment."""
        self.hooks: Callable[[], dict[str, int]] = dict
        """How many hooks each event has at this moment."""
        context.put_back = self._put_back

    def info(self) -> None:
        """What the session is, whole; after each change of it."""
        llm = self._behaviour.llm
        self._send(
            SessionInfo(
                session_id=self._session.id,
                work_dir=str(self._session.work_dir),
                title=self._session.state.title,
                model=llm.name if llm is not None else "",
                model_kind=llm.kind if llm is not None else "",
                agent=self._agent.name,
                thinking=self._behaviour.thinking,
                yolo=self._behaviour.yolo,
                plan_mode=self._behaviour.plan_mode.is_on,
                accept_edits=self._behaviour.accept_edits,
                sandbox=self._sandbox,
                capabilities=tuple(sorted(llm.capabilities)) if llm is not None else (),
                slash_commands=self.slash_commands(),
                models=tuple(self._models.names),
                tools=self._agent.toolset.names,
                recording=str(self._session.wire_file),
                hooks=self.hooks(),
            )
        )

    async def past(self, *, anew: bool = False) -> None:
        """What was said and run; see `tell_past`."""
        await tell_past(self._send, self._session, self._context, anew=anew)

    async def first_past(self) -> None:
        """The past, unless front ends know it from before the engine was there."""
        if self._shown is None:
            await self.past()
        elif self._shown is not self._context.history:  # an interrupted jump was settled meanwhile
            await self.past(anew=True)

    def damage(self) -> None:
        """What was found broken when the session was opened: its own files, and the user's for it."""
        if self._session.problem:
            self.notice("The session's state was damaged", self._session.problem, severity="warning")
        for error in self._broken[:MOST_BROKEN]:
            self.notice(error.what, error.hint, severity="warning")
        if len(self._broken) > MOST_BROKEN:
            self.notice(f"{len(self._broken) - MOST_BROKEN} more files are broken", "", severity="warning")
        for repair in self._context.repairs:
            self.notice("The session's journal was repaired", repair.description, severity="warning")

    def _put_back(self) -> None:
        with contextlib.suppress(SessionError):  # who has it now is told when they write, and so are we
            self._session.acquire()
        self.notice(
            "The session's folder was deleted or moved while it was in use",
            f"The conversation was written anew to {self._session.dir}. Its branches and the files' states "
            "went with that folder; files are kept again once you open the session anew.",
            severity="warning",
        )

    def notice(self, title: str, body: str, *, severity: Severity) -> None:
        """Something that the user should know."""
        self._send(notice(title, body, source_id=self._session.id, severity=severity))

    async def errors(self, work: Awaitable[None]) -> None:
        """Await `work`; what fails in it becomes a notice."""
        try:
            await work
        except KimiTuiError as error:
            self.notice(error.what, error.hint, severity="error")
        except Exception as error:
            logger.exception("a command failed")
            what = blacked_out(f"An internal error: {type(error).__name__}: {error}.")
            self.notice(what, "The log has the details.", severity="error")
