"""Slash commands that only the app has, and their alternatives in other front ends."""

from collections.abc import Mapping

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.i18n.translate import tr_lazy
from kimi_tui.wire.session import SessionInfo

_MAX_WORDS = 2
"""Maximum number of words of a command: its name and one argument.

Longer text is a prompt that starts with a path, such as `/login returns 500`.
"""

_SCREEN = tr_lazy("It only affects the screen. Omit it, or use the app.")
_SESSIONS = tr_lazy("Use --session ID. List sessions with `kimi-tui sessions list`.")
_SETTINGS = tr_lazy("Use `kimi-tui config list` and `kimi-tui config set`.")
_LOGIN = tr_lazy("Use `kimi-tui login`.")
_SEARCH = tr_lazy("Use `kimi-tui search WORDS`.")
_PERMISSIONS = tr_lazy("Use `kimi-tui config list` and `kimi-tui permissions explain`.")
_BACKGROUND = tr_lazy("Only a person can move a command to the background.")
_END = tr_lazy("Omit it. The run ends when its input ends.")

APP_COMMAND_ALTERNATIVES: Mapping[str, str] = {
    "help": tr_lazy("Use `kimi-tui --help-all`."),
    "h": tr_lazy("Use `kimi-tui --help-all`."),
    "?": tr_lazy("Use `kimi-tui --help-all`."),
    "keys": _SCREEN,
    "model": tr_lazy("Use --model NAME."),
    "thinking": tr_lazy("Use --thinking-level LEVEL."),
    "yolo": tr_lazy("Use --yolo."),
    "edits": tr_lazy("Add a rule such as Edit(src/**) to permissions.allow."),
    "theme": _SETTINGS,
    "settings": _SETTINGS,
    "config": _SETTINGS,
    "copy": _SCREEN,
    "todo": _SCREEN,
    "tools": _SCREEN,
    "print": _SCREEN,
    "find": _SCREEN,
    "suspend": _SCREEN,
    "editor": _SCREEN,
    "detach": _END,
    "exit": _END,
    "quit": _END,
    "q": _END,
    "login": _LOGIN,
    "setup": _LOGIN,
    "connect": _LOGIN,
    "timeline": tr_lazy("Use /checkpoints or `kimi-tui checkpoints list`."),
    "rewind": tr_lazy("Use /revert N. List checkpoints with /checkpoints."),
    "new": tr_lazy("Omit --continue and --session to start a new session."),
    "reload": tr_lazy("Start kimi-tui again, with --continue."),
    "sessions": _SESSIONS,
    "resume": _SESSIONS,
    "ps": tr_lazy("Use `kimi-tui ps`."),
    "search": _SEARCH,
    "recall": _SEARCH,
    "permissions": _PERMISSIONS,
    "allowed-tools": _PERMISSIONS,
    "background": _BACKGROUND,
    "bg": _BACKGROUND,
    "fleet": tr_lazy("Use `kimi-tui fleet watch TASKS`."),
    "agent": tr_lazy("Use --agent NAME. List agents with /agents."),
    "write": tr_lazy("Use --fork to continue in a fork."),
    "image": tr_lazy("Use --input-format stream-json. Its messages can contain images."),
    "debug": tr_lazy("Use `kimi-tui info`."),
}
"""Alternative to each command and alias, as an English message."""


def app_only_error(info: SessionInfo | None, user_input: UserInput) -> UsageError | None:
    """Return an error if `user_input` is a command of the app that the session doesn't have.

    Paths, such as `/usr/bin/foo is broken`, and other text are prompts.
    """
    if not isinstance(user_input, str) or not user_input.startswith("/"):
        return None
    words = user_input[1:].split()
    if not words or len(words) > _MAX_WORDS or (info is not None and info.find_command(words[0]) is not None):
        return None
    alternative = APP_COMMAND_ALTERNATIVES.get(words[0])
    if alternative is None:
        return None
    return UsageError(
        msg("/{name} is only available in the app. Nothing was sent.", name=words[0]), hint=alternative
    )
