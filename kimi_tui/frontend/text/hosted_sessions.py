"""Text about sessions of the resident engine."""

from kimi_tui.i18n.translate import tr, tr_lazy

_STATES = {
    "working": tr_lazy("working"),
    "awaiting approval": tr_lazy("awaiting approval"),
    "done": tr_lazy("done"),
    "failed": tr_lazy("failed"),
    "idle": tr_lazy("idle"),
}


def state_label(state: str) -> str:
    """Return the state of a session as the user sees it."""
    return tr(_STATES[state])


def duration_label(seconds: float) -> str:
    """Return a duration such as `5 s`, `12 min` or `3 h`."""
    if seconds < 60:
        return tr("{count} s", count=int(seconds))
    if seconds < 3600:
        return tr("{count} min", count=int(seconds // 60))
    return tr("{count} h", count=int(seconds // 3600))
