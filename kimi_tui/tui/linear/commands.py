"""The commands that the linear front has of its own; all others are the engine's."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from difflib import get_close_matches

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import say
from kimi_tui.tui.commands.keeping import keep_model
from kimi_tui.tui.figures import dollars, duration, tokens
from kimi_tui.tui.linear.asking import chosen
from kimi_tui.tui.linear.desk import Desk, SessionChange
from kimi_tui.tui.linear.words import short, todo_lines
from kimi_tui.wire.commands import (
    DeleteSession,
    ListSessions,
    RenameSession,
    RunSlash,
    SetAcceptEdits,
    SetModel,
    SetThinking,
    SetYolo,
)
from kimi_tui.wire.sessions import ListedSession

_JUMPS = ("revert", "undo", "redo", "switch")
"""Commands that change files; what they would do is said first."""
_MOST_SESSIONS = 20


@dataclass(frozen=True, slots=True)
class LinearCommand:
    """A command; `run` gets what stands after its name."""

    name: str
    summary: str
    run: Callable[[Desk, str], Awaitable[None]]


async def _help(desk: Desk, _: str) -> None:
    desk.tell(
        say("Type what you want done and press enter. A line that ends in a backslash goes on in the next.")
    )
    desk.tell(say("!COMMAND runs a command of your own. @PATH names a file, also a picture."))
    desk.tell(
        say("ctrl+c interrupts what runs; twice at the prompt, or ctrl+d, leaves. Arrow up: older prompts.")
    )
    desk.tell(say("Lines that you type while the agent works are sent when it has ended."))
    session = desk.state.session
    theirs = session.slash_commands if session is not None else ()
    lines = {f"/{it.name}": say(it.summary) for it in COMMANDS}
    lines |= {
        f"/{it.name} {it.argument}".rstrip(): plain_line(it.description)
        for it in theirs
        if it.name not in _OWN
    }
    desk.tell("\n".join(f"{name}: {summary}." for name, summary in sorted(lines.items())))


async def _model(desk: Desk, name: str) -> None:
    session = desk.state.session
    models = session.models if session is not None else ()
    if not name:
        now = session.model if session is not None else ""
        options = [(it, f"{it}, {say('in use')}" if it == now else it) for it in models]
        name = await chosen(say("Model:"), options, ask=desk.ask, tell=desk.tell) or ""
    if name and name not in models:
        desk.tell(say("There is no model “{name}”.", name=plain_line(name)))
    elif name:
        await desk.carry_out(SetModel(name))
        desk.tell(say("The model is {name}.", name=plain_line(name)))
        if desk.config_file is not None and (
            done := await asyncio.to_thread(keep_model, desk.config_file, name)
        ):
            desk.tell(done)


async def _thinking(desk: Desk, argument: str) -> None:
    session = desk.state.session
    enabled = _switched(argument, session is not None and session.thinking)
    await desk.carry_out(SetThinking(enabled))
    desk.tell(say("Thinking is on.") if enabled else say("Thinking is off."))


async def _yolo(desk: Desk, argument: str) -> None:
    session = desk.state.session
    enabled = _switched(argument, session is not None and session.yolo)
    await desk.carry_out(SetYolo(enabled))
    if enabled:
        desk.tell(say("Everything is approved from now on, dangerous commands too."))
    else:
        desk.tell(say("Approvals are asked for again."))


async def _edits(desk: Desk, argument: str) -> None:
    session = desk.state.session
    enabled = _switched(argument, session is not None and session.accept_edits)
    await desk.carry_out(SetAcceptEdits(enabled))
    desk.tell(say("Edits in the work dir are accepted.") if enabled else say("Edits are asked for again."))


async def _todo(desk: Desk, _: str) -> None:
    desk.tell("\n".join(todo_lines(desk.state.todo)) or say("There is no todo list."))


async def _output(desk: Desk, argument: str) -> None:
    back = int(argument) if argument.isdecimal() and int(argument) else 1
    if len(desk.results) < back:
        desk.tell(say("No tool has given anything back yet."))
        return
    call, text = desk.results[-back]
    desk.tell(f"{call}:\n{text or say('(no output)')}")


async def _status(desk: Desk, _: str) -> None:
    state, session = desk.state, desk.state.session
    if session is None:
        return
    modes = [
        word
        for word, is_on in (
            (say("plan mode"), session.plan_mode),
            (say("edits accepted"), session.accept_edits),
            (say("everything approved"), session.yolo),
            (say("thinking"), session.thinking),
            (say("sandbox"), session.sandbox),
            (say("read only"), session.read_only),
        )
        if is_on
    ]
    context = f"{tokens(state.context_tokens)}/{tokens(state.max_context_tokens)}"
    facts = [
        (say("Session"), plain_line(session.title) or session.session_id),
        (say("Folder"), plain_line(session.work_dir)),
        (say("Model"), plain_line(session.model)),
        (say("Modes"), ", ".join(modes) or say("none")),
        (say("Context"), say("{share:.0%}, {tokens} tokens", share=state.context_share, tokens=context)),
        (say("Output"), say("{tokens} tokens", tokens=tokens(state.usage.output))),
        (say("Cost"), say("not known") if state.cost_usd is None else dollars(state.cost_usd)),
    ]
    servers = state.mcp.servers if state.mcp is not None else ()
    facts += [(say("MCP server"), plain_line(f"{it.name}, {it.status} {it.error}")) for it in servers]
    desk.tell("\n".join(f"{name}: {value}" for name, value in facts))


async def _tasks(desk: Desk, argument: str) -> None:
    if argument:
        await desk.carry_out(RunSlash(f"tasks {argument}"))
        return
    lines = [
        plain_line(f"{task.id}, {task.status}: {task.description} {task.outcome} {task.activity}")
        for task in desk.state.tasks
    ]
    desk.tell("\n".join(lines) or say("There are no background tasks."))


async def _image(desk: Desk, path: str) -> None:
    if path:
        desk.attach(path)
    else:
        desk.tell(say("Say /image PATH."))


async def _editor(desk: Desk, _: str) -> None:
    if text := await desk.edit("", "prompt.md"):
        desk.write_next(text.strip())


async def _copy(desk: Desk, _: str) -> None:
    if desk.last_answer:
        await desk.copy(desk.last_answer)
    else:
        desk.tell(say("There is no answer to copy yet."))


async def _transcript(desk: Desk, _: str) -> None:
    desk.tell_past()


async def _new(desk: Desk, _: str) -> None:
    desk.leave(SessionChange())


async def _sessions(desk: Desk, text: str) -> None:
    before = desk.state.replies.sessions
    await desk.carry_out(ListSessions(text))
    await desk.until(lambda: desk.state.replies.sessions is not before)
    found = desk.state.replies.sessions
    listed = found.sessions[:_MOST_SESSIONS] if found is not None else ()
    if not listed:
        desk.tell(say("There are no sessions."))
        return
    options = [(it.id, _session_words(it)) for it in listed]
    chosen_id = await chosen(say("Sessions, last used first:"), options, ask=desk.ask, tell=desk.tell)
    if chosen_id is None:
        return
    acts = [
        ("open", say("open it")),
        ("copy", say("go on in a copy of it")),
        ("rename", say("rename it")),
        ("delete", say("delete it")),
    ]
    match await chosen(say("What should be done with it?"), acts, ask=desk.ask, tell=desk.tell):
        case "open":
            desk.leave(SessionChange(chosen_id))
        case "copy":
            desk.leave(SessionChange(chosen_id, fork=True))
        case "rename":
            if title := (await desk.ask(say("New title: ")) or "").strip():
                await desk.carry_out(RenameSession(chosen_id, title))
                desk.tell(say("Renamed."))
        case "delete":
            if await _sure(desk, say("Delete it for good?")):
                await desk.carry_out(DeleteSession(chosen_id))
        case _:
            pass


async def _write(desk: Desk, _: str) -> None:
    session = desk.state.session
    if session is None or not session.read_only:
        desk.tell(say("This session is yours to write already."))
        return
    if not session.in_use:
        desk.leave(SessionChange(session.session_id))
        return
    ways = [
        ("copy", say("go on in a copy of it")),
        ("here", say("go on here, once the other process has ended")),
    ]
    way = await chosen(say("Another process writes this session."), ways, ask=desk.ask, tell=desk.tell)
    if way is not None:
        desk.leave(SessionChange(session.session_id, fork=way == "copy"))


async def _exit(desk: Desk, _: str) -> None:
    desk.leave()


COMMANDS = (
    LinearCommand("help", "What can be typed", _help),
    LinearCommand("status", "Session, model, modes, context and cost", _status),
    LinearCommand("model", "Use another model", _model),
    LinearCommand("thinking", "Let the model think first", _thinking),
    LinearCommand("yolo", "Approve everything, or ask again", _yolo),
    LinearCommand("edits", "Accept edits in the work dir, or ask again", _edits),
    LinearCommand("todo", "Say the todo list", _todo),
    LinearCommand("output", "Say what the last tool gave back, or the one that many before it", _output),
    LinearCommand("transcript", "Say what was said before this run", _transcript),
    LinearCommand("tasks", "Say the background tasks", _tasks),
    LinearCommand("sessions", "Resume, copy, rename or delete a session", _sessions),
    LinearCommand("new", "Begin a new session; this one stays on disk", _new),
    LinearCommand("write", "Go on with a session that is only read", _write),
    LinearCommand("image", "Send a picture along with the next prompt", _image),
    LinearCommand("editor", "Write the prompt in your own editor", _editor),
    LinearCommand("copy", "Copy the last answer as Markdown", _copy),
    LinearCommand("exit", "Leave", _exit),
)
_OWN = {command.name: command for command in COMMANDS}


async def run_command(desk: Desk, name: str, argument: str) -> None:
    """Run what was typed as `/name argument`, here or in the engine. Raises KimiTuiError."""
    if (own := _OWN.get({"quit": "exit", "q": "exit", "cost": "status"}.get(name, name))) is not None:
        await own.run(desk, argument)
        return
    session = desk.state.session
    theirs = {
        known
        for it in (session.slash_commands if session is not None else ())
        for known in (it.name, *it.aliases)
    }
    line = f"{name} {argument}".rstrip()
    if name not in theirs:
        near = get_close_matches(name, {*_OWN, *theirs}, n=3, cutoff=0.5)
        hint = (
            say("Did you mean {names}?", names=", ".join(f"/{it}" for it in near))
            if near
            else say("/help lists them.")
        )
        desk.tell(f"{say('There is no command /{name}.', name=plain(name))} {hint}")
    elif name in _JUMPS and "--dry-run" not in argument:
        if await desk.carry_out(RunSlash(f"{line} --dry-run")) and await _sure(desk, say("Do it?")):
            await desk.carry_out(RunSlash(line))
    else:
        await desk.carry_out(RunSlash(line))


def completions(desk: Desk, begun: str) -> list[str]:
    """What a line that begins so may become: commands."""
    if not begun.startswith("/") or " " in begun:
        return []
    session = desk.state.session
    theirs = (it.name for it in (session.slash_commands if session is not None else ()))
    return sorted(f"/{name} " for name in {*_OWN, *theirs} if f"/{name}".startswith(begun))


async def _sure(desk: Desk, question: str) -> bool:
    """Whether the user says yes. After a no they are told that nothing happens; else they are asked again."""
    while (line := await desk.ask(f"{question} {say('y or n: ')}")) is not None:
        match line.strip().lower():
            case "y" | "yes":
                return True
            case "n" | "no" | "":
                desk.tell(say("Nothing was changed."))
                return False
            case _:
                desk.tell(say("Type one of: {keys}.", keys="y, n"))
    return False


def _switched(argument: str, now: bool) -> bool:
    return {"on": True, "off": False}.get(argument.lower(), not now)


def _session_words(session: ListedSession) -> str:
    ago = duration(max(0.0, time.time() - session.updated))
    words = say(
        "{title}, {ago} ago, in {folder}", title=session.title or session.id, ago=ago, folder=session.work_dir
    )
    return short(f"{words}. {session.snippet}" if session.snippet else words)
