"""Commands of linear mode. All other commands are sent to the engine."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.base.thinking_effort import parse_thinking_effort
from kimi_tui.frontend.number_format import format_cost, format_duration, format_tokens
from kimi_tui.frontend.save_choice import save_model
from kimi_tui.frontend.text.bisect import bisect_offers
from kimi_tui.frontend.text.cache_misses import cache_miss_lines
from kimi_tui.frontend.text.command_topics import COMMAND_TOPICS, find_topic, topic_of
from kimi_tui.frontend.text.fleet_progress import fleet_text
from kimi_tui.frontend.text.message_passages import match_label, passage_line, quote_message
from kimi_tui.frontend.text.models import (
    LAST_MODEL,
    no_thinking_text,
    thinking_change_text,
    thinking_label,
    thinking_usage,
)
from kimi_tui.i18n.translate import join_sentences, tr, tr_n, translate_message
from kimi_tui.linear.command_context import CommandContext, SessionSwitch
from kimi_tui.linear.messages import shorten, todo_lines
from kimi_tui.linear.requests import ask_choice
from kimi_tui.linear.running_sessions import show_running_sessions
from kimi_tui.wire.commands import (
    DeleteSession,
    ListSessions,
    MoveToBackground,
    RenameSession,
    RunSlash,
    SearchMessages,
    SetAcceptEdits,
    SetModel,
    SetThinking,
    SetYolo,
)
from kimi_tui.wire.message_search import MessageMatch
from kimi_tui.wire.session_list import SessionListItem

_REVERT_COMMANDS = ("revert", "undo", "redo", "switch")
"""Commands, besides `note`, that print their plan before they change files."""
_MAX_SESSIONS = 20
_MATCH_LENGTH = 100


@frozen
class LinearCommand:
    """A command. `run` receives the text after the command's name."""

    name: str
    summary: str
    run: Callable[[CommandContext, str], Awaitable[None]]


async def _help(context: CommandContext, argument: str) -> None:
    if argument:
        _help_topic(context, argument)
        return
    context.write_line(
        tr("Type a prompt and press enter. End a line with a backslash to continue on the next line.")
    )
    context.write_line(tr("!COMMAND runs a shell command. @PATH mentions a file or an image."))
    context.write_line(
        tr("ctrl+c interrupts the agent. ctrl+c twice at the prompt, or ctrl+d, quits. Up: earlier prompts.")
    )
    context.write_line(tr("Lines that you type while the agent is working are sent when it finishes."))
    context.write_line(
        tr("Meanwhile, /background moves the running command to the background, and /tasks lists tasks.")
    )
    context.write_line("\n".join(_command_lines(context, lambda _: True)))
    context.write_line(_topic_line())


def _help_topic(context: CommandContext, text: str) -> None:
    topic = find_topic(text)
    if topic is None:
        context.write_line(tr("“{query}” not found", query=sanitize_line(text)))
        context.write_line(_topic_line())
        return
    lines = _command_lines(context, lambda name: topic_of(name) is topic)
    context.write_line("\n".join((f"{tr(topic.title)}:", *lines)))


def _topic_line() -> str:
    names = ", ".join(topic.id for topic in COMMAND_TOPICS)
    return tr("/help TOPIC lists the commands of a topic: {names}.", names=names)


def _command_lines(context: CommandContext, is_wanted: Callable[[str], bool]) -> list[str]:
    """Return the commands with their summaries, sorted by name."""
    session = context.state.session
    engine_commands = session.slash_commands if session is not None else ()
    lines = {f"/{it.name}": tr(it.summary) for it in COMMANDS if is_wanted(it.name)}
    lines |= {
        f"/{it.name} {it.argument}".rstrip(): sanitize_line(it.description)
        for it in engine_commands
        if it.name not in _COMMANDS_BY_NAME and is_wanted(it.name)
    }
    return [f"{name}: {summary}." for name, summary in sorted(lines.items())]


