"""The engine's latest replies to requests of dialogs and completions."""

from dataclasses import replace
from typing import assert_never

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.agent_list import AgentList
from kimi_tui.wire.argument_completion import ArgumentChoices
from kimi_tui.wire.background import TaskText
from kimi_tui.wire.context_usage import WindowFilling
from kimi_tui.wire.events import Reply
from kimi_tui.wire.message_search import MessageMatches
from kimi_tui.wire.model_setup import ModelConnected, ModelSources
from kimi_tui.wire.permissions import PermissionChanged, PermissionList
from kimi_tui.wire.session_list import SessionList, SessionPreview
from kimi_tui.wire.settings import SettingChanged, SettingsList
from kimi_tui.wire.usage import UsageReport


@frozen(kw_only=True)
class EngineReplies:
    """The latest reply of each kind. None before the first reply."""

    agents: AgentList | None = None
    sessions: SessionList | None = None
    """The sessions on disk."""
    session_preview: SessionPreview | None = None
    message_matches: MessageMatches | None = None
    """The latest results of a search in all sessions."""
    model_sources: ModelSources | None = None
    model_connected: ModelConnected | None = None
    settings: SettingsList | None = None
    setting_changed: SettingChanged | None = None
    permissions: PermissionList | None = None
    permission_changed: PermissionChanged | None = None
    argument_choices: ArgumentChoices | None = None
    """Completions for the argument of a slash command."""
    task_text: TaskText | None = None
    """Part of a background task's output."""
    window_filling: WindowFilling | None = None
    usage_report: UsageReport | None = None

    def with_reply(self, reply: Reply) -> "EngineReplies":
        """Return a copy with `reply` as the latest of its kind."""
        match reply:
            case AgentList():
                return replace(self, agents=reply)
            case SessionList():
                return replace(self, sessions=reply)
            case SessionPreview():
                return replace(self, session_preview=reply)
            case MessageMatches():
                return replace(self, message_matches=reply)
            case ModelSources():
                return replace(self, model_sources=reply)
            case ModelConnected():
                return replace(self, model_connected=reply)
            case SettingsList():
                return replace(self, settings=reply)
            case SettingChanged():
                return replace(self, setting_changed=reply)
            case PermissionList():
                return replace(self, permissions=reply)
            case PermissionChanged():
                return replace(self, permission_changed=reply)
            case ArgumentChoices():
                return replace(self, argument_choices=reply)
            case TaskText():
                return replace(self, task_text=reply)
            case WindowFilling():
                return replace(self, window_filling=reply)
            case UsageReport():
                return replace(self, usage_report=reply)
            case _:
                assert_never(reply)
