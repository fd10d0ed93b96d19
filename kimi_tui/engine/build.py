"""Putting a session together: the one place that knows every part."""

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from kimi_tui.base.child_environment import without_values
from kimi_tui.base.secrets import keep_hidden, secrets_in
from kimi_tui.config.credentials import secrets_of
from kimi_tui.engine.accounts import Accounts
from kimi_tui.engine.agents import make_agent
from kimi_tui.engine.agents_command import agents_command
from kimi_tui.engine.context_command import context_command
from kimi_tui.engine.engine import Engine
from kimi_tui.engine.grants import SessionGrants
from kimi_tui.engine.hooks_command import hooks_command
from kimi_tui.engine.init_command import init_command
from kimi_tui.engine.library import open_library
from kimi_tui.engine.mcp.opening import session_mcp
from kimi_tui.engine.models import Models
from kimi_tui.engine.modes import Modes
from kimi_tui.engine.opened import OpenedSession, open_session
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.own_tools import OwnTools
from kimi_tui.engine.plan_file import PlanFile
from kimi_tui.engine.remarks import Remarks
from kimi_tui.engine.rules import starting_rules
from kimi_tui.engine.sandbox import open_sandbox, problems_of
from kimi_tui.engine.session_hooks import session_hooks
from kimi_tui.engine.side_questions import SideQuestions
from kimi_tui.engine.side_work import SideWork
from kimi_tui.engine.start import (
    DEFAULT_AGENT,
    compaction_of,
    limits_of,
    starting_agent,
    starting_behaviour,
    starting_dirs,
    starting_plan_mode,
    starting_spec,
)
from kimi_tui.engine.subagents.workshop import Household
from kimi_tui.engine.telling import Telling
from kimi_tui.engine.time_machine import TimeMachine
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.engine.toolbox import Toolbox
from kimi_tui.engine.users_room import open_users_room
from kimi_tui.engine.web import new_fetcher, search_service
from kimi_tui.hooks.hooks import Firing
from kimi_tui.soul.approval import WireApproval
from kimi_tui.soul.call_ids import CallIds
from kimi_tui.soul.questions import WireQuestions
from kimi_tui.soul.soul import Soul
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.dmail import DMailbox
from kimi_tui.tools.file.editor import Editor
from kimi_tui.tools.file.ledger import FileLedger
from kimi_tui.tools.file.media import ModelSenses
from kimi_tui.tools.plan.planning import Planning
from kimi_tui.tools.questions.asking import Questions
from kimi_tui.tools.shell.output import OutputFolder
from kimi_tui.tools.shell.process import Shell
from kimi_tui.tools.shell.survivors import Survivors
from kimi_tui.tools.shell.terminals import Terminals
from kimi_tui.tools.task import Delegation
from kimi_tui.tools.todo import TodoStore
from kimi_tui.tools.web.fetcher import Fetcher
from kimi_tui.tools.web.search import SearchService
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.channel import Wire


async def open_engine(wire: Wire, options: EngineOptions, opened: OpenedSession | None = None) -> Engine:
    """A session, new or resumed, ready to `serve`; the one that is `opened` already, if one is.

    Raises ConfigError, ModelNotSet and SessionError.
    """
    async with AsyncExitStack() as resources:
        opened = opened or await open_session(options.wanted)
        resources.callback(opened.close)
        return await _assemble(wire, options, opened, resources)