async def _model(context: CommandContext, name: str) -> None:
    session = context.state.session
    models = session.models if session is not None else ()
    if name == LAST_MODEL:
        name = context.state.last_model
    if not name:
        current = session.model if session is not None else ""
        options = [(it, f"{it}, {tr('current')}" if it == current else it) for it in models]
        name = await ask_choice(context, tr("Model:"), options) or ""
    if name and name not in models:
        context.write_line(
            tr(
                "Unknown model “{name}”. Available models: {names}.",
                name=sanitize_line(name),
                names=sanitize_line(", ".join(models)),
            )
        )
    elif name:
        await context.command_and_wait(SetModel(name))
        context.write_line(tr("Model: {name}", name=sanitize_line(name)))
        if context.config_file is not None and (
            message := await asyncio.to_thread(save_model, context.config_file, name)
        ):
            context.write_line(message)


async def _thinking(context: CommandContext, argument: str) -> None:
    session = context.state.session
    if session is None:
        return
    if not session.thinking_levels:
        context.write_line(no_thinking_text(session))
        return
    effort = parse_thinking_effort(argument or ("off" if session.thinking else "on"))
    if effort is None:
        context.write_line(thinking_usage(session.thinking_levels))
        return
    await context.command_and_wait(SetThinking(effort != "off", effort))
    context.write_line(thinking_change_text(effort, session.thinking_levels))


async def _yolo(context: CommandContext, argument: str) -> None:
    session = context.state.session
    enabled = _parse_switch(argument, session is not None and session.yolo)
    await context.command_and_wait(SetYolo(enabled))
    if enabled:
        context.write_line(tr("Yolo: on. Everything is approved, including dangerous commands."))
    else:
        context.write_line(tr("Yolo: off"))


async def _edits(context: CommandContext, argument: str) -> None:
    session = context.state.session
    enabled = _parse_switch(argument, session is not None and session.accept_edits)
    await context.command_and_wait(SetAcceptEdits(enabled))
    context.write_line(
        tr("Permission mode: accept edits (in the working directory)")
        if enabled
        else tr("Permission mode: ask")
    )


async def _todo(context: CommandContext, _: str) -> None:
    context.write_line("\n".join(todo_lines(context.state.todo)) or tr("No todo list yet."))


async def _output(context: CommandContext, argument: str) -> None:
    position = int(argument) if argument.isdecimal() and int(argument) else 1
    if len(context.results) < position:
        context.write_line(tr("No tool output yet."))
        return
    call, text = context.results[-position]
    context.write_line(f"{call}:\n{text or tr('(no output)')}")


async def _status(context: CommandContext, _: str) -> None:
    state, session = context.state, context.state.session
    if session is None:
        return
    modes = [
        label
        for label, is_on in (
            (tr("plan mode"), session.plan_mode),
            (tr("accept edits"), session.accept_edits),
            (tr("yolo"), session.yolo),
            (thinking_label(session.thinking_effort, session.thinking_levels), session.thinking),
            (tr("sandbox"), session.sandbox),
            (tr("read-only"), session.read_only),
        )
        if is_on
    ]
    context_usage = f"{format_tokens(state.context_tokens)}/{format_tokens(state.max_context_tokens)}"
    facts = [
        (tr("Session"), sanitize_line(session.title) or session.session_id),
        (tr("Working directory"), sanitize_line(session.work_dir)),
        (tr("Model"), sanitize_line(session.model_label)),
        (tr("Modes"), ", ".join(modes) or tr("none")),
        (tr("Context"), tr("{share:.0%}, {tokens} tokens", share=state.context_share, tokens=context_usage)),
        (tr("Output"), tr("{tokens} tokens", tokens=format_tokens(state.usage.output))),
        (tr("Cost"), tr("unknown") if state.cost_usd is None else format_cost(state.cost_usd)),
    ]
    servers = state.mcp.servers if state.mcp is not None else ()
    facts += [(tr("MCP server"), sanitize_line(f"{it.name}, {it.status} {it.error}")) for it in servers]
    lines = [f"{name}: {value}" for name, value in facts]
    context.write_line("\n".join((*lines, *cache_miss_lines(state.cache_misses))))


