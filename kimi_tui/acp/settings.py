"""What the user sets in a session from the client: its mode, its model, whether the model thinks."""

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

from kimi_tui.acp.words import invalid
from kimi_tui.base.terminal import plain_line
from kimi_tui.wire.commands import Command, SetAcceptEdits, SetModel, SetPlanMode, SetThinking, SetYolo
from kimi_tui.wire.events import SessionInfo, SlashCommandInfo

ConfigOption = SessionConfigOptionSelect | SessionConfigOptionBoolean
SettingsUpdate = AvailableCommandsUpdate | ConfigOptionUpdate | CurrentModeUpdate | SessionInfoUpdate

DEFAULT, ACCEPT_EDITS, PLAN, YOLO = "default", "accept_edits", "plan", "yolo"
MODE, MODEL, THINKING = "mode", "model", "thinking"
_ON, _OFF = "on", "off"
_MODES = (
    SessionMode(id=DEFAULT, name="Ask", description="Asks before it changes anything or runs a command."),
    SessionMode(
        id=ACCEPT_EDITS, name="Accept edits", description="Edits in the work dir unasked; asks for the rest."
    ),
    SessionMode(id=PLAN, name="Plan", description="Only reads, and proposes a plan before anything else."),
    SessionMode(id=YOLO, name="Accept all", description="Does everything that no rule denies, unasked."),
)


def modes_of(info: SessionInfo) -> SessionModeState:
    """The modes that there are, and the one that the session is in."""
    return SessionModeState(current_mode_id=_mode_id(info), available_modes=list(_MODES))


def models_of(info: SessionInfo) -> dict[str, Any]:
    """The models, as clients take them that know `session/set_model` and no options of a session."""
    models = [{"modelId": name, "name": name} for name in _model_names(info)]
    return {"currentModelId": info.model, "availableModels": models}


def options_of(info: SessionInfo, *, switches: bool) -> list[ConfigOption]:
    """Everything that can be set. `switches` says whether the client knows an option that is on or off."""
    return [
        _choice(MODE, "Mode", _mode_id(info), [(mode.id, mode.name, mode.description) for mode in _MODES]),
        _choice(MODEL, "Model", info.model, [(name, name, None) for name in _model_names(info)]),
        _thinking(info, switches=switches),
    ]


def commands_for(option: str, value: str | bool, info: SessionInfo) -> tuple[Command, ...]:
    """What the engine is told to set an option. Raises RequestError for one that isn't there."""
    match option, value:
        case "mode", str(mode) if mode in {known.id for known in _MODES}:
            return tuple(_mode_commands(mode, info))
        case "model", str(model) if model == info.model:
            return ()
        case "model", str(model) if model in info.models:
            return (SetModel(model),)
        case "thinking", bool(enabled):
            return (SetThinking(enabled),)
        case "thinking", str(word) if word in (_ON, _OFF):
            return (SetThinking(word == _ON),)
        case "mode" | "model" | "thinking", _:
            raise invalid(f"There is no {option} “{plain_line(str(value))}” in this session.")
        case _:
            raise invalid(f"A session has no option “{plain_line(option)}”.")


def updates_between(
    before: SessionInfo | None, after: SessionInfo, *, switches: bool
) -> Iterator[SettingsUpdate]:
    """What a client is told when a session's description changes; commands alone when it is new to it."""
    if before is None or before.slash_commands != after.slash_commands:
        yield AvailableCommandsUpdate(
            session_update="available_commands_update",
            available_commands=[_command(command) for command in after.slash_commands],
        )
    if before is None:
        return
    if _mode_id(before) != _mode_id(after):
        yield CurrentModeUpdate(session_update="current_mode_update", current_mode_id=_mode_id(after))
    options = options_of(after, switches=switches)
    if options != options_of(before, switches=switches):
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
    """What has to change. Planning leaves alone what comes after it: the plan's approval says that."""
    if info.plan_mode != (mode == PLAN):
        yield SetPlanMode(mode == PLAN)
    if mode != PLAN and info.yolo != (mode == YOLO):
        yield SetYolo(mode == YOLO)
    if mode != PLAN and info.accept_edits != (mode == ACCEPT_EDITS):
        yield SetAcceptEdits(mode == ACCEPT_EDITS)


def _model_names(info: SessionInfo) -> Sequence[str]:
    """Those that can be chosen, and the present one, which may be none of them (the demo)."""
    return tuple(dict.fromkeys((*([info.model] if info.model else ()), *info.models)))


def _thinking(info: SessionInfo, *, switches: bool) -> ConfigOption:
    if switches:
        return SessionConfigOptionBoolean(
            type="boolean",
            id=THINKING,
            name="Thinking",
            category="thought_level",
            current_value=info.thinking,
        )
    values = [(_ON, "On", "The model thinks before it answers."), (_OFF, "Off", None)]
    return _choice(THINKING, "Thinking", _ON if info.thinking else _OFF, values, category="thought_level")


def _choice(
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


def _command(command: SlashCommandInfo) -> AvailableCommand:
    """A slash command; what may follow its name is what its description says of that."""
    takes = re.search(rf"/{re.escape(command.name)} (.+)$", command.description)
    return AvailableCommand(
        name=command.name,
        description=command.description,
        input=AvailableCommandInput(UnstructuredCommandInput(hint=takes[1])) if takes is not None else None,
    )
