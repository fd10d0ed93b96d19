"""Builder of a session's soul, agent and the services that they use."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from kimi_tui.base.frozen import frozen
from kimi_tui.config.settings import CheckSettings
from kimi_tui.engine.attempts.attempt_run import AttemptRun
from kimi_tui.engine.attempts.attempt_service import AttemptService
from kimi_tui.engine.background_work import BackgroundWork
from kimi_tui.engine.build.agent import build_agent
from kimi_tui.engine.build.core import SessionCore
from kimi_tui.engine.build.host_tools import HostTools
from kimi_tui.engine.build.initial_state import build_compaction_config
from kimi_tui.engine.build.prompt_facts import find_prompt_facts, resume_note
from kimi_tui.engine.build.skills import SkillLibrary, load_skills
from kimi_tui.engine.build.tool_dependencies import ToolDependencies
from kimi_tui.engine.build.tool_factory import ToolFactory
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.mcp.discovery import discover_session_mcp
from kimi_tui.engine.mcp.session_mcp import SessionMcp
from kimi_tui.engine.session.pending_notes import PendingNotes
from kimi_tui.engine.subagents.factory import SharedServices
from kimi_tui.engine.subagents.isolated_workspace import IsolatedWorkspaces
from kimi_tui.engine.timeline.service import TimelineService
from kimi_tui.history.session_state import PromptFacts
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.call_ids import CallIds
from kimi_tui.soul.reminders import Reminder
from kimi_tui.soul.soul import Soul
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.task import SubagentRunner


@frozen(kw_only=True)
class AgentRuntime:
    """The soul of a session, its agent, and their services."""

    soul: Soul
    agent: Agent
    shared: SharedServices
    """Services shared by the soul and its sub-agents."""
    skill_library: SkillLibrary
    mcp: SessionMcp
    pending_notes: PendingNotes
    """Notes for the soul about the user's actions."""
    background_work: BackgroundWork
    timeline: TimelineService
    attempts: AttemptService


async def build_agent_runtime(
    core: SessionCore, tool_dependencies: ToolDependencies, resources: AsyncExitStack
) -> AgentRuntime:
    """Build the agent runtime of a session. Raises ConfigError."""
    timeline = _build_timeline(core, tool_dependencies)
    resources.push_async_callback(timeline.close)
    background_work = BackgroundWork(
        core.session,
        sender=core.wire,
        tracker=timeline.files,
        max_running_tasks=core.options.settings.background.max_running_tasks,
    )
    await background_work.load()
    tool_dependencies.by_type[BackgroundTasks] = background_work.tasks
    skill_library = await asyncio.to_thread(
        load_skills, core.options, core.session.work_dir, core.project.untrusted
    )
    attempts = _build_attempts(core, tool_dependencies, timeline)
    shared = _build_shared_services(
        core,
        tool_dependencies,
        isolated=_build_isolated_workspaces(core, tool_dependencies, timeline, attempts),
        files=timeline.files,
        tasks=background_work.tasks,
        skill_library=skill_library,
        prompt_facts=await asyncio.to_thread(find_prompt_facts, core.session),
    )
    tool_dependencies.by_type[SubagentRunner] = background_work.build_delegation(
        core.spec, shared, core.settings.subagents
    )
    agent = await asyncio.to_thread(
        build_agent,
        core.spec,
        core.workspace,
        ToolFactory(tool_dependencies.by_type),
        core.runtime_settings.capabilities,
        facts=shared.prompt_facts,
        skills=skill_library.skills_prompt,
    )
    mcp = await discover_session_mcp(core, toolset=agent.toolset, folder=tool_dependencies.output_folder)
    host_tools = HostTools(core.options.tools, tool_dependencies.by_type)
    host_tools.register_tools(agent.toolset, approval=core.approval, model=core.runtime_settings)
    shared.tool_providers.extend((host_tools, mcp))
    pending_notes = PendingNotes()
    if note := resume_note(shared.prompt_facts):
        pending_notes.add(note)
    reminders = (background_work.tasks, mcp, pending_notes)
    return AgentRuntime(
        soul=_build_soul(core, tool_dependencies, agent=agent, shared=shared, reminders=reminders),
        agent=agent,
        shared=shared,
        skill_library=skill_library,
        mcp=mcp,
        pending_notes=pending_notes,
        background_work=background_work,
        timeline=timeline,
        attempts=attempts,
    )


