"""Builder of a session's engine."""

from contextlib import AsyncExitStack

from kimi_tui.agentspec.spec import KIMI_CLI_AGENT
from kimi_tui.engine.background_services import BackgroundServices
from kimi_tui.engine.build.agent_runtime import AgentRuntime, build_agent_runtime
from kimi_tui.engine.build.core import SessionCore, build_core
from kimi_tui.engine.build.initial_state import DEFAULT_AGENT, thinking_problems
from kimi_tui.engine.build.sandbox import sandbox_problems
from kimi_tui.engine.build.slash_registry import build_slash_registry
from kimi_tui.engine.build.tool_dependencies import ToolDependencies, build_tool_dependencies
from kimi_tui.engine.command_dispatcher import CommandDispatcher
from kimi_tui.engine.engine import Engine
from kimi_tui.engine.goal.goal_runner import GoalRunner
from kimi_tui.engine.models.active_model import ActiveModel
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.session.metadata import SessionMetadata
from kimi_tui.engine.session.open import OpenedSession, open_session
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.session.side_questions import SideQuestions
from kimi_tui.engine.session.title import SessionTitle
from kimi_tui.engine.session.title_generator import TitleGenerator
from kimi_tui.engine.session.trial_preparation import TrialPreparation
from kimi_tui.engine.session.turns import TurnQueue
from kimi_tui.engine.session.user_services import build_user_services
from kimi_tui.engine.slash.access import AddDirCommand, afk_command
from kimi_tui.engine.slash.agents import agents_command
from kimi_tui.engine.slash.context import context_command
from kimi_tui.engine.slash.cost import cost_command
from kimi_tui.engine.slash.dispatcher import SlashDispatcher
from kimi_tui.engine.slash.flow import FlowRunner
from kimi_tui.engine.slash.goal import goal_command
from kimi_tui.engine.slash.hooks import hooks_command
from kimi_tui.engine.slash.init import init_command
from kimi_tui.engine.slash.logout import logout_command
from kimi_tui.engine.slash.permissions import PermissionsCommand
from kimi_tui.engine.slash.plan import plan_command
from kimi_tui.engine.slash.registry import AnyCommand
from kimi_tui.engine.slash.version import changelog_command, version_command
from kimi_tui.engine.transfer.commands import ExportImportCommands
from kimi_tui.history.session import SessionStore
from kimi_tui.wire.channel import Wire


async def build_engine(wire: Wire, options: EngineOptions, opened: OpenedSession | None = None) -> Engine:
    """Build the engine of a new or resumed session, ready to `serve`.

    `opened`: the session if it's already open. Raises ConfigError, ModelNotSet and SessionError.
    """
    async with AsyncExitStack() as resources:
        opened = opened or await open_session(options.session_selector)
        resources.callback(opened.close)
        core = build_core(wire, options, opened, resources)
        tool_dependencies = await build_tool_dependencies(core, resources)
        resources.push_async_callback(core.context.close)
        runtime = await build_agent_runtime(core, tool_dependencies, resources)
        return _build_from_parts(core, tool_dependencies, runtime, opened, resources)


def _build_from_parts(
    core: SessionCore,
    tool_dependencies: ToolDependencies,
    runtime: AgentRuntime,
    opened: OpenedSession,
    resources: AsyncExitStack,
) -> Engine:
    publisher = _build_publisher(core, tool_dependencies, runtime, opened)
    core.modes.info = publisher
    title = SessionTitle(core.session)
    user_services = build_user_services(
        core,
        title=title,
        publisher=publisher,
        pending_notes=runtime.pending_notes,
        files=runtime.timeline.files,
        output_folder=tool_dependencies.output_folder,
    )
    resources.push_async_callback(user_services.shell.close)
    resources.callback(user_services.message_search.close)
    turns = TurnQueue(
        runtime.soul,
        sender=core.wire,
        max_time_s=core.options.max_time_s,
        files=runtime.timeline.files,
    )
    services = BackgroundServices(
        session_usage=core.session_usage,
        hooks=core.hooks,
        mcp=runtime.mcp,
        side_questions=_build_side_questions(core, runtime),
        title_generator=_build_title_generator(core, runtime, title, publisher),
        background_work=runtime.background_work,
        timeline=runtime.timeline,
        trial_preparation=TrialPreparation(
            tool_dependencies.trial_runs,
            turns=turns,
            runtime_settings=core.runtime_settings,
            runs_first=core.settings.permissions.run_first,
        ),
        attempts=runtime.attempts,
    )
    registry = build_slash_registry(
        soul=runtime.soul,
        turns=turns,
        timeline=runtime.timeline,
        title=title,
        publisher=publisher,
        commands=(
            *_session_commands(core, runtime, services, publisher),
            PermissionsCommand(user_services.permissions, publisher).command,
        ),
    )
    runtime.mcp.slash_registry = registry
    return Engine(
        wire=core.wire,
        session=core.session,
        soul=runtime.soul,
        todos=tool_dependencies.todos,
        publisher=publisher,
        modes=core.modes,
        services=services,
        permissions=user_services.permissions,
        dispatcher=CommandDispatcher(
            wire=core.wire,
            soul=runtime.soul,
            toolset=runtime.agent.toolset,
            turns=turns,
            slash=SlashDispatcher(registry, turns=turns, soul=runtime.soul, sender=core.wire),
            publisher=publisher,
            modes=core.modes,
            model=_build_active_model(core, runtime, publisher),
            metadata=_build_metadata(core, runtime, title, publisher),
            services=services,
            user_services=user_services,
        ),
        resources=resources.pop_all(),
    )