async def _assemble(
    wire: Wire, options: EngineOptions, opened: OpenedSession, resources: AsyncExitStack
) -> Engine:
    settings, session, context = options.settings, opened.session, opened.context
    keep_hidden((*secrets_in(os.environ), *secrets_of(settings)))
    workspace = Workspace(session.work_dir, starting_dirs(options, session))
    agent_name, spec = starting_agent(options, session), starting_spec(options, session)
    models = Models(settings, session_id=session.id)
    resources.push_async_callback(models.aclose)
    plan = PlanFile(options.share_dir, session.id)
    behaviour = starting_behaviour(models, options, session, spec)
    behaviour.plan_mode = starting_plan_mode(plan, options, session)
    modes = Modes(session=session, behaviour=behaviour, plan=plan, send=wire.send)
    accounts = Accounts(session)
    limits = limits_of(options)
    approval = WireApproval(
        wire=wire,
        behaviour=behaviour,
        rules=starting_rules(settings.permissions, session.state.grants, workspace),
        keeper=SessionGrants(session, share_dir=options.share_dir),
    )
    environment = without_values(lambda: models.keys, but=settings.sandbox.env)
    hooks = session_hooks(settings.hooks, session, wire, environment=environment)
    todos = SessionTodos(session, context, wire.send)
    dmailbox = DMailbox()
    survivors = Survivors(session.dir / "commands")
    await asyncio.to_thread(survivors.end_all)
    sandbox = await open_sandbox(options, session, workspace)
    if sandbox is not None:
        resources.push_async_callback(sandbox.close)
    shell = Shell(environment=environment, survivors=survivors, confinement=sandbox)
    resources.push_async_callback(shell.close)
    ledger = FileLedger()
    output = OutputFolder(session.dir / "output")
    collaborators: dict[Any, object] = {
        Workspace: workspace,
        Approval: approval,
        Planning: modes,
        Questions: WireQuestions(wire),
        Firing: hooks,
        TodoStore: todos,
        DMailbox: dmailbox,
        FileLedger: ledger,
        Editor: options.editor,
        Terminals: options.terminals,
        ModelSenses: behaviour,
        Shell: shell,
        OutputFolder: output,
        Fetcher: new_fetcher(settings.web),
        SearchService: search_service(settings),
    }
    resources.push_async_callback(context.close)
    time_machine = TimeMachine(
        session=session,
        context=context,
        workspace=workspace,
        share_dir=options.share_dir,
        settings=settings.checkpoints,
        todos=todos,
        send=wire.send,
    )
    resources.push_async_callback(time_machine.close)
    files = time_machine.files
    side_work = SideWork(session, send=wire.send, watch=files.background)
    await side_work.open()
    collaborators[BackgroundTasks] = side_work.tasks
    call_ids = CallIds()
    library = await asyncio.to_thread(open_library, options, session.work_dir)
    household = Household(
        workspace=workspace,
        approval=approval,
        behaviour=behaviour,
        models=models,
        spending=accounts.spending,
        call_ids=call_ids,
        files=files,
        tasks=side_work.tasks,
        writes=ledger.writes,
        limits=replace(limits, max_steps=min(limits.max_steps, settings.subagents.max_steps)),
        compaction=compaction_of(options, collaborators),
        hooks=hooks,
        skills=library.skills_listed,
        collaborators=dict(collaborators),
    )
    collaborators[Delegation] = side_work.delegation(spec, household, settings.subagents)
    agent = await asyncio.to_thread(
        make_agent,
        spec,
        workspace,
        Toolbox(collaborators),
        behaviour.capabilities,
        skills=library.skills_listed,
    )
    mcp = await session_mcp(
        wire,
        options,
        spec,
        workspace=workspace,
        toolset=agent.toolset,
        approval=approval,
        behaviour=behaviour,
        spending=accounts.spending,
        context=context,
        folder=output,
    )
    own_tools = OwnTools(options.tools, collaborators)
    own_tools.lend_to(agent.toolset, approval=approval)
    household.lenders.extend((own_tools.lend_to, mcp.lend_to))
    remarks = Remarks()
    soul = Soul(
        agent=agent,
        context=context,
        behaviour=behaviour,
        limits=limits,
        dmailbox=dmailbox,
        spending=accounts.spending,
        send=wire.send,
        file_states=files,
        compaction=replace(
            household.compaction, todos=lambda: todos.items, restated=(side_work.tasks.restated,)
        ),
        call_ids=call_ids,
        reminders=(side_work.tasks.remind, mcp.remind, remarks.remind),
        hooks=hooks,
    )
    telling = Telling(
        send=wire.send,
        session=session,
        context=context,
        agent=agent,
        behaviour=behaviour,
        models=models,
        sandbox=sandbox is not None,
        broken=(*models.problems, *problems_of(sandbox), *library.problems),
        shown=opened.shown,
    )
    time_machine.listen(telling)
    users_room = open_users_room(
        session=session,
        options=options,
        models=models,
        telling=telling,
        remarks=remarks,
        files=time_machine.files,
        output_folder=output,
        context=context,
        behaviour=behaviour,
        send=wire.send,
        command=wire.command,
    )
    resources.push_async_callback(users_room.close)
    return Engine(
        wire=wire,
        session=session,
        soul=soul,
        agent=agent,
        behaviour=behaviour,
        approval=approval,
        todos=todos,
        models=models,
        time_machine=time_machine,
        telling=telling,
        modes=modes,
        side_questions=SideQuestions(
            agent=agent,
            context=context,
            behaviour=behaviour,
            limits=limits,
            spending=accounts.spending,
            send=wire.send,
            spent=soul.send_status,
        ),
        accounts=accounts,
        hooks=hooks,
        side_work=side_work,
        commands=(
            hooks_command(hooks, telling),
            side_work.command,
            mcp.command,
            *users_room.commands,
            init_command(session.work_dir),
            context_command(
                agent=agent,
                context=context,
                behaviour=behaviour,
                trigger=household.compaction.trigger,
                send=wire.send,
            ),
            agents_command(
                current=agent_name or spec.name,
                work_dir=session.work_dir,
                share_dir=options.share_dir,
                send=wire.send,
            ),
            *library.slash_commands(session.work_dir, approval),
        ),
        mcp=mcp,
        users_room=users_room,
        remembered={
            "agent": agent_name if agent_name != DEFAULT_AGENT else "",
            "additional_dirs": tuple(map(str, workspace.additional_dirs)),
        },
        max_time_s=options.max_time_s,
        resources=resources.pop_all(),
    )
