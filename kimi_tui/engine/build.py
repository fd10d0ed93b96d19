"""Putting a session together: its ground, its supplies, its crew, and the engine that serves it."""

from contextlib import AsyncExitStack
from functools import partial

from kimi_tui.engine.agents_command import agents_command
from kimi_tui.engine.beside import Beside
from kimi_tui.engine.context_command import context_command
from kimi_tui.engine.course import lay_course
from kimi_tui.engine.crew import Crew, muster_crew
from kimi_tui.engine.engine import Engine
from kimi_tui.engine.ground import Ground, lay_ground
from kimi_tui.engine.hooks_command import hooks_command
from kimi_tui.engine.init_command import init_command
from kimi_tui.engine.keepsakes import Keepsakes
from kimi_tui.engine.model_in_use import ModelInUse
from kimi_tui.engine.opened import OpenedSession, open_session
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.plan_command import plan_command
from kimi_tui.engine.sandbox import problems_of
from kimi_tui.engine.side_questions import SideQuestions
from kimi_tui.engine.slash_book import AnyCommand
from kimi_tui.engine.start import DEFAULT_AGENT
from kimi_tui.engine.supplies import Supplies, lay_in_supplies
from kimi_tui.engine.telling import Telling
from kimi_tui.engine.title import Title
from kimi_tui.engine.users_room import open_users_room
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
        resources.push_async_callback(ground.context.close)
        crew = await muster_crew(ground, supplies, resources)
        return _assemble(ground, supplies, crew, opened, resources)


def _assemble(
    ground: Ground, supplies: Supplies, crew: Crew, opened: OpenedSession, resources: AsyncExitStack
) -> Engine:
    telling = _telling(ground, supplies, crew, opened)
    crew.time_machine.listen(telling)
    users_room = open_users_room(
        ground,
        telling=telling,
        remarks=crew.remarks,
        files=crew.time_machine.files,
        output_folder=supplies.output,
    )
    resources.push_async_callback(users_room.close)
    side_questions = _side_questions(ground, crew)
    title = Title(ground.session)
    course = lay_course(
        wire=ground.wire,
        soul=crew.soul,
        time_machine=crew.time_machine,
        todos=supplies.todos,
        title=title,
        telling=telling,
        commands=(
            plan_command(ground.modes),
            side_questions.command,
            hooks_command(ground.hooks, telling),
            crew.side_work.command,
            crew.mcp.command,
            *users_room.commands,
            *_commands_about(ground, crew),
            *crew.library.slash_commands(ground.session.work_dir, ground.approval),
        ),
        max_time_s=ground.options.max_time_s,
    )
    crew.mcp.lend_commands = partial(course.slash.book.lend, "mcp")
    return Engine(
        wire=ground.wire,
        session=ground.session,
        soul=crew.soul,
        toolset=crew.agent.toolset,
        approval=ground.approval,
        todos=supplies.todos,
        telling=telling,
        modes=ground.modes,
        model=_model(ground, crew, telling),
        keepsakes=_keepsakes(ground, title, telling),
        course=course,
        beside=Beside(
            accounts=ground.accounts,
            hooks=ground.hooks,
            mcp=crew.mcp,
            side_questions=side_questions,
            side_work=crew.side_work,
            time_machine=crew.time_machine,
        ),
        users_room=users_room,
        resources=resources.pop_all(),
    )


def _telling(ground: Ground, supplies: Supplies, crew: Crew, opened: OpenedSession) -> Telling:
    telling = Telling(
        send=ground.wire.send,
        session=ground.session,
        context=ground.context,
        agent=crew.agent,
        behaviour=ground.behaviour,
        models=ground.models,
        sandbox=supplies.sandbox is not None,
        broken=(*ground.models.problems, *problems_of(supplies.sandbox), *crew.library.problems),
        shown=opened.shown,
    )
    telling.hooks = lambda: ground.hooks.counts
    return telling


def _keepsakes(ground: Ground, title: Title, telling: Telling) -> Keepsakes:
    return Keepsakes(
        session=ground.session,
        title=title,
        modes=ground.modes,
        telling=telling,
        others={
            "agent": ground.agent_name if ground.agent_name != DEFAULT_AGENT else "",
            "additional_dirs": tuple(map(str, ground.workspace.additional_dirs)),
        },
    )


def _model(ground: Ground, crew: Crew, telling: Telling) -> ModelInUse:
    return ModelInUse(
        session=ground.session,
        soul=crew.soul,
        behaviour=ground.behaviour,
        models=ground.models,
        telling=telling,
    )


def _side_questions(ground: Ground, crew: Crew) -> SideQuestions:
    return SideQuestions(
        agent=crew.agent,
        context=ground.context,
        behaviour=ground.behaviour,
        limits=ground.limits,
        spending=ground.accounts.spending,
        send=ground.wire.send,
        spent=crew.soul.send_status,
    )


def _commands_about(ground: Ground, crew: Crew) -> tuple[AnyCommand, ...]:
    """The commands about the project, the model's window and the agents."""
    return (
        init_command(ground.session.work_dir),
        context_command(
            agent=crew.agent,
            context=ground.context,
            behaviour=ground.behaviour,
            trigger=crew.household.compaction.trigger,
            send=ground.wire.send,
        ),
        agents_command(
            current=ground.agent_name or ground.spec.name,
            work_dir=ground.session.work_dir,
            share_dir=ground.options.share_dir,
            send=ground.wire.send,
        ),
    )
