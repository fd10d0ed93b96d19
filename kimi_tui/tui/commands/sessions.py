"""Session commands: start, resume and fork sessions."""

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.text.message_passages import quote_message
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.chosen_message import ChosenMessage
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.ui_command import UiCommand
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.widgets.choice_list import Choice


async def _reload(host: CommandHost, _: str) -> None:
    session = host.state.session
    if _is_running_task(host):
        return
    if session is not None and _check_can_leave(host):
        # A session without messages has no title and isn't on disk, so it can't be resumed.
        host.open_session(SessionRequest(session_id=session.session_id if session.title else None))


async def _new(host: CommandHost, _: str) -> None:
    if _check_can_leave(host):
        host.open_session(SessionRequest())


async def _sessions(host: CommandHost, _: str) -> None:
    chosen = await host.dialogs.choose_session()
    if isinstance(chosen, ChosenMessage):
        _use_message(host, chosen)
    elif chosen is not None and _check_can_leave(host):
        host.open_session(chosen)


async def _running_sessions(host: CommandHost, _: str) -> None:
    request = await host.dialogs.choose_running_session()
    if request is not None and _check_can_leave(host):
        host.open_session(request)


async def _search(host: CommandHost, text: str) -> None:
    if (chosen := await host.dialogs.choose_message(text)) is not None:
        _use_message(host, chosen)


def _use_message(host: CommandHost, chosen: ChosenMessage) -> None:
    match = chosen.match
    session = host.state.session
    if chosen.action == "quote":
        host.insert_in_prompt(quote_message(match))
    elif session is not None and session.session_id == match.session_id:
        if match.checkpoint is not None:
            host.timeline.show_number(match.checkpoint)
    elif _check_can_leave(host):
        host.open_session(chosen.session_request)


async def _agents(host: CommandHost, name: str) -> None:
    session = host.state.session
    if session is not None and session.read_only:
        host.notify(
            tr("This session is read-only. Start one with /new, then use /agents."), severity="warning"
        )
        return
    request = await host.dialogs.choose_agent(name)
    if request is not None and _check_can_leave(host):
        host.open_session(request)


async def _write(host: CommandHost, _: str) -> None:
    session = host.state.session
    if session is None or not session.read_only:
        host.notify(tr("This session is already writable."))
        return
    if _is_running_task(host):
        return
    if not session.in_use:
        host.open_session(SessionRequest(session_id=session.session_id))
        return
    choices = (
        Choice(value="copy", label=tr("fork the session")),
        Choice(value="here", label=tr("resume it here"), detail=tr("after the other process has exited")),
        Choice(value="new", label=tr("start a new session")),
    )
    match await host.choose(tr("Another process is using this session."), choices):
        case "copy":
            host.open_session(SessionRequest(session_id=session.session_id, fork=True))
        case "here":
            host.open_session(SessionRequest(session_id=session.session_id))
        case "new":
            host.open_session(SessionRequest())
        case _:
            pass


def _agent_names(state: SessionViewState) -> tuple[str, ...]:
    return tuple(it.name for it in state.replies.agents.agents) if state.replies.agents is not None else ()


def _is_running_task(host: CommandHost) -> bool:
    """Return whether the session belongs to a running attempt. In that case, notify the user."""
    visit = host.fleet_visit
    if visit is None or not visit.is_running:
        return False
    host.notify(
        tr(
            "Task {id} was running when you opened it. Once it's done, open it again with /fleet.",
            id=visit.task_id,
        ),
        severity="warning",
    )
    return True


def _check_can_leave(host: CommandHost) -> bool:
    session = host.state.session
    if host.state.turn is None or (session is not None and session.resident):
        return True  # a resident session continues without us
    host.notify(tr("A turn is running. Interrupt it first."), severity="warning")
    return False


SESSION_COMMANDS = (
    UiCommand(name="new", summary="Start a new session; this one is kept", run=_new),
    UiCommand(name="reload", summary="Reopen this session with the current settings", run=_reload),
    UiCommand(
        name="sessions",
        summary="Resume, fork, rename or delete a session",
        run=_sessions,
        aliases=("resume",),
        binding_id="app.sessions",
    ),
    UiCommand(
        name="ps",
        summary="Show running sessions; answer, stop or open one",
        run=_running_sessions,
        binding_id="app.running_sessions",
    ),
    UiCommand(
        name="search",
        summary="Search the messages of all sessions",
        run=_search,
        aliases=("recall",),
        argument="[WORDS]",
    ),
    UiCommand(
        name="agents",
        summary="List agents and start a session with one",
        run=_agents,
        aliases=("agent",),
        argument="[NAME]",
        choices=_agent_names,
    ),
    UiCommand(
        name="write",
        summary="Continue a read-only session, in a fork or here",
        run=_write,
    ),
)
