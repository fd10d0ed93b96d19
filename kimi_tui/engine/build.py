"""Putting a session together: the one place that knows every part."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from kimi_tui.engine.agents import make_agent
from kimi_tui.engine.agents_command import agents_command
from kimi_tui.engine.context_command import context_command
from kimi_tui.engine.engine import Engine
from kimi_tui.engine.ground import Ground, lay_ground
from kimi_tui.engine.hooks_command import hooks_command
from kimi_tui.engine.init_command import init_command
from kimi_tui.engine.library import Library, open_library
from kimi_tui.engine.mcp.opening import session_mcp
from kimi_tui.engine.opened import OpenedSession, open_session
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.own_tools import OwnTools
from kimi_tui.engine.remarks import Remarks
from kimi_tui.engine.sandbox import problems_of
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.engine.side_questions import SideQuestions
from kimi_tui.engine.side_work import SideWork
from kimi_tui.engine.slash_book import AnyCommand
from kimi_tui.engine.start import DEFAULT_AGENT, compaction_of
from kimi_tui.engine.subagents.workshop import Household
from kimi_tui.engine.supplies import Supplies, lay_in_supplies
from kimi_tui.engine.telling import Telling
from kimi_tui.engine.time_machine import TimeMachine
from kimi_tui.engine.toolbox import Toolbox
from kimi_tui.engine.users_room import open_users_room
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.call_ids import CallIds
from kimi_tui.soul.reminders import Reminder
from kimi_tui.soul.soul import Soul
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.task import Delegation
from kimi_tui.wire.channel import Wire


async def open_engine(wire: Wire, options: EngineOptions, opened: OpenedSession | None = None) -> Engine:
    """A session, new or resumed, ready to `serve`; the one that is `opened` already, if one is.

    Raises ConfigError, ModelNotSet and SessionError.
    """
    async with AsyncExitStack() as resources:
        opened = opened or await open_session(options.wanted)
        resources.callback(opened.close)
        ground = lay_ground(wire, options, opened, resources)
        supplies = await lay_in_supplies(ground, resources)
        return await _assemble(ground, supplies, opened, resources)


async def _assemble(
    ground: Ground, supplies: Supplies, opened: OpenedSession, resources: AsyncExitStack
) -> Engine:
    wire, options, session = ground.wire, ground.options, ground.session
    resources.push_async_callback(ground.context.close)
    time_machine = _time_machine(ground, supplies)
    resources.push_async_callback(time_machine.close)
    side_work = SideWork(session, send=wire.send, watch=time_machine.files.background)
    await side_work.open()
    supplies.by_type[BackgroundTasks] = side_work.tasks
    library = await asyncio.to_thread(open_library, options, session.work_dir)
    household = _household(ground, supplies, files=time_machine.files, tasks=side_work.tasks, library=library)
    supplies.by_type[Delegation] = side_work.delegation(ground.spec, household, ground.settings.subagents)
    agent = await asyncio.to_thread(
        make_agent,
        ground.spec,
        ground.workspace,
        Toolbox(supplies.by_type),
        ground.behaviour.capabilities,
        skills=library.skills_listed,
    )
    mcp = await session_mcp(ground, toolset=agent.toolset, folder=supplies.output)
    own_tools = OwnTools(options.tools, supplies.by_type)
    own_tools.lend_to(agent.toolset, approval=ground.approval)
    household.lenders.extend((own_tools.lend_to, mcp.lend_to))
    remarks = Remarks()
    soul = _soul(
        ground,
        supplies,
        agent=agent,
        household=household,
        reminders=(side_work.tasks.remind, mcp.remind, remarks.remind),
    )
    telling = _telling(ground, supplies, agent=agent, library=library, opened=opened)
    time_machine.listen(telling)
    users_room = open_users_room(
        ground, telling=telling, remarks=remarks, files=time_machine.files, output_folder=supplies.output
    )
    resources.push_async_callback(users_room.close)
    return Engine(
        wire=wire,
        session=session,
        soul=soul,
        agent=agent,
        behaviour=ground.behaviour,
        approval=ground.approval,
        todos=supplies.todos,
        models=ground.models,
        time_machine=time_machine,
        telling=telling,
        modes=ground.modes,
        side_questions=_side_questions(ground, agent, soul),
        accounts=ground.accounts,
        hooks=ground.hooks,
        side_work=side_work,
        commands=(
            hooks_command(ground.hooks, telling),
            side_work.command,
            mcp.command,
            *users_room.commands,
            *_commands_about(ground, agent, household),
            *library.slash_commands(session.work_dir, ground.approval),
        ),
        mcp=mcp,
        users_room=users_room,
        remembered={
            "agent": ground.agent_name if ground.agent_name != DEFAULT_AGENT else "",
            "additional_dirs": tuple(map(str, ground.workspace.additional_dirs)),
        },
        max_time_s=options.max_time_s,
        resources=resources.pop_all(),
    )


def _time_machine(ground: Ground, supplies: Supplies) -> TimeMachine:
    return TimeMachine(
        session=ground.session,
        context=ground.context,
        workspace=ground.workspace,
        share_dir=ground.options.share_dir,
        settings=ground.settings.checkpoints,
        todos=supplies.todos,
        send=ground.wire.send,
    )


def _household(
    ground: Ground, supplies: Supplies, *, files: SessionFiles, tasks: BackgroundTasks, library: Library
) -> Household:
    limits = ground.limits
    return Household(
        workspace=ground.workspace,
        approval=ground.approval,
        behaviour=ground.behaviour,
        models=ground.models,
        spending=ground.accounts.spending,
        call_ids=CallIds(),
        files=files,
        tasks=tasks,
        writes=supplies.ledger.writes,
        limits=replace(limits, max_steps=min(limits.max_steps, ground.settings.subagents.max_steps)),
        compaction=compaction_of(ground.options, supplies.by_type),
        hooks=ground.hooks,
        skills=library.skills_listed,
        collaborators=dict(supplies.by_type),
    )


def _soul(
    ground: Ground, supplies: Supplies, *, agent: Agent, household: Household, reminders: Sequence[Reminder]
) -> Soul:
    return Soul(
        agent=agent,
        context=ground.context,
        behaviour=ground.behaviour,
        limits=ground.limits,
        dmailbox=supplies.dmailbox,
        spending=ground.accounts.spending,
        send=ground.wire.send,
        file_states=household.files,
        compaction=replace(
            household.compaction,
            todos=lambda: supplies.todos.items,
            restated=(household.tasks.restated,),
        ),
        call_ids=household.call_ids,
        reminders=reminders,
        hooks=ground.hooks,
    )


def _telling(
    ground: Ground, supplies: Supplies, *, agent: Agent, library: Library, opened: OpenedSession
) -> Telling:
    return Telling(
        send=ground.wire.send,
        session=ground.session,
        context=ground.context,
        agent=agent,
        behaviour=ground.behaviour,
        models=ground.models,
        sandbox=supplies.sandbox is not None,
        broken=(*ground.models.problems, *problems_of(supplies.sandbox), *library.problems),
        shown=opened.shown,
    )


def _side_questions(ground: Ground, agent: Agent, soul: Soul) -> SideQuestions:
    return SideQuestions(
        agent=agent,
        context=ground.context,
        behaviour=ground.behaviour,
        limits=ground.limits,
        spending=ground.accounts.spending,
        send=ground.wire.send,
        spent=soul.send_status,
    )


def _commands_about(ground: Ground, agent: Agent, household: Household) -> tuple[AnyCommand, ...]:
    """The commands about the project, the model's window and the agents."""
    return (
        init_command(ground.session.work_dir),
        context_command(
            agent=agent,
            context=ground.context,
            behaviour=ground.behaviour,
            trigger=household.compaction.trigger,
            send=ground.wire.send,
        ),
        agents_command(
            current=ground.agent_name or ground.spec.name,
            work_dir=ground.session.work_dir,
            share_dir=ground.options.share_dir,
            send=ground.wire.send,
        ),
    )
