"""Text about the open sessions of this user."""

from pathlib import Path

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.wire.running_session import RunningSession, RunningState

_STATES: dict[RunningState, str] = {
    "working": tr_lazy("working"),
    "awaiting approval": tr_lazy("awaiting approval"),
    "done": tr_lazy("done"),
    "interrupted": tr_lazy("interrupted"),
    "failed": tr_lazy("failed"),
    "idle": tr_lazy("idle"),
    "open": tr_lazy("open elsewhere"),
}
_SIGNS: dict[RunningState, str] = {
    "working": "⟳", "awaiting approval": "?", "done": "✔", "interrupted": "■", "failed": "✗",
    "idle": "·", "open": "·",
}  # fmt: skip


def state_label(state: RunningState) -> str:
    """Return the state of a session as the user sees it."""
    return tr(_STATES[state])


def state_sign(state: RunningState) -> str:
    """Return the character that stands for a state."""
    return _SIGNS[state]


def duration_label(seconds: float) -> str:
    """Return a duration such as `5 s`, `12 min` or `3 h`."""
    if seconds < 60:
        return tr("{count} s", count=int(seconds))
    if seconds < 3600:
        return tr("{count} min", count=int(seconds // 60))
    return tr("{count} h", count=int(seconds // 3600))


def cost_today_label(session: RunningSession) -> str:
    """Return the cost since midnight, such as `$0.12 today`. Empty if the cost is unknown."""
    if session.cost_today_usd is None:
        return ""
    return tr("${cost} today", cost=f"{session.cost_today_usd:.2f}")


def title_of(session: RunningSession) -> str:
    """Return the title of a session, or its id if it has no title."""
    return sanitize_line(session.title) or session.id[:8]


def short_path(path: str) -> str:
    """Return a path for display, with `~` for the home directory."""
    home = str(Path.home())
    return sanitize_line(f"~{path[len(home) :]}" if path == home or path.startswith(f"{home}/") else path)


def facts_of(session: RunningSession) -> str:
    """Return state, duration, cost today and directory on one line."""
    facts = (
        state_label(session.state),
        duration_label(session.since_s),
        cost_today_label(session),
        short_path(session.work_dir),
    )
    return "  ".join(filter(None, facts))


def alert_of(session: RunningSession) -> str:
    """Return the notification about a session that isn't on a screen."""
    names = {"title": title_of(session), "directory": sanitize_line(Path(session.work_dir).name)}
    if session.is_awaiting:
        return tr("{title} ({directory}) is awaiting approval.", **names)
    if session.state == "failed":
        return tr("{title} ({directory}) has failed.", **names)
    return tr("{title} ({directory}) is done.", **names)


def no_engine_text() -> str:
    """Return instructions for running sessions that other terminals can answer and open."""
    return tr(
        "The resident engine isn't running. Sessions that are started with `kimi-tui --resident` can be "
        "answered, stopped and opened here."
    )
