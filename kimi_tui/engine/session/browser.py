"""Browser of saved sessions: lists, searches, previews, renames and deletes them."""

import asyncio
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError, SessionError
from kimi_tui.base.message import Message
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.engine.session.info_sender import InfoSender
from kimi_tui.engine.session.title import SessionTitle
from kimi_tui.history.journal import raw_lines
from kimi_tui.history.message_history import is_note
from kimi_tui.history.record_codec import DamagedLine, parse
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.session_index import SessionSummary
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.session_list import SessionExcerpt, SessionList, SessionListItem, SessionPreview

_MAX_LISTED = 1_000
_MAX_PREVIEW_MESSAGES = 30
_MAX_PREVIEW_CHARACTERS = 2_000
_SNIPPET_CHARACTERS = 60


class SessionBrowser:
    """Handles commands about the saved sessions of all working directories."""

    def __init__(
        self,
        *,
        store: SessionStore,
        session: Session,
        title: SessionTitle,
        sender: EventSender,
        info: InfoSender,
    ) -> None:
        self._store = store
        self._session = session
        self._title = title
        self._sender = sender
        self._info = info

    async def send_list(self, text: str) -> None:
        """Send the sessions whose title or messages contain `text`, or all sessions if it's empty."""
        self._sender.send(SessionList(await asyncio.to_thread(self._search, text.strip()), text))

    async def preview(self, session_id: str) -> None:
        """Send the last messages of a session. Raises SessionError."""
        session = await asyncio.to_thread(self._store.find, session_id)
        self._sender.send(
            SessionPreview(session_id, await asyncio.to_thread(_read_preview, session.context_file))
        )

    async def rename(self, session_id: str, title: str) -> None:
        """Set a session's title. Raises KimiTuiError."""
        if session_id == self._session.id:
            await self._title.set(title)
            self._info.send_info()
        else:
            session = await asyncio.to_thread(self._store.find, session_id)
            await SessionTitle(session).set(title)
        await self.send_list("")

    async def delete(self, session_id: str) -> None:
        """Delete a session and its branches. Raises KimiTuiError."""
        if session_id == self._session.id:
            raise KimiTuiError("Can't delete the open session.", hint="Open another session first.")
        session = await asyncio.to_thread(self._store.find, session_id)
        await asyncio.to_thread(self._store.delete, session)
        await self.send_list("")

    def _search(self, text: str) -> tuple[SessionListItem, ...]:
        items = []
        for summary in self._store.list():
            snippet = "" if not text else _find_snippet(summary, text)
            if not text or snippet or text.lower() in summary.title.lower():
                items.append(_to_list_item(summary, snippet))
            if len(items) >= _MAX_LISTED:
                break
        return tuple(items)


def _to_list_item(summary: SessionSummary, snippet: str) -> SessionListItem:
    return SessionListItem(
        summary.id,
        sanitize_line(summary.title),
        str(summary.work_dir or ""),
        summary.updated,
        sanitize_line(snippet),
    )


def _read_messages(file: Path) -> list[Message]:
    messages = []
    try:
        for raw in raw_lines(file):
            try:
                record, _ = parse(raw.data)
            except DamagedLine:
                continue
            if isinstance(record, Message) and record.role in ("user", "assistant") and not is_note(record):
                messages.append(record)
    except SessionError:
        pass  # an unreadable journal has no messages
    return messages


def _find_snippet(summary: SessionSummary, text: str) -> str:
    needle = text.lower()
    for message in _read_messages(summary.dir / "context.jsonl"):
        content = message.text
        if (at := content.lower().find(needle)) >= 0:
            start = max(0, at - _SNIPPET_CHARACTERS // 2)
            return f"{'…' if start else ''}{content[start : at + len(text) + _SNIPPET_CHARACTERS]}"
    return ""


def _read_preview(file: Path) -> tuple[SessionExcerpt, ...]:
    messages = ((message, message.text.strip()) for message in _read_messages(file)[-_MAX_PREVIEW_MESSAGES:])
    return tuple(
        SessionExcerpt("user" if message.role == "user" else "agent", text[:_MAX_PREVIEW_CHARACTERS])
        for message, text in messages
        if text
    )
