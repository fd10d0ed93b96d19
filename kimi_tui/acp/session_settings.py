"""Settings of a session that the client can change: mode, model and thinking."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from acp.schema import (
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    ConfigOptionUpdate,
    CurrentModeUpdate,
    SessionConfigOptionBoolean,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionInfoUpdate,
    SessionMode,
    SessionModeState,
    UnstructuredCommandInput,
)

from kimi_tui.acp.errors import invalid_request
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.base.thinking_effort import parse_thinking_effort
from kimi_tui.wire.commands import Command, SetAcceptEdits, SetModel, SetPlanMode, SetThinking, SetYolo
from kimi_tui.wire.events import SessionInfo, SlashCommandInfo

ConfigOption = SessionConfigOptionSelect | SessionConfigOptionBoolean
SettingsUpdate = AvailableCommandsUpdate | ConfigOptionUpdate | CurrentModeUpdate | SessionInfoUpdate

DEFAULT, ACCEPT_EDITS, PLAN, YOLO = "default", "accept_edits", "plan", "yolo"
MODE, MODEL, THINKING = "mode", "model", "thinking"
_ON, _OFF = "on", "off"
_MODES = (
    SessionMode(id=DEFAULT, name="Ask", description="Ask before making changes or running commands."),
    SessionMode(
        id=ACCEPT_EDITS, name="Accept edits", description="Edit the working directory without asking."
    ),
    SessionMode(id=PLAN, name="Plan", description="Only read files and propose a plan."),
    SessionMode(id=YOLO, name="Yolo", description="Allow everything except what a rule denies."),
)


def session_modes(info: SessionInfo) -> SessionModeState:
    """Return the available modes and the current mode."""
    return SessionModeState(current_mode_id=_mode_id(info), available_modes=list(_MODES))


def session_models(info: SessionInfo) -> dict[str, Any]:
    """Return the models, for clients that use `session/set_model` instead of session options."""
    models = [{"modelId": name, "name": name} for name in _model_names(info)]
    return {"currentModelId": info.model, "availableModels": models}


def session_config_options(info: SessionInfo, *, supports_boolean_options: bool) -> list[ConfigOption]:
    """Return all options. `supports_boolean_options`: whether the client supports boolean options."""
    return [
        _select_option(
            MODE, "Mode", _mode_id(info), [(mode.id, mode.name, mode.description) for mode in _MODES]
        ),
        _select_option(MODEL, "Model", info.model, [(name, name, None) for name in _model_names(info)]),
        _thinking_option(info, supports_boolean_options=supports_boolean_options),
    ]


def commands_for(option: str, value: str | bool, info: SessionInfo) -> tuple[Command, ...]:
    """Return the engine commands that set an option. Raises RequestError if the option is invalid."""
    match option, value:
        case "mode", str(mode) if mode in {known.id for known in _MODES}:
            return tuple(_mode_commands(mode, info))
        case "model", str(model) if model == info.model:
            return ()
        case "model", str(model) if model in info.models:
            return (SetModel(model),)
        case "thinking", bool(enabled):
            return (SetThinking(enabled),)
        case "thinking", str(text) if (effort := parse_thinking_effort(text)) is not None:
            return (SetThinking(effort != "off", effort),)
        case "mode" | "model" | "thinking", _:
            raise invalid_request(f"Invalid {option} “{sanitize_line(str(value))}”.")
        case _:
            raise invalid_request(f"Option “{sanitize_line(option)}” doesn't exist.")


def setting_updates(
    before: SessionInfo | None, after: SessionInfo, *, supports_boolean_options: bool
) -> Iterator[SettingsUpdate]:
    """Yield the updates for changed session information. For a new session, yield only the commands."""
    if before is None or before.slash_commands != after.slash_commands:
        yield AvailableCommandsUpdate(
            session_update="available_commands_update",
            available_commands=[_available_command(command) for command in after.slash_commands],
        )
    if before is None:
        return
    if _mode_id(before) != _mode_id(after):
        yield CurrentModeUpdate(session_update="current_mode_update", current_mode_id=_mode_id(after))
    options = session_config_options(after, supports_boolean_options=supports_boolean_options)
    if options != session_config_options(before, supports_boolean_options=supports_boolean_options):
        yield ConfigOptionUpdate(session_update="config_option_update", config_options=options)
    if before.title != after.title:
        yield SessionInfoUpdate(session_update="session_info_update", title=after.title)


def _mode_id(info: SessionInfo) -> str:
    if info.plan_mode:
        return PLAN
    if info.yolo:
        return YOLO
    return ACCEPT_EDITS if info.accept_edits else DEFAULT


def _mode_commands(mode: str, info: SessionInfo) -> Iterator[Command]:
    """Yield the commands that set a mode.

    "plan" leaves the other settings unchanged: the approval of the plan determines the next mode.
    """
    if info.plan_mode != (mode == PLAN):
        yield SetPlanMode(mode == PLAN)
    if mode != PLAN and info.yolo != (mode == YOLO):
        yield SetYolo(mode == YOLO)
    if mode != PLAN and info.accept_edits != (mode == ACCEPT_EDITS):
        yield SetAcceptEdits(mode == ACCEPT_EDITS)


def _model_names(info: SessionInfo) -> Sequence[str]:
    """Return the selectable models and the current model, which may not be selectable, such as the demo."""
    return tuple(dict.fromkeys((*([info.model] if info.model else ()), *info.models)))


def _thinking_option(info: SessionInfo, *, supports_boolean_options: bool) -> ConfigOption:
    if supports_boolean_options:
        return SessionConfigOptionBoolean(
            type="boolean",
            id=THINKING,
            name="Thinking",
            category="thought_level",
            current_value=info.thinking,
        )
    values = [(_ON, "On", "The model thinks before it responds."), (_OFF, "Off", None)]
    return _select_option(
        THINKING, "Thinking", _ON if info.thinking else _OFF, values, category="thought_level"
    )


def _select_option(
    option: str,
    name: str,
    current: str,
    values: Sequence[tuple[str, str, str | None]],
    *,
    category: Any = None,
) -> SessionConfigOptionSelect:
    return SessionConfigOptionSelect(
        type="select",
        id=option,
        name=name,
        category=category or option,
        current_value=current,
        options=[
            SessionConfigSelectOption(value=value, name=label, description=description)
            for value, label, description in values
        ],
    )


def _available_command(command: SlashCommandInfo) -> AvailableCommand:
    """Return a slash command. Its input hint is taken from the description."""
    usage = re.search(rf"/{re.escape(command.name)} (.+)$", command.description)
    return AvailableCommand(
        name=command.name,
        description=command.description,
        input=AvailableCommandInput(UnstructuredCommandInput(hint=usage[1])) if usage is not None else None,
    )
