"""Putting a session together: the one place that knows every part."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.agentspec.finding import find_agent
from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.agentspec.prompt import PromptVariables, render_prompt
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.errors import SessionError
from kimi_tui.compaction.trigger import Trigger
from kimi_tui.engine.engine import Engine
from kimi_tui.engine.grants import SessionGrants
from kimi_tui.engine.hooks_command import hooks_command
from kimi_tui.engine.init_command import init_command
from kimi_tui.engine.injection import Collaborators
from kimi_tui.engine.library import open_library
from kimi_tui.engine.models import Models, ModelWish
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.rules import starting_rules
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.engine.session_hooks import session_hooks
from kimi_tui.engine.strategy import named_strategy
from kimi_tui.engine.telling import Telling
from kimi_tui.engine.time_travel import TimeTravel
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.engine.toolbox import BUILTIN_TOOLS, Toolbox, suits
from kimi_tui.engine.web import new_fetcher, search_service
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.snapshots.manifest import is_manifest
from kimi_tui.hooks.hooks import Firing
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.approval import WireApproval
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.compacting import Compaction
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.soul import Soul
from kimi_tui.soul.spending import Spending
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.dmail import DMailbox
from kimi_tui.tools.file.ledger import FileLedger
from kimi_tui.tools.file.media import ModelSenses
from kimi_tui.tools.shell.output import OutputFolder
from kimi_tui.tools.shell.process import Shell
from kimi_tui.tools.todo import TodoStore
from kimi_tui.tools.web.fetcher import Fetcher
from kimi_tui.tools.web.search import SearchService
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.events import Event

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory


async def open_engine(wire: Wire, options: EngineOptions) -> Engine:
    """A session, new or resumed, ready to `serve`.

    Raises ConfigError, ModelNotSet and SessionError.
    """
    async with AsyncExitStack() as resources:
        session = await asyncio.to_thread(open_session, options)
        session.acquire()
        resources.callback(session.release)
        return await _assemble(wire, options, session, resources)


def open_session(options: EngineOptions) -> Session:
    """The session that the options name: an earlier one, a copy of it, or a new one. Raises SessionError."""
    store = SessionStore(options.share_dir)
    earlier: Session | None = None
    if options.session_id is not None:
        earlier = store.find(options.session_id)
    elif options.continue_last:
        earlier = store.last(options.work_dir)
    if earlier is None:
        return store.create(options.work_dir)
    if not earlier.work_dir.is_dir():
        raise SessionError(
            f"The folder that the session worked in is gone: {earlier.work_dir}.",
            hint="Put it back where it was, or begin a new session.",
        )
    return store.fork(earlier) if options.fork else earlier


async def _assemble(
    wire: Wire, options: EngineOptions, session: Session, resources: AsyncExitStack
) -> Engine:
    settings = options.settings
    workspace = Workspace(session.work_dir, _additional_dirs(options, session))
    spec = _spec(options, session)
    models = Models(settings, session_id=session.id)
    resources.push_async_callback(models.aclose)
    behaviour = _behaviour(models, options, session, spec)
    approval = WireApproval(
        wire=wire,
        behaviour=behaviour,
        rules=starting_rules(settings.permissions, session.state.grants, workspace),
        keeper=SessionGrants(session, share_dir=options.share_dir),
    )
    hooks = session_hooks(settings.hooks, session, wire)
    todos = SessionTodos(session, wire)
    dmailbox = DMailbox()
    shell = Shell()
    resources.push_async_callback(shell.close)
    collaborators: Collaborators = {
        Workspace: workspace,
        Approval: approval,
        Firing: hooks,
        TodoStore: todos,
        DMailbox: dmailbox,
        FileLedger: FileLedger(),
        ModelSenses: behaviour,
        Shell: shell,
        OutputFolder: OutputFolder(session.dir / "output"),
        Fetcher: new_fetcher(settings.web),
        SearchService: search_service(settings),
    }
    library = await asyncio.to_thread(open_library, options, session.work_dir)
    agent = await asyncio.to_thread(
        _agent, spec, workspace, Toolbox(collaborators), behaviour.capabilities, library.skills_listed
    )
    context = Context(session.context_file)
    resources.push_async_callback(context.close)
    await context.restore()
    files = session_files(
        session,
        context,
        workspace,
        share_dir=options.share_dir,
        send=wire.send,
        enabled=settings.checkpoints.files,
    )
    resources.push_async_callback(files.close)
    soul = Soul(
        agent=agent,
        context=context,
        behaviour=behaviour,
        limits=Limits(
            max_steps=settings.loop_control.max_steps_per_turn,
            max_attempts=settings.loop_control.max_retries_per_step,
            max_cost_usd=options.max_cost_usd,
        ),
        dmailbox=dmailbox,
        spending=Spending(),
        send=wire.send,
        file_states=files,
        compaction=_compaction(options, todos, collaborators),
        hooks=hooks,
    )
    telling = Telling(
        send=wire.send,
        session=session,
        context=context,
        agent=agent,
        behaviour=behaviour,
        models=models,
        broken=library.problems,
    )
    return Engine(
        wire=wire,
        session=session,
        soul=soul,
        agent=agent,
        behaviour=behaviour,
        approval=approval,
        todos=todos,
        models=models,
        files=files,
        time_travel=TimeTravel(session=session, context=context, files=files, send=wire.send),
        telling=telling,
        hooks=hooks,
        commands=(
            hooks_command(hooks, telling),
            init_command(session.work_dir),
            *library.slash_commands(session.work_dir, approval),
        ),
        additional_dirs=workspace.additional_dirs,
        max_time_s=options.max_time_s,
        resources=resources.pop_all(),
    )


def session_files(
    session: Session,
    context: Context,
    workspace: Workspace,
    *,
    share_dir: Path,
    send: Callable[[Event], None],
    enabled: bool = True,
) -> SessionFiles:
    """The files' history of a session whose conversation has been restored."""

    def make() -> "FileHistory":
        from kimi_tui.history.snapshots.file_history import FileHistory
        from kimi_tui.history.snapshots.store import ProjectStore

        return FileHistory(ProjectStore(share_dir, session.work_dir, session.id))

    earlier = [checkpoint.files for checkpoint in context.checkpoints]
    return SessionFiles(
        make,
        workspace=workspace,
        earlier=[files for files in earlier if files is not None and is_manifest(files)],
        send=send,
        enabled=enabled,
    )


