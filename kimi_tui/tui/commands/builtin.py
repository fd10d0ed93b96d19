"""Built-in commands of the screen. Commands that change the session are sent to the engine."""

from kimi_tui.base.thinking_effort import THINKING_EFFORTS, parse_thinking_effort
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.text.command_topics import COMMAND_TOPICS
from kimi_tui.frontend.text.models import (
    LAST_MODEL,
    level_name,
    no_thinking_text,
    thinking_change_text,
    thinking_usage,
)
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.ui_command import UiCommand
from kimi_tui.tui.dialogs.models import ModelChoice
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.commands import MoveToBackground, RunSlash, SetThinking, SetYolo
from kimi_tui.wire.session import SessionInfo

_SWITCH = ("on", "off")


async def _help(host: CommandHost, topic: str) -> None:
    host.dialogs.show_help("all", topic)


def _help_topics(_: SessionViewState) -> tuple[str, ...]:
    return tuple(topic.id for topic in COMMAND_TOPICS)


async def _keys(host: CommandHost, _: str) -> None:
    host.dialogs.show_help("keys")


async def _model(host: CommandHost, argument: str) -> None:
    session, models = host.state.session, _model_names(host.state)
    if session is None or not models:
        host.notify(tr("No models configured. Use /login to connect one."), severity="warning")
        return
    if argument == LAST_MODEL:
        argument = host.state.last_model
        if argument:
            host.notify(tr("Model: {name}", name=argument), topic="model")
    if not argument:
        choice = await host.dialogs.choose_model(session)
        if choice is not None:
            _use_model(host, choice)
        return
    name, _, level = argument.partition(" ")
    effort = parse_thinking_effort(level)
    if level and effort is None:
        host.notify(thinking_usage(THINKING_EFFORTS), severity="error")
    elif name in models:
        _use_model(host, ModelChoice(name, effort))
    else:
        host.notify(
            tr("Unknown model “{name}”. Available models: {names}.", name=name, names=", ".join(models)),
            severity="error",
        )


def _use_model(host: CommandHost, choice: ModelChoice) -> None:
    host.use_model(choice.name)
    if choice.effort is not None:
        host.command(SetThinking(choice.effort != "off", choice.effort))


async def _thinking(host: CommandHost, argument: str) -> None:
    session = host.state.session
    if session is None:
        return
    levels = session.thinking_levels
    if not levels:
        host.notify(no_thinking_text(session), severity="warning")
        return
    effort = parse_thinking_effort(argument or await _choose_level(host, session) or "")
    if effort is not None:
        host.command(SetThinking(effort != "off", effort))
        host.notify(thinking_change_text(effort, levels))
    elif argument:
        host.notify(thinking_usage(levels), severity="error")


async def _choose_level(host: CommandHost, session: SessionInfo) -> str | None:
    """Return the level that the user chooses. If the model has two levels, return the other level."""
    levels = session.thinking_levels
    if len(levels) == 2:
        return next(it for it in levels if it != session.thinking_effort)
    choices = [
        Choice(
            value=it,
            label=level_name(it, levels),
            note=tr("in use") if it == session.thinking_effort else "",
            is_current=it == session.thinking_effort,
        )
        for it in levels
    ]
    return await host.choose(tr("Thinking"), choices)


async def _yolo(host: CommandHost, argument: str) -> None:
    session = host.state.session
    enabled = _parse_switch(argument, session is not None and session.yolo)
    if enabled is None:
        host.notify(tr("Use /yolo on or /yolo off."), severity="error")
        return
    host.command(SetYolo(enabled))
    if enabled:
        host.notify(tr("Yolo: on. Everything is approved, including dangerous commands."), severity="warning")
    else:
        host.notify(tr("Yolo: off"))


async def _theme(host: CommandHost, argument: str) -> None:
    if name := argument or await host.dialogs.choose_theme():
        host.use_theme(name)


async def _copy(host: CommandHost, _: str) -> None:
    if response := host.last_response:
        host.copy(response)
    else:
        host.notify(tr("No response to copy yet."), severity="warning")


async def _todo(host: CommandHost, _: str) -> None:
    host.toggle_pane("todo")


async def _tools(host: CommandHost, _: str) -> None:
    host.toggle_pane("tools")