async def _cost(context: CommandContext, argument: str) -> None:
    session = context.state.session
    if session is None or session.find_command("cost") is None:  # read-only
        await _status(context, argument)
        return
    await context.command_and_wait(RunSlash("cost"))
    if misses := cache_miss_lines(context.state.cache_misses):
        context.write_line("\n".join(misses[1:]))


async def _tasks(context: CommandContext, argument: str) -> None:
    if argument:
        await context.command_and_wait(RunSlash(f"tasks {argument}"))
        return
    lines = [
        sanitize_line(
            f"{task.id}, {translate_message(task.status.replace('_', ' '))}: {task.description} "
            f"{translate_message(task.outcome)} {task.activity}"
        ).rstrip()
        for task in context.state.tasks
    ]
    context.write_line("\n".join(lines) or tr("No background tasks."))


async def _background(context: CommandContext, _: str) -> None:
    context.command(MoveToBackground())


async def _image(context: CommandContext, path: str) -> None:
    if path:
        context.attach_image(path)
    else:
        context.write_line(tr("Usage: /image PATH"))


async def _editor(context: CommandContext, _: str) -> None:
    if text := await context.edit("", "prompt.md"):
        context.queue_prompt(text.strip())


async def _copy(context: CommandContext, _: str) -> None:
    if context.last_response:
        await context.copy(context.last_response)
    else:
        context.write_line(tr("No response to copy yet."))


async def _transcript(context: CommandContext, _: str) -> None:
    context.show_transcript()


async def _new(context: CommandContext, _: str) -> None:
    context.leave(SessionSwitch())


async def _fleet(context: CommandContext, argument: str) -> None:
    from kimi_tui.frontend.fleet.progress import database_of, find_fleets, read_progress  # imports SQLite
    from kimi_tui.frontend.fleet.task_list import read_tasks

    if argument:
        path: Path | None = database_of(context.work_dir / Path(argument).expanduser())
    else:
        path = next(iter(await asyncio.to_thread(find_fleets, context.work_dir)), None)
    if path is None:
        context.write_line(tr("No fleets in this directory. Start one with: kimi-tui fleet run TASKS"))
        return
    progress = await asyncio.to_thread(read_progress, path)
    tasks = await asyncio.to_thread(read_tasks, path)
    context.write_line(f"{sanitize_line(path.name)}\n{fleet_text(progress, tasks)}")


async def _search(context: CommandContext, text: str) -> None:
    if not text.strip():
        context.write_line(tr("Use /search WORDS."))
        return
    await context.command_and_wait(SearchMessages(text.strip(), _MAX_SESSIONS))
    reply = context.state.replies.message_matches
    matches = reply.matches if reply is not None and reply.text == text.strip() else ()
    if not matches:
        context.write_line(tr("No message contains these words."))
        return
    options = [(str(number), _match_line(match)) for number, match in enumerate(matches)]
    chosen = await ask_choice(context, tr("Messages, newest first:"), options)
    if chosen is None:
        return
    match = matches[int(chosen)]
    context.write_line(quote_message(match))
    if await _confirm(context, tr("Resume this session?")):
        context.leave(SessionSwitch(match.session_id))


async def _sessions(context: CommandContext, text: str) -> None:
    before = context.state.replies.sessions
    await context.command_and_wait(ListSessions(text))
    await context.wait_until(lambda: context.state.replies.sessions is not before)
    reply = context.state.replies.sessions
    sessions = reply.sessions[:_MAX_SESSIONS] if reply is not None else ()
    if not sessions:
        context.write_line(tr("No sessions found."))
        return
    options = [(it.id, _session_label(it)) for it in sessions]
    chosen_id = await ask_choice(context, tr("Sessions, most recent first:"), options)
    if chosen_id is None:
        return
    actions = [
        ("open", tr("resume")),
        ("copy", tr("fork")),
        ("rename", tr("rename")),
        ("delete", tr("delete")),
    ]
    match await ask_choice(context, tr("Action:"), actions):
        case "open":
            context.leave(SessionSwitch(chosen_id))
        case "copy":
            context.leave(SessionSwitch(chosen_id, fork=True))
        case "rename":
            if title := (await context.ask(tr("New title: ")) or "").strip():
                await context.command_and_wait(RenameSession(chosen_id, title))
                context.write_line(tr("Session renamed."))
        case "delete":
            if await _confirm(context, tr("Delete this session permanently?")):
                await context.command_and_wait(DeleteSession(chosen_id))
        case _:
            pass


