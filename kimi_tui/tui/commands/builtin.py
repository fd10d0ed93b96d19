"""The commands of the screen. What changes the session is asked of the engine; the rest happens here."""

from collections.abc import Sequence

from kimi_tui.language.saying import say
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.commands.registry import Host, SlashCommand
from kimi_tui.tui.state import ScreenState
from kimi_tui.tui.themes import THEMES
from kimi_tui.wire.commands import RunSlash, SetThinking, SetYolo

_SWITCH = ("on", "off")


async def run_engine_command(host: Host, line: str) -> None:
    """Have the engine run `line`."""
    host.command(RunSlash(line))


async def _help(host: Host, _: str) -> None:
    host.show_help("commands")


async def _keys(host: Host, _: str) -> None:
    host.show_help("keys")


async def _model(host: Host, argument: str) -> None:
    models = _models(host.state)
    if not models:
        host.say(say("No models are configured. /login connects one."), severity="warning")
        return
    name = argument or await host.choose(say("Model"), _marked(models, _current_model(host.state)))
    if not name:
        return
    if name in models:
        host.use_model(name)
    else:
        host.say(
            say("There is no model “{name}”. Configured are: {names}.", name=name, names=", ".join(models)),
            severity="error",
        )


async def _thinking(host: Host, argument: str) -> None:
    session = host.state.session
    enabled = _switched(argument, session is not None and session.thinking)
    if enabled is None:
        host.say(say("Say /thinking on or /thinking off."), severity="error")
        return
    host.command(SetThinking(enabled))
    host.say(
        say("Thinking is on from the next step on.")
        if enabled
        else say("Thinking is off from the next step on.")
    )


async def _yolo(host: Host, argument: str) -> None:
    session = host.state.session
    enabled = _switched(argument, session is not None and session.yolo)
    if enabled is None:
        host.say(say("Say /yolo on or /yolo off."), severity="error")
        return
    host.command(SetYolo(enabled))
    if enabled:
        host.say(say("Everything is approved from now on, dangerous commands too."), severity="warning")
    else:
        host.say(say("Approvals are asked for again."))


async def _theme(host: Host, argument: str) -> None:
    names = _themes(host.state)
    name = argument or await host.choose(say("Theme"), _marked(names, host.theme_name))
    if not name:
        return
    if name in names:
        host.use_theme(name)
    else:
        host.say(
            say("There is no theme “{name}”. There are: {names}.", name=name, names=", ".join(names)),
            severity="error",
        )


async def _copy(host: Host, _: str) -> None:
    if answer := host.last_answer:
        host.copy(answer)
    else:
        host.say(say("There is no answer to copy yet."), severity="warning")


async def _todo(host: Host, _: str) -> None:
    host.toggle_pane("todo")


async def _tools(host: Host, _: str) -> None:
    host.toggle_pane("tools")


async def _mcp(host: Host, argument: str) -> None:
    if argument:
        host.command(RunSlash(f"mcp {argument}"))
    else:
        host.show_mcp()


async def _exit(host: Host, _: str) -> None:
    host.leave()


def _models(state: ScreenState) -> tuple[str, ...]:
    return state.session.models if state.session is not None else ()


def _current_model(state: ScreenState) -> str:
    return state.session.model if state.session is not None else ""


async def _tasks(host: Host, argument: str) -> None:
    if argument:
        host.command(RunSlash(f"tasks {argument}"))
    else:
        host.show_tasks()


def _task_acts(state: ScreenState) -> tuple[str, ...]:
    return tuple(f"stop {task.id}" for task in state.tasks if task.status == "running")


def _mcp_acts(state: ScreenState) -> tuple[str, ...]:
    servers = state.mcp.servers if state.mcp is not None else ()
    remote = [f"auth {server.name}" for server in servers if server.transport in ("http", "sse")]
    return ("reconnect", *(f"reconnect {server.name}" for server in servers), *remote)


def _themes(_: ScreenState) -> tuple[str, ...]:
    return tuple(theme.name for theme in THEMES)


def _switches(_: ScreenState) -> tuple[str, ...]:
    return _SWITCH


def _switched(argument: str, now: bool) -> bool | None:
    if not argument:
        return not now
    return {"on": True, "off": False}.get(argument.lower())


def _marked(names: Sequence[str], current: str) -> list[Choice]:
    return [
        Choice(value=it, label=it, note=say("in use") if it == current else "", is_in_use=it == current)
        for it in names
    ]


COMMANDS = (
    SlashCommand(name="help", summary="Keys and commands", run=_help, binding_id="app.help"),
    SlashCommand(name="keys", summary="Every key, and how to remap it", run=_keys),
    SlashCommand(name="model", summary="Use another model", run=_model, argument="[NAME]", choices=_models),
    SlashCommand(
        name="thinking",
        summary="Let the model think first",
        run=_thinking,
        argument="[on|off]",
        choices=_switches,
    ),
    SlashCommand(
        name="yolo",
        summary="Approve everything, or ask again",
        run=_yolo,
        argument="[on|off]",
        choices=_switches,
    ),
    SlashCommand(name="theme", summary="Change the colours", run=_theme, argument="[NAME]", choices=_themes),
    SlashCommand(name="copy", summary="Copy the last answer as Markdown", run=_copy),
    SlashCommand(name="todo", summary="Show or hide the todo list", run=_todo, binding_id="panes.todo"),
    SlashCommand(name="tools", summary="Show or hide the tool calls", run=_tools, binding_id="panes.tools"),
    SlashCommand(
        name="mcp",
        summary="MCP servers: how they are, what they offer",
        run=_mcp,
        argument="[reconnect|auth SERVER]",
        choices=_mcp_acts,
    ),
    SlashCommand(
        name="tasks",
        summary="Background tasks: their output, stopping them",
        run=_tasks,
        argument="[stop ID]",
        choices=_task_acts,
    ),
    SlashCommand(name="exit", summary="Leave", run=_exit, aliases=("quit", "q"), binding_id="app.quit"),
)
