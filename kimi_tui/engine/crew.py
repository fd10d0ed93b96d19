"""The crew of a session: the soul, the agent it is for, and who lends a hand with the work."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from kimi_tui.base.value import value
from kimi_tui.engine.agents import make_agent
from kimi_tui.engine.ground import Ground
from kimi_tui.engine.library import Library, open_library
from kimi_tui.engine.mcp.opening import session_mcp
from kimi_tui.engine.mcp.session_mcp import SessionMcp
from kimi_tui.engine.own_tools import OwnTools
from kimi_tui.engine.remarks import Remarks
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.engine.side_work import SideWork
from kimi_tui.engine.start import compaction_of
from kimi_tui.engine.subagents.workshop import Household
from kimi_tui.engine.supplies import Supplies
from kimi_tui.engine.time_machine import TimeMachine
from kimi_tui.engine.toolbox import Toolbox
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.call_ids import CallIds
from kimi_tui.soul.reminders import Reminder
from kimi_tui.soul.soul import Soul
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.task import Delegation


@value(kw_only=True)
class Crew:
    """Who works on what the user says."""

    soul: Soul
    agent: Agent
    household: Household
    """What the soul and its sub-agents share."""
    library: Library
    mcp: SessionMcp
    remarks: Remarks
    """What the soul is told of its user's doings."""
    side_work: SideWork
    time_machine: TimeMachine


async def muster_crew(ground: Ground, supplies: Supplies, resources: AsyncExitStack) -> Crew:
    """The crew that stands on `ground` and works with `supplies`. Raises ConfigError."""
    time_machine = _time_machine(ground, supplies)
    resources.push_async_callback(time_machine.close)
    side_work = SideWork(ground.session, send=ground.wire.send, watch=time_machine.files.background)
    await side_work.open()
    supplies.by_type[BackgroundTasks] = side_work.tasks
    library = await asyncio.to_thread(open_library, ground.options, ground.session.work_dir)
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
    own_tools = OwnTools(ground.options.tools, supplies.by_type)
    own_tools.lend_to(agent.toolset, approval=ground.approval)
    household.lenders.extend((own_tools.lend_to, mcp.lend_to))
    remarks = Remarks()
    reminders = (side_work.tasks.remind, mcp.remind, remarks.remind)
    return Crew(
        soul=_soul(ground, supplies, agent=agent, household=household, reminders=reminders),
        agent=agent,
        household=household,
        library=library,
        mcp=mcp,
        remarks=remarks,
        side_work=side_work,
        time_machine=time_machine,
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
