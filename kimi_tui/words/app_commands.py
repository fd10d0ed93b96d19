"""The slash commands that only the app has, and what does the same where no app runs."""

from collections.abc import Mapping

from kimi_tui.base.content import UserInput
from kimi_tui.base.errors import UsageError
from kimi_tui.language.saying import later
from kimi_tui.wire.session import SessionInfo

_MOST_WORDS = 2
"""The name and what it is given; more is a sentence that begins with a path, such as `/login returns 500`."""

_SCREEN = later("It does something on the screen only: leave it out, or open the app.")
_SESSIONS = later("Use the option --session ID; `kimi-tui sessions list` shows the sessions.")
_SETTINGS = later("Use `kimi-tui config list`, and `kimi-tui config set` to change one.")
_LOGIN = later("Use `kimi-tui login`.")
_COST = later("Use the option --output-format json, whose result has the tokens and the cost.")
_END = later("Leave it out: the run ends when its input does.")

INSTEAD: Mapping[str, str] = {
    "help": later("Use `kimi-tui --help-all`."),
    "keys": _SCREEN,
    "model": later("Use the option --model NAME."),
    "thinking": later("Use the option --thinking or --no-thinking."),
    "yolo": later("Use the option --yolo."),
    "edits": later("Use a rule such as Edit(src/**) under permissions.allow."),
    "theme": _SETTINGS,
    "settings": _SETTINGS,
    "config": _SETTINGS,
    "copy": _SCREEN,
    "todo": _SCREEN,
    "tools": _SCREEN,
    "print": _SCREEN,
    "suspend": _SCREEN,
    "editor": _SCREEN,
    "exit": _END,
    "quit": _END,
    "q": _END,
    "login": _LOGIN,
    "setup": _LOGIN,
    "connect": _LOGIN,
    "timeline": later("Use /checkpoints, or `kimi-tui checkpoints list`."),
    "rewind": later("Use /revert N; /checkpoints lists the numbers."),
    "new": later("A run without --continue and --session begins a new session."),
    "sessions": _SESSIONS,
    "resume": _SESSIONS,
    "agent": later("Use the option --agent NAME; /agents lists them."),
    "write": later("Use the option --fork to go on in a copy."),
    "image": later("Use the option --input-format stream-json, whose messages may hold pictures."),
    "cost": _COST,
    "usage": _COST,
    "debug": later("Use `kimi-tui info`."),
}
"""What to do in place of each command and alias; sentences in English."""


def meant_for_app(info: SessionInfo | None, user_input: UserInput) -> UsageError | None:
    """Why `user_input` is not sent: it is one of these commands, and none of the session's.

    Paths, such as `/usr/bin/foo is broken`, and other sentences are prompts.
    """
    if not isinstance(user_input, str) or not user_input.startswith("/"):
        return None
    words = user_input[1:].split()
    if not words or len(words) > _MOST_WORDS or (info is not None and info.command(words[0]) is not None):
        return None
    instead = INSTEAD.get(words[0])
    if instead is None:
        return None
    return UsageError(
        f"/{words[0]} is a command of the app, which doesn't run here; nothing was sent.", hint=instead
    )