def _additional_dirs(options: EngineOptions, session: Session) -> tuple[Path, ...]:
    """The folders added now and in earlier runs of the session, as far as they are still there."""
    earlier = (Path(path) for path in session.state.additional_dirs)
    return tuple(dict.fromkeys((*options.additional_dirs, *filter(Path.is_dir, earlier))))


def _spec(options: EngineOptions, session: Session) -> ResolvedAgentSpec:
    path = options.agent_file or find_agent(
        options.agent, work_dir=session.work_dir, share_dir=options.share_dir
    )
    return load_agent_spec(path, known_tools=BUILTIN_TOOLS)


def _behaviour(
    models: Models, options: EngineOptions, session: Session, spec: ResolvedAgentSpec
) -> Behaviour:
    wish = ModelWish(
        asked_for=options.model,
        last_used=session.state.model,
        of_agent=spec.model,
        demo=options.demo,
        demo_when_nothing_is_configured=options.interactive,
    )
    return Behaviour(
        models.starting(wish),
        thinking=options.settings.default_thinking if options.thinking is None else options.thinking,
        yolo=options.yolo or (options.interactive and session.state.yolo),
    )


def _compaction(options: EngineOptions, todos: SessionTodos, collaborators: Collaborators) -> Compaction:
    loop = options.settings.loop_control
    return Compaction(
        strategy=options.compaction or named_strategy(options.settings.compaction.strategy, collaborators),
        trigger=Trigger(
            reserved_context_size=loop.reserved_context_size, ratio=loop.compaction_trigger_ratio
        ),
        todos=lambda: todos.items,
    )


def _agent(
    spec: ResolvedAgentSpec,
    workspace: Workspace,
    toolbox: Toolbox,
    capabilities: Collection[str],
    skills: str,
) -> Agent:
    variables = PromptVariables.collect(
        workspace.work_dir, additional_dirs=workspace.additional_dirs, skills=skills
    )
    return Agent(
        name=spec.name,
        system_prompt=render_prompt(spec, variables),
        toolset=toolbox.toolset(
            (tool.name, tool.reference) for tool in spec.tools if suits(tool.reference, capabilities)
        ),
    )