async def _write(context: CommandContext, _: str) -> None:
    session = context.state.session
    if session is None or not session.read_only:
        context.write_line(tr("This session is already writable."))
        return
    if not session.in_use:
        context.leave(SessionSwitch(session.session_id))
        return
    options = [
        ("copy", tr("fork the session")),
        ("here", tr("resume it here after the other process has exited")),
    ]
    choice = await ask_choice(context, tr("Another process is using this session."), options)
    if choice is not None:
        context.leave(SessionSwitch(session.session_id, fork=choice == "copy"))


async def _detach(context: CommandContext, _: str) -> None:
    session = context.state.session
    if session is None or not session.resident:
        context.write_line(
            tr("This session ends with the app. Start it with kimi-tui --resident to detach from it.")
        )
        return
    context.leave()


async def _exit(context: CommandContext, _: str) -> None:
    if await may_leave(context):
        context.leave()


async def may_leave(context: CommandContext) -> bool:
    """Return whether to quit. If this stops background tasks, ask the user. End of input counts as yes."""
    session, tasks = context.state.session, context.state.running_tasks
    if not tasks or (session is not None and session.resident):
        return True
    question = tr_n(
        "Quit and stop {count} background task?", "Quit and stop {count} background tasks?", len(tasks)
    )
    context.write_line("; ".join(sanitize_line(task.description or task.command) for task in tasks))
    while (line := await context.ask(f"{question} {tr('y or n: ')}")) is not None:
        match line.strip().lower():
            case "y" | "yes":
                return True
            case "n" | "no" | "":
                return False
            case _:
                context.write_line(tr("Type one of: {keys}.", keys="y, n"))
    return True


COMMANDS = (
    LinearCommand("help", "Show commands and keys", _help),
    LinearCommand("status", "Show the session, model, modes, context and cost", _status),
    LinearCommand("cost", "Show token usage and cost by model", _cost),
    LinearCommand("model", "Switch to another model", _model),
    LinearCommand("thinking", "Set how much the model thinks", _thinking),
    LinearCommand("yolo", "Turn automatic approval of everything on or off", _yolo),
    LinearCommand("edits", "Accept edits in the working directory, or ask again", _edits),
    LinearCommand("todo", "Show the todo list", _todo),
    LinearCommand("output", "Show the output of the last tool call, or of the Nth last", _output),
    LinearCommand("transcript", "Show the conversation from before this run", _transcript),
    LinearCommand("tasks", "List background tasks", _tasks),
    LinearCommand("background", "Move the agent's running command to the background", _background),
    LinearCommand("fleet", "Show the progress of a fleet", _fleet),
    LinearCommand("search", "Search the messages of all sessions", _search),
    LinearCommand("sessions", "Resume, fork, rename or delete a session", _sessions),
    LinearCommand("ps", "Show running sessions; answer, stop or open one", show_running_sessions),
    LinearCommand("new", "Start a new session; this one is kept", _new),
    LinearCommand("write", "Continue a read-only session", _write),
    LinearCommand("image", "Attach an image to the next prompt", _image),
    LinearCommand("editor", "Write the prompt in your editor", _editor),
    LinearCommand("copy", "Copy the last response as Markdown", _copy),
    LinearCommand("detach", "Quit, and keep a resident session running", _detach),
    LinearCommand("exit", "Quit kimi-tui", _exit),
)
_COMMANDS_BY_NAME = {command.name: command for command in COMMANDS}
_ALIASES = {"quit": "exit", "q": "exit", "bg": "background"}
COMMANDS_WHILE_BUSY = frozenset({"/background", "/bg", "/tasks"})
"""Lines that run immediately while the agent works. Other lines wait until the agent finishes."""