def _build_publisher(
    core: SessionCore, tool_dependencies: ToolDependencies, runtime: AgentRuntime, opened: OpenedSession
) -> SessionPublisher:
    return SessionPublisher(
        sender=core.wire,
        session=core.session,
        context=core.context,
        agent=runtime.agent,
        runtime_settings=core.runtime_settings,
        models=core.models,
        hooks=core.hooks,
        sandbox=tool_dependencies.sandbox is not None,
        problems=(
            *core.options.settings_problems,
            *thinking_problems(core.runtime_settings, core.options),
            *core.project.problems,
            *core.models.problems,
            *sandbox_problems(tool_dependencies.sandbox),
            *runtime.skill_library.problems,
        ),
        sent_history=opened.sent_history,
    )


def _build_metadata(
    core: SessionCore, runtime: AgentRuntime, title: SessionTitle, publisher: SessionPublisher
) -> SessionMetadata:
    return SessionMetadata(
        session=core.session,
        title=title,
        modes=core.modes,
        publisher=publisher,
        agent=core.agent_name if core.agent_name != DEFAULT_AGENT else "",
        scope=core.workspace,
        prompt_facts=runtime.shared.prompt_facts,
    )


def _build_active_model(core: SessionCore, runtime: AgentRuntime, publisher: SessionPublisher) -> ActiveModel:
    return ActiveModel(
        session=core.session,
        soul=runtime.soul,
        runtime_settings=core.runtime_settings,
        models=core.models,
        publisher=publisher,
    )


def _build_side_questions(core: SessionCore, runtime: AgentRuntime) -> SideQuestions:
    return SideQuestions(
        agent=runtime.agent,
        context=core.context,
        runtime_settings=core.runtime_settings,
        limits=core.limits,
        usage_totals=core.session_usage.usage_totals,
        sender=core.wire,
        soul=runtime.soul,
    )


def _build_title_generator(
    core: SessionCore, runtime: AgentRuntime, title: SessionTitle, publisher: SessionPublisher
) -> TitleGenerator | None:
    if not (core.settings.session_titles and core.options.generates_title):
        return None
    return TitleGenerator(
        title=title,
        context=core.context,
        runtime_settings=core.runtime_settings,
        limits=core.limits,
        usage_totals=core.session_usage.usage_totals,
        soul=runtime.soul,
        info=publisher,
    )


def _session_commands(
    core: SessionCore, runtime: AgentRuntime, services: BackgroundServices, publisher: SessionPublisher
) -> tuple[AnyCommand, ...]:
    """Return the slash commands of the session's parts."""
    return (
        plan_command(core.modes),
        afk_command(core.modes, publisher),
        AddDirCommand(
            session=core.session,
            scope=core.workspace,
            approval=core.approval,
            notes=runtime.pending_notes,
            publisher=publisher,
        ).command,
        services.side_questions.command,
        hooks_command(core.hooks, publisher),
        runtime.background_work.command,
        runtime.mcp.command,
        *ExportImportCommands(
            session=core.session,
            store=SessionStore(core.options.data_dir),
            data_dir=core.options.data_dir,
            pending_notes=runtime.pending_notes,
            publisher=publisher,
            context=core.context,
            runtime_settings=core.runtime_settings,
        ).commands,
        goal_command(
            GoalRunner(
                soul=runtime.soul,
                session=core.session,
                files=runtime.timeline.files,
                commands=runtime.timeline.checkpoint_commands,
                usage_totals=core.session_usage.usage_totals,
                runtime_settings=core.runtime_settings,
                wire=core.wire,
            )
        ),
        init_command(core.session.work_dir),
        logout_command(core.options.data_dir, publisher),
        version_command(publisher),
        changelog_command(publisher),
        context_command(
            agent=runtime.agent,
            context=core.context,
            runtime_settings=core.runtime_settings,
            trigger=runtime.shared.compaction.trigger,
            sender=core.wire,
        ),
        cost_command(core.session_usage.usage_totals, core.wire),
        agents_command(
            current=core.agent_name or core.spec.name,
            work_dir=core.session.work_dir,
            data_dir=core.options.data_dir,
            untrusted=core.project.untrusted,
            sender=core.wire,
        ),
        *runtime.skill_library.slash_commands(
            core.session.work_dir,
            core.approval,
            FlowRunner(
                soul=runtime.soul, context=core.context, max_nodes=core.limits.max_steps, sender=core.wire
            ),
            as_kimi_cli=core.agent_name == KIMI_CLI_AGENT,
        ),
    )
