"""An engine put together by hand, whose parts can fail."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from kimi_tui.config.settings import Checkpoints, Settings
from kimi_tui.engine.accounts import Accounts
from kimi_tui.engine.beside import Beside
from kimi_tui.engine.course import lay_course
from kimi_tui.engine.engine import Engine
from kimi_tui.engine.grants import SessionGrants
from kimi_tui.engine.keepsakes import Keepsakes
from kimi_tui.engine.model_in_use import ModelInUse
from kimi_tui.engine.models import Models
from kimi_tui.engine.modes import Modes
from kimi_tui.engine.plan_file import PlanFile
from kimi_tui.engine.session_hooks import SessionHooks
from kimi_tui.engine.side_questions import SideQuestions
from kimi_tui.engine.side_work import SideWork
from kimi_tui.engine.telling import Telling
from kimi_tui.engine.time_machine import TimeMachine
from kimi_tui.engine.title import Title
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.hooks.hooks import Hooks
from kimi_tui.llm.provider import LLM, ChatProvider
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.approval import WireApproval
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.soul import Soul
from kimi_tui.tools.dmail import DMailbox
from kimi_tui.tools.permission.rulebook import RuleBook
from kimi_tui.tools.tool import Tool
from kimi_tui.tools.toolset import Toolset
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.commands import Shutdown
from kimi_tui.wire.events import StatusUpdate
from tests.engine.front import Front
from tests.engine.promises import assert_promises_are_kept
from tests.history.disks import FailingDisk
from tests.patience import PATIENCE_S


class BareSession:
    """A session on a disk that can fail, with a model and tools of the test's own."""

    def __init__(
        self,
        home: Path,
        model: ChatProvider,
        *tools: Tool[Any],
        make_files: Callable[[], FileHistory] | None = None,
    ) -> None:
        self.disk = FailingDisk()
        self._make_files = make_files
        self.dir = home / "sessions" / "key" / "s1"
        self._home = home
        self._model = model
        self._tools = tools
        self.serving: asyncio.Future[None] = asyncio.Future()

    @property
    def journal(self) -> str:
        return (self.dir / "context.jsonl").read_text()

    @asynccontextmanager
    async def opened(self, **options: Any) -> AsyncIterator[Front]:
        """A front end with an engine, which is shut down at the end."""
        front = Front()
        engine = self._engine(front, **options)
        self.serving = asyncio.ensure_future(engine.serve())
        try:
            await front.until(StatusUpdate)
            yield front
        finally:
            front.give(Shutdown())
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.wait([self.serving])
                await front.to_the_end()
        if not self.serving.cancelled():
            self.serving.result()
        assert_promises_are_kept(front.events)

    def _engine(self, front: Front, *, max_time_s: float | None = None) -> Engine:
        wire = front.wire
        session = Session(self.dir, self._home, disk=self.disk)
        context = Context(session.context_file, disk=self.disk)
        todos = SessionTodos(session, context, wire.send)
        time_machine = TimeMachine(
            session=session,
            context=context,
            workspace=Workspace(self._home, ()),
            make_history=self._make_files or _no_files,
            share_dir=self._home,
            settings=Checkpoints(files=self._make_files is not None),
            todos=todos,
            send=wire.send,
        )
        behaviour = Behaviour(
            LLM(chat_provider=self._model, kind="scripted", name="m", max_context_size=200_000)
        )
        agent = Agent(
            name="a", system_prompt="Be good.", toolset=Toolset({tool.name: tool for tool in self._tools})
        )
        models = Models(Settings(), session_id=session.id)
        accounts = Accounts(session)
        soul = Soul(
            agent=agent,
            context=context,
            behaviour=behaviour,
            limits=Limits(max_attempts=1),
            dmailbox=DMailbox(),
            spending=accounts.spending,
            send=wire.send,
            file_states=time_machine.files,
        )
        approval = WireApproval(
            wire=wire,
            behaviour=behaviour,
            rules=RuleBook(work_dir=self._home),
            keeper=SessionGrants(session, share_dir=self._home),
        )
        telling = Telling(
            send=wire.send, session=session, context=context, agent=agent, behaviour=behaviour, models=models
        )
        modes = Modes(
            session=session, behaviour=behaviour, plan=PlanFile(self._home, session.id), send=wire.send
        )
        side_questions = SideQuestions(
            agent=agent,
            context=context,
            behaviour=behaviour,
            limits=Limits(max_attempts=1),
            spending=accounts.spending,
            send=wire.send,
            spent=soul.send_status,
        )
        hooks = SessionHooks(
            Hooks((), session_id=session.id, work_dir=str(self._home), send=wire.send), wire, source="startup"
        )
        title = Title(session)
        return Engine(
            wire=wire,
            session=session,
            soul=soul,
            toolset=agent.toolset,
            approval=approval,
            todos=todos,
            telling=telling,
            modes=modes,
            model=ModelInUse(session=session, soul=soul, behaviour=behaviour, models=models, telling=telling),
            keepsakes=Keepsakes(session=session, title=title, modes=modes, telling=telling, others={}),
            course=lay_course(
                wire=wire,
                soul=soul,
                time_machine=time_machine,
                todos=todos,
                title=title,
                telling=telling,
                commands=(side_questions.command,),
                max_time_s=max_time_s,
            ),
            beside=Beside(
                accounts=accounts,
                hooks=hooks,
                side_questions=side_questions,
                side_work=SideWork(session, send=wire.send, watch=time_machine.files.background),
                time_machine=time_machine,
            ),
            resources=AsyncExitStack(),
        )


def _no_files() -> FileHistory:
    raise AssertionError("no files are kept here")
