"""What dialogs and completions asked the engine for, as it was answered last."""

from dataclasses import replace
from typing import assert_never

from kimi_tui.base.value import value
from kimi_tui.wire.agents import AgentList
from kimi_tui.wire.background import TaskText
from kimi_tui.wire.completion import ArgumentChoices
from kimi_tui.wire.events import Reply
from kimi_tui.wire.sessions import SessionList, SessionPreview
from kimi_tui.wire.settings import SettingChanged, SettingsList
from kimi_tui.wire.setup import ModelConnected, ModelSources


@value(kw_only=True)
class Replies:
    """The last reply of each kind; None before the first."""

    agents: AgentList | None = None
    sessions: SessionList | None = None
    """Those on disk."""
    session_preview: SessionPreview | None = None
    model_sources: ModelSources | None = None
    model_connected: ModelConnected | None = None
    settings: SettingsList | None = None
    setting_changed: SettingChanged | None = None
    argument_choices: ArgumentChoices | None = None
    """What the argument of a slash command may become."""
    task_text: TaskText | None = None
    """A piece of a background task's output."""

    def after(self, reply: Reply) -> "Replies":
        """The same with `reply` as the last of its kind."""
        match reply:
            case AgentList():
                return replace(self, agents=reply)
            case SessionList():
                return replace(self, sessions=reply)
            case SessionPreview():
                return replace(self, session_preview=reply)
            case ModelSources():
                return replace(self, model_sources=reply)
            case ModelConnected():
                return replace(self, model_connected=reply)
            case SettingsList():
                return replace(self, settings=reply)
            case SettingChanged():
                return replace(self, setting_changed=reply)
            case ArgumentChoices():
                return replace(self, argument_choices=reply)
            case TaskText():
                return replace(self, task_text=reply)
            case _:
                assert_never(reply)