def _build_attempts(
    core: SessionCore, tool_dependencies: ToolDependencies, timeline: TimelineService
) -> AttemptService:
    run = AttemptRun(
        session=core.session,
        context=core.context,
        workspace=core.workspace,
        commands=timeline.checkpoint_commands,
        store=timeline.attempt_store,
        data_dir=core.options.data_dir,
    )
    return AttemptService(
        run,
        session=core.session,
        store=timeline.attempt_store,
        context=core.context,
        files=timeline.files,
        todos=tool_dependencies.todos,
        settings=core.settings,
        runtime_settings=core.runtime_settings,
        data_dir=core.options.data_dir,
        sender=core.wire,
    )


def _build_isolated_workspaces(
    core: SessionCore,
    tool_dependencies: ToolDependencies,
    timeline: TimelineService,
    attempts: AttemptService,
) -> IsolatedWorkspaces:
    return IsolatedWorkspaces(
        workspaces=tool_dependencies.workspaces,
        views=timeline.checkpoint_commands.views,
        files=timeline.files,
        attempts=attempts,
        store=timeline.attempt_store,
        scope=core.workspace,
        shell=tool_dependencies.shell,
        output_folder=tool_dependencies.output_folder,
        bounds=tool_dependencies.bounds,
        context=core.context,
        runtime_settings=core.runtime_settings,
        sender=core.wire,
    )


def _build_timeline(core: SessionCore, tool_dependencies: ToolDependencies) -> TimelineService:
    return TimelineService(
        session=core.session,
        context=core.context,
        workspace=core.workspace,
        data_dir=core.options.data_dir,
        settings=core.settings.checkpoints,
        todos=tool_dependencies.todos,
        sender=core.wire,
        private_commands=tool_dependencies.private_commands,
        workspaces=tool_dependencies.workspaces,
        check_settings=core.settings.checks if core.options.runs_checks else CheckSettings(),
        environment=core.environment,
        sandbox=tool_dependencies.sandbox,
    )


def _build_shared_services(
    core: SessionCore,
    tool_dependencies: ToolDependencies,
    *,
    isolated: IsolatedWorkspaces,
    files: SessionFiles,
    tasks: BackgroundTasks,
    skill_library: SkillLibrary,
    prompt_facts: PromptFacts,
) -> SharedServices:
    limits = core.limits
    return SharedServices(
        workspace=core.workspace,
        approval=core.approval,
        runtime_settings=core.runtime_settings,
        models=core.models,
        usage_totals=core.session_usage.usage_totals,
        call_ids=CallIds(),
        files=files,
        tasks=tasks,
        path_locks=tool_dependencies.file_tracker.write_locks,
        created_files=tool_dependencies.file_tracker.created_files,
        limits=replace(limits, max_steps=min(limits.max_steps, core.settings.subagents.max_steps)),
        compaction=build_compaction_config(core.options, tool_dependencies.by_type),
        hooks=core.hooks,
        prompt_facts=prompt_facts,
        skills=skill_library.skills_prompt,
        dependencies=dict(tool_dependencies.by_type),
        isolated=isolated,
    )


def _build_soul(
    core: SessionCore,
    tool_dependencies: ToolDependencies,
    *,
    agent: Agent,
    shared: SharedServices,
    reminders: Sequence[Reminder],
) -> Soul:
    return Soul(
        agent=agent,
        context=core.context,
        runtime_settings=core.runtime_settings,
        limits=core.limits,
        dmailbox=tool_dependencies.dmailbox,
        usage_totals=core.session_usage.usage_totals,
        sender=core.wire,
        file_states=shared.files,
        compaction=replace(
            shared.compaction,
            todos=tool_dependencies.todos,
            tasks=shared.tasks,
        ),
        call_ids=shared.call_ids,
        reminders=reminders,
        hooks=core.hooks,
    )
