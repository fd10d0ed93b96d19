"""The commands of sessions: beginning one, going on with one, alone or with another agent."""

from kimi_tui.language.saying import say
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.commands.personal import PersonalActs
from kimi_tui.tui.commands.registry import Host, SlashCommand
from kimi_tui.tui.session_wish import SessionWish
from kimi_tui.tui.state import ScreenState


def session_commands(acts: PersonalActs) -> tuple[SlashCommand, ...]:
    """The commands, bound to what they do."""

    async def new(host: Host, _: str) -> None:
        if _may_leave(host):
            acts.open_session(SessionWish())

    async def sessions(host: Host, _: str) -> None:
        wish = await acts.choose_session()
        if wish is not None and _may_leave(host):
            acts.open_session(wish)

    async def agents(host: Host, name: str) -> None:
        session = host.state.session
        if session is not None and session.read_only:
            host.say(say("This session is only read. /new begins one, then /agents."), severity="warning")
            return
        wish = await acts.choose_agent(name)
        if wish is not None and _may_leave(host):
            acts.open_session(wish)

    async def write(host: Host, _: str) -> None:
        session = host.state.session
        if session is None or not session.read_only:
            host.say(say("This session is yours to write already."))
            return
        if not session.in_use:
            acts.open_session(SessionWish(session_id=session.session_id))
            return
        choices = (
            Choice(value="copy", label=say("go on in a copy of it")),
            Choice(value="here", label=say("go on here"), detail=say("once the other process has ended")),
            Choice(value="new", label=say("begin a new session")),
        )
        match await host.choose(say("Another process writes this session."), choices):
            case "copy":
                acts.open_session(SessionWish(session_id=session.session_id, fork=True))
            case "here":
                acts.open_session(SessionWish(session_id=session.session_id))
            case "new":
                acts.open_session(SessionWish())
            case _:
                pass

    return (
        SlashCommand(name="new", summary="Begin a new session; this one stays on disk", run=new),
        SlashCommand(
            name="sessions",
            summary="Resume, fork, rename or delete a session",
            run=sessions,
            aliases=("resume",),
        ),
        SlashCommand(
            name="agents",
            summary="The agents: what they do, and beginning a session with one",
            run=agents,
            aliases=("agent",),
            argument="[NAME]",
            choices=_agents,
        ),
        SlashCommand(
            name="write",
            summary="Go on with a session that is only read, in a copy or here",
            run=write,
        ),
    )


def _agents(state: ScreenState) -> tuple[str, ...]:
    return tuple(it.name for it in state.replies.agents.agents) if state.replies.agents is not None else ()


def _may_leave(host: Host) -> bool:
    if host.state.turn is None:
        return True
    host.say(say("A turn is running. Interrupt it first."), severity="warning")
    return False