async def _mcp(host: CommandHost, argument: str) -> None:
    if argument:
        host.command(RunSlash(f"mcp {argument}"))
    else:
        host.dialogs.show_mcp()


async def _permissions(host: CommandHost, argument: str) -> None:
    if argument:
        host.command(RunSlash(f"permissions {argument}"))
    else:
        host.dialogs.show_permissions()


async def _exit(host: CommandHost, _: str) -> None:
    host.leave()


async def _detach(host: CommandHost, _: str) -> None:
    session = host.state.session
    if session is None or not session.resident:
        host.notify(
            tr("This session ends with the app. Start it with kimi-tui --resident to detach from it."),
            severity="warning",
        )
        return
    host.leave()


def _model_names(state: SessionViewState) -> tuple[str, ...]:
    return state.session.models if state.session is not None else ()


def _level_values(state: SessionViewState) -> tuple[str, ...]:
    return state.session.thinking_levels if state.session is not None else ()


async def _tasks(host: CommandHost, argument: str) -> None:
    if argument:
        host.command(RunSlash(f"tasks {argument}"))
    else:
        host.dialogs.show_tasks()


async def _background(host: CommandHost, _: str) -> None:
    host.command(MoveToBackground())


def _task_arguments(state: SessionViewState) -> tuple[str, ...]:
    return tuple(f"stop {task.id}" for task in state.tasks if task.status == "running")


def _mcp_arguments(state: SessionViewState) -> tuple[str, ...]:
    servers = state.mcp.servers if state.mcp is not None else ()
    remote = [f"auth {server.name}" for server in servers if server.transport in ("http", "sse")]
    return ("import", "reconnect", *(f"reconnect {server.name}" for server in servers), *remote)


def _switch_values(_: SessionViewState) -> tuple[str, ...]:
    return _SWITCH


def _parse_switch(argument: str, current: bool) -> bool | None:
    if not argument:
        return not current
    return {"on": True, "off": False}.get(argument.lower())


COMMANDS = (
    UiCommand(
        name="help",
        summary="Show commands and keys",
        run=_help,
        argument="[TOPIC]",
        choices=_help_topics,
        aliases=("h", "?"),
        binding_id="app.help",
    ),
    UiCommand(name="keys", summary="Show all keys and how to remap them", run=_keys),
    UiCommand(
        name="model",
        summary="Switch to another model",
        run=_model,
        argument="[NAME [LEVEL]|-]",
        choices=_model_names,
        binding_id="app.model",
    ),
    UiCommand(
        name="thinking",
        summary="Set how much the model thinks",
        run=_thinking,
        argument="[LEVEL]",
        choices=_level_values,
    ),
    UiCommand(
        name="yolo",
        summary="Turn automatic approval of everything on or off",
        run=_yolo,
        argument="[on|off]",
        choices=_switch_values,
    ),
    UiCommand(name="theme", summary="Change the color theme", run=_theme, argument="[NAME]"),
    UiCommand(name="copy", summary="Copy the last response as Markdown", run=_copy),
    UiCommand(name="todo", summary="Show or hide the todo list", run=_todo, binding_id="panes.todo"),
    UiCommand(name="tools", summary="Show or hide the tool calls", run=_tools, binding_id="panes.tools"),
    UiCommand(
        name="mcp",
        summary="Show and manage MCP servers",
        run=_mcp,
        argument="[import|reconnect|auth SERVER]",
        choices=_mcp_arguments,
    ),
    UiCommand(
        name="tasks",
        summary="Show and stop background tasks",
        run=_tasks,
        argument="[stop ID]",
        choices=_task_arguments,
    ),
    UiCommand(
        name="permissions",
        summary="Show, change and revoke permissions",
        run=_permissions,
        aliases=("allowed-tools",),
    ),
    UiCommand(
        name="background",
        summary="Move the agent's running command to the background",
        run=_background,
        aliases=("bg",),
        binding_id="turn.background",
    ),
    UiCommand(name="detach", summary="Quit, and keep a resident session running", run=_detach),
    UiCommand(name="exit", summary="Quit kimi-tui", run=_exit, aliases=("quit", "q"), binding_id="app.quit"),
)