async def run_command(context: CommandContext, name: str, argument: str) -> None:
    """Run `/name argument`, here or in the engine. Raises KimiTuiError."""
    command = _COMMANDS_BY_NAME.get(_ALIASES.get(name, name))
    if command is not None:
        await command.run(context, argument)
        return
    session = context.state.session
    engine_names = {
        known
        for it in (session.slash_commands if session is not None else ())
        for known in (it.name, *it.aliases)
    }
    line = f"{name} {argument}".rstrip()
    if name not in engine_names:
        matches = get_close_matches(name, {*_COMMANDS_BY_NAME, *engine_names}, n=3, cutoff=0.5)
        hint = (
            tr("Did you mean {names}?", names=", ".join(f"/{it}" for it in matches))
            if matches
            else tr("Use /help to list commands.")
        )
        context.write_line(join_sentences(tr("Unknown command: /{name}.", name=sanitize(name)), hint))
    elif name == "bisect" and not argument and (offers := _bisect_offers(context)):
        if (chosen := await ask_choice(context, tr("Search result:"), offers)) is not None:
            chosen_name, _, chosen_argument = chosen.removeprefix("/").partition(" ")
            await run_command(context, chosen_name, chosen_argument)
    elif name == "bisect" or (name == "attempts" and "--adopt" not in argument):
        context.command(RunSlash(line))  # the user continues to work, and results are printed as they arrive
    elif (plan := _plan_of(name, argument)) is not None:
        if await context.command_and_wait(RunSlash(plan)) and await _confirm(context, tr("Continue?")):
            await context.command_and_wait(RunSlash(line))
    else:
        await context.command_and_wait(RunSlash(line))


def _bisect_offers(context: CommandContext) -> list[tuple[str, str]]:
    """Return commands that are useful after the last /bisect, with /checkpoints instead of /timeline."""
    result = context.state.bisect_result
    offers = bisect_offers(result) if result is not None else []
    lines = {command: f"{summary}: {command}" for command, summary in offers}
    return [
        ("/checkpoints", tr("list the checkpoints")) if command.startswith("/timeline") else (command, label)
        for command, label in lines.items()
    ]


def _plan_of(name: str, argument: str) -> str | None:
    """Return the command that prints the plan of a command. None for a command without a plan."""
    if name == "note":
        number, _, text = argument.partition(" ")
        return f"revert {number} --dry-run" if text.strip() else None
    if name in _REVERT_COMMANDS and "--dry-run" not in argument:
        return f"{name} {argument} --dry-run"
    if name == "attempts" and "--dry-run" not in argument:
        return f"{name} {argument} --dry-run"
    return None


def complete_command(context: CommandContext, prefix: str) -> list[str]:
    """Return the commands that start with `prefix`."""
    if not prefix.startswith("/") or " " in prefix:
        return []
    session = context.state.session
    engine_names = (it.name for it in (session.slash_commands if session is not None else ()))
    names = {*_COMMANDS_BY_NAME, *engine_names}
    return sorted(f"/{name} " for name in names if f"/{name}".startswith(prefix))


async def _confirm(context: CommandContext, question: str) -> bool:
    """Return whether the user confirms. Print a message if they decline. Ask again after input other than
    yes or no.
    """
    while (line := await context.ask(f"{question} {tr('y or n: ')}")) is not None:
        match line.strip().lower():
            case "y" | "yes":
                return True
            case "n" | "no" | "":
                context.write_line(tr("Nothing changed."))
                return False
            case _:
                context.write_line(tr("Type one of: {keys}.", keys="y, n"))
    return False


def _parse_switch(argument: str, current: bool) -> bool:
    return {"on": True, "off": False}.get(argument.lower(), not current)


def _match_line(match: MessageMatch) -> str:
    return shorten(f"{match_label(match)}: {passage_line(match, _MATCH_LENGTH)}")


def _session_label(session: SessionListItem) -> str:
    ago = format_duration(max(0.0, time.time() - session.updated))
    label = tr(
        "{title}, {ago} ago, in {folder}", title=session.title or session.id, ago=ago, folder=session.work_dir
    )
    return shorten(f"{label}. {session.snippet}" if session.snippet else label)
