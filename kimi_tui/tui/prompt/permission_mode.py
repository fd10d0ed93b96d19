"""Labels of the permission mode at the prompt's edge."""

from textual.content import Content
from textual.style import Style

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.wire.events import SessionInfo

_CLICK = Style.from_meta({"@click": "screen.cycle_mode"})


class PermissionModeLabels:
    """Builds labels that name the permission mode and the key that changes it."""

    def __init__(self, key_labels: KeyLabels) -> None:
        self._key = key_labels.first_key("prompt.mode")

    def choices(self, session: SessionInfo | None, *, has_focus: bool) -> list[Content]:
        """Return labels for `session`, longest first. Empty if the session has no agent that can act.

        Labels name the key only while the prompt has the focus. In other widgets, the key has other actions.
        """
        if session is None or session.read_only:
            return []
        mode = _mode_label(session)
        hints = (tr("{key} to change mode", key=self._key), self._key) if has_focus else ()
        labels = [Content.assemble(mode, (f" · {hint}", "$text-muted")) for hint in hints]
        return [label.stylize(_CLICK) for label in (*labels, mode)]


def _mode_label(session: SessionInfo) -> Content:
    yolo = Content.styled("yolo", "bold $error")
    if session.plan_mode:
        plan = Content.styled(tr("plan"), "bold $accent")
        return Content.assemble(plan, (" · ", "$text-muted"), yolo) if session.yolo else plan
    if session.yolo:
        return yolo
    if session.accept_edits:
        return Content.styled(tr("accept edits"), "bold $success")
    return Content.styled(tr("ask"), "bold $text-muted")
