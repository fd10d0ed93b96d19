"""Engine built by hand, with parts that can fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from kimi_tui.config.settings import CheckpointSettings, Settings
from kimi_tui.engine.attempts.attempt_run import AttemptRun
from kimi_tui.engine.attempts.attempt_service import AttemptService
from kimi_tui.engine.background_services import BackgroundServices
from kimi_tui.engine.background_work import BackgroundWork
from kimi_tui.engine.build.slash_registry import build_slash_registry
from kimi_tui.engine.command_dispatcher import CommandDispatcher
from kimi_tui.engine.engine import Engine
from kimi_tui.engine.files.snapshot_worker import HistoryFactory
from kimi_tui.engine.models.active_model import ActiveModel
from kimi_tui.engine.models.model_pool import ModelPool
from kimi_tui.engine.models.model_setup import ModelSetup
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.session.browser import SessionBrowser
from kimi_tui.engine.session.grant_store import SessionGrantStore
from kimi_tui.engine.session.hooks import SessionHooks
from kimi_tui.engine.session.message_search import MessageSearch
from kimi_tui.engine.session.metadata import SessionMetadata
from kimi_tui.engine.session.modes import Modes
from kimi_tui.engine.session.permission_service import PermissionService
from kimi_tui.engine.session.plan_file import PlanFile
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.session.settings_service import SettingsService
from kimi_tui.engine.session.side_questions import SideQuestions
from kimi_tui.engine.session.title import SessionTitle
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.engine.session.turns import TurnQueue
from kimi_tui.engine.session.usage import SessionUsage
from kimi_tui.engine.session.user_services import UserServices
from kimi_tui.engine.session.user_shell import UserShell
from kimi_tui.engine.slash.dispatcher import SlashDispatcher
from kimi_tui.engine.timeline.service import TimelineService
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.session_state import PromptFacts
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.hooks.dispatcher import SessionHookDispatcher
from kimi_tui.llm.provider import LLM, ChatProvider
from kimi_tui.permission.rule_set import RuleSet
from kimi_tui.permission.sensitive_reads import SensitiveReads
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.soul import Soul
from kimi_tui.soul.wire_approval import WireApproval
from kimi_tui.tools.dmail import DMailbox
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.tools.tool import Tool
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.commands import Shutdown
from kimi_tui.wire.events import StatusUpdate
from tests.engine.event_order import assert_event_order
from tests.engine.fake_front_end import FakeFrontEnd
from tests.history.file_systems import FailingFileSystem
from tests.timeouts import TEST_TIMEOUT_S


class BareSession:
    """Session with a disk that can fail, and a model and tools provided by the test."""

    def __init__(
        self,
        home: Path,
        model: ChatProvider,
        *tools: Tool[Any],
        history_factory: HistoryFactory | None = None,
    ) -> None:
        self.disk = FailingFileSystem()
        self._history_factory = history_factory
        self.dir = home / "sessions" / "key" / "s1"
        self._home = home
        self._model = model
        self._tools = tools
        self.serving: asyncio.Future[None] = asyncio.Future()

    @property
    def journal(self) -> str:
        return (self.dir / "context.jsonl").read_text()

    @asynccontextmanager
    async def open_engine(self, **options: Any) -> AsyncIterator[FakeFrontEnd]:
        """Start an engine and yield its front end. Shut the engine down on exit."""
        front = FakeFrontEnd()
        engine = self._build_engine(front, **options)
        self.serving = asyncio.ensure_future(engine.serve())
        try:
            await front.wait_for(StatusUpdate)
            yield front
        finally:
            front.send(Shutdown())
            async with asyncio.timeout(TEST_TIMEOUT_S):
                await asyncio.wait([self.serving])
                await front.drain()
        if not self.serving.cancelled():
            self.serving.result()
        assert_event_order(front.events)

    def _build_engine(self, front: FakeFrontEnd, *, max_time_s: float | None = None) -> Engine:
        wire = front.wire
        session = Session(self.dir, self._home, fs=self.disk)
        context = Context(session.context_file, fs=self.disk)
        todos = SessionTodos(session, context, wire)
        timeline = TimelineService(
            session=session,
            context=context,
            workspace=PathScope(self._home, ()),
            history_factory=self._history_factory or NoHistory(),
            data_dir=self._home,
            settings=CheckpointSettings(files=self._history_factory is not None),
            todos=todos,
            sender=wire,
        )
        runtime_settings = RuntimeSettings(
            LLM(chat_provider=self._model, kind="scripted", name="m", max_context_size=200_000)
        )
        agent = Agent(
            name="a", system_prompt="Be good.", toolset=Toolset({tool.name: tool for tool in self._tools})
        )
        models = ModelPool(Settings(), session_id=session.id)
        session_usage = SessionUsage(session)
        soul = Soul(
            agent=agent,
            context=context,
            runtime_settings=runtime_settings,
            limits=Limits(max_attempts=1),
            dmailbox=DMailbox(),
            usage_totals=session_usage.usage_totals,
            sender=wire,
            file_states=timeline.files,
        )
        approval = WireApproval(
            wire=wire,
            runtime_settings=runtime_settings,
            rules=RuleSet(work_dir=self._home),
            grant_store=SessionGrantStore(session, data_dir=self._home),
            sensitive_reads=SensitiveReads(),
        )
        hooks = SessionHooks(
            SessionHookDispatcher((), session_id=session.id, work_dir=str(self._home), sender=wire),
            wire,
            source="startup",
        )
        publisher = SessionPublisher(
            sender=wire,
            session=session,
            context=context,
            agent=agent,
            runtime_settings=runtime_settings,
            models=models,
            hooks=hooks,
        )
        modes = Modes(
            session=session,
            runtime_settings=runtime_settings,
            plan=PlanFile(self._home, session.id),
            approval=approval,
            sender=wire,
        )
        modes.info = publisher
        side_questions = SideQuestions(
            agent=agent,
            context=context,
            runtime_settings=runtime_settings,
            limits=Limits(max_attempts=1),
            usage_totals=session_usage.usage_totals,
            sender=wire,
            soul=soul,
        )
        services = BackgroundServices(
            session_usage=session_usage,
            hooks=hooks,
            side_questions=side_questions,
            background_work=BackgroundWork(session, sender=wire, tracker=timeline.files),
            timeline=timeline,
            attempts=AttemptService(
                AttemptRun(
                    session=session,
                    context=context,
                    workspace=PathScope(self._home),
                    commands=timeline.checkpoint_commands,
                    store=timeline.attempt_store,
                    data_dir=self._home,
                ),
                session=session,
                store=timeline.attempt_store,
                context=context,
                files=timeline.files,
                todos=todos,
                settings=Settings(),
                runtime_settings=runtime_settings,
                data_dir=self._home,
                sender=wire,
            ),
        )
        title = SessionTitle(session)
        turns = TurnQueue(soul, sender=wire, max_time_s=max_time_s, files=timeline.files)
        registry = build_slash_registry(
            soul=soul,
            turns=turns,
            timeline=timeline,
            title=title,
            publisher=publisher,
            commands=(side_questions.command,),
        )
        options = EngineOptions(settings=Settings(), data_dir=self._home, work_dir=self._home)
        user_services = UserServices(
            shell=UserShell(
                work_dir=self._home,
                output_folder=OutputFolder(session.dir / "output"),
                sender=wire,
                files=timeline.files,
                notes=None,
            ),
            session_browser=SessionBrowser(
                store=SessionStore(self._home), session=session, title=title, sender=wire, info=publisher
            ),
            message_search=MessageSearch(data_dir=self._home, sender=wire),
            model_setup=ModelSetup(options=options, models=models, wire=wire),
            settings_service=SettingsService(options=options, models=models, sender=wire),
            permissions=PermissionService(
                options=options,
                session=session,
                holder=approval,
                runtime_settings=runtime_settings,
                sender=wire,
            ),
        )
        dispatcher = CommandDispatcher(
            wire=wire,
            soul=soul,
            toolset=agent.toolset,
            turns=turns,
            slash=SlashDispatcher(registry, turns=turns, soul=soul, sender=wire),
            publisher=publisher,
            modes=modes,
            model=ActiveModel(
                session=session,
                soul=soul,
                runtime_settings=runtime_settings,
                models=models,
                publisher=publisher,
            ),
            metadata=SessionMetadata(
                session=session,
                title=title,
                modes=modes,
                publisher=publisher,
                agent="",
                scope=PathScope(self._home),
                prompt_facts=PromptFacts(now="", work_dir_ls=""),
            ),
            services=services,
            user_services=user_services,
        )
        return Engine(
            wire=wire,
            session=session,
            soul=soul,
            todos=todos,
            publisher=publisher,
            modes=modes,
            services=services,
            permissions=user_services.permissions,
            dispatcher=dispatcher,
            resources=AsyncExitStack(),
        )


class NoHistory:
    """Fails to build a file history."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error or AssertionError("file snapshots are disabled")

    def build(self) -> FileHistory:
        raise self._error


class ReadyHistory:
    """Builds a file history of the test."""

    def __init__(self, history: FileHistory) -> None:
        self._history = history

    def build(self) -> FileHistory:
        return self._history
