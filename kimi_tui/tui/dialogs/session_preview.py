"""Preview of a session: its directory, the files it changed, and the end of its conversation."""

from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message
from textual.timer import Timer

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.i18n.translate import tr, tr_n
from kimi_tui.tui.markdown.styled_line import BLANK, Spans, StyledLine, text_style
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.tui.widgets.line_view import LineView
from kimi_tui.wire.commands import PreviewSession
from kimi_tui.wire.session_list import SessionListItem, SessionPreview

_MAX_FILES = 6
_DELAY_S = 0.08
"""Seconds before a highlighted session is read, so that holding an arrow key doesn't read every session."""
_MARK: Spans = (("▌ ", text_style("user-bar")),)


class SessionPreviewView(LineView):
    """Shows the preview of a session. Requests previews and caches them."""

    @dataclass
    class Opened(Message):
        """Posted when a preview is to be opened on the full screen."""

        title: str
        text: str

    def __init__(
        self, command: Callable[[PreviewSession], None], *, stale: SessionPreview | None = None
    ) -> None:
        """`command` sends a command to the engine. `stale` is an earlier preview, shown in the meantime."""
        super().__init__(self)
        self._command = command
        self._session: SessionListItem | None = None
        self._empty_text = ""
        self._previews = {stale.id: stale} if stale is not None else {}
        self._latest = stale
        self._fresh_ids: set[str] = set()
        """The sessions whose previews arrived since the dialog was opened."""
        self._timer: Timer | None = None
        self._opens_next = False
        """Whether the next preview opens on the full screen when it arrives."""

    def show_session(self, session: SessionListItem | None, *, empty_text: str) -> None:
        """Show the preview of `session`, or `empty_text`."""
        is_first = self._session is None
        self._session, self._empty_text = session, empty_text
        self.show(self)
        if self._timer is not None:
            self._timer.stop()
        if session is None or session.id in self._fresh_ids:
            return
        if is_first:
            self._request()
        else:
            self._timer = self.set_timer(_DELAY_S, self._request)

    def add(self, preview: SessionPreview | None) -> None:
        """Cache a preview. Show it if it belongs to the current session."""
        if preview is None or preview is self._latest:
            return
        self._latest = preview
        self._previews[preview.id] = preview
        self._fresh_ids.add(preview.id)
        if self._session is not None and preview.id == self._session.id:
            self.redraw()
            if self._opens_next:
                self.open()

    def open(self) -> None:
        """Open the session's preview on the full screen, once it has arrived."""
        session = self._session
        if session is None:
            return
        preview = self._previews.get(session.id)
        self._opens_next = preview is None
        if preview is None:
            self._request()
        else:
            self.post_message(self.Opened(session.title or session.id[:8], _preview_text(preview)))

    def _request(self) -> None:
        if self._session is not None:
            self._command(PreviewSession(self._session.id))

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the preview."""
        if self._session is None:
            return _message_lines(self._empty_text, width)
        preview = self._previews.get(self._session.id)
        return _preview_lines(self._session, preview, width) if preview is not None else []


def _preview_lines(session: SessionListItem, preview: SessionPreview, width: int) -> list[StyledLine]:
    """Return the preview, wrapped to `width` cells: directory and changed files, then the newest messages."""
    lines = wrap([(sanitize_line(session.title or session.id[:8]), text_style("strong"))], width)
    if session.work_dir:
        lines += wrap([(sanitize_line(session.work_dir), text_style("dim"))], width)
    lines += _file_lines(preview, width)
    for excerpt in reversed(preview.said):
        is_user = excerpt.speaker == "user"
        margin = _MARK if is_user else ()
        lines.append(BLANK)
        for row in sanitize(excerpt.text).expandtabs(4).split("\n"):
            lines += wrap([(row, text_style())], width, first=margin, rest=margin)
    return lines if preview.said else [*lines, BLANK, *_message_lines(tr("No messages yet."), width)]


def _preview_text(preview: SessionPreview) -> str:
    """Return the preview as plain text, messages in order."""
    names = {"user": tr("you"), "agent": tr("agent")}
    parts = [f"{names[excerpt.speaker]}:\n{excerpt.text}" for excerpt in preview.said]
    parts = parts or [tr("No messages yet.")]
    if preview.changed_files:
        parts.insert(
            0, "\n".join((_files_heading(preview), *(f"  {path}" for path in preview.changed_files)))
        )
    return "\n\n".join(parts)


def _message_lines(text: str, width: int) -> list[StyledLine]:
    """Return a muted message."""
    return wrap([(text, text_style("dim"))], width)


def _files_heading(preview: SessionPreview) -> str:
    count = len(preview.changed_files) + preview.more_files
    files = tr_n("{count} file changed", "{count} files changed", count)
    return f"{files}  +{preview.added_lines} −{preview.removed_lines}"


def _file_lines(preview: SessionPreview, width: int) -> list[StyledLine]:
    if not preview.changed_files:
        return []
    heading, _, counts = _files_heading(preview).partition("  ")
    added, _, removed = counts.partition(" ")
    spans = [
        (heading, text_style()),
        ("  ", text_style()),
        (added, text_style("done")),
        (" ", text_style()),
        (removed, text_style("failed")),
    ]
    lines = [BLANK, *wrap(spans, width)]
    shown = preview.changed_files[:_MAX_FILES]
    for path in shown:
        lines += wrap([(f"  {sanitize_line(path)}", text_style("tool-argument"))], width)
    if more := len(preview.changed_files) - len(shown) + preview.more_files:
        lines += wrap([(f"  {tr('{count} more', count=more)}", text_style("dim"))], width)
    return lines
