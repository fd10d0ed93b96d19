"""Browser of saved sessions: lists, searches, previews, renames and deletes them."""

import asyncio

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.engine.session.info_sender import InfoSender
from kimi_tui.engine.session.preview_reader import read_messages, read_preview
from kimi_tui.engine.session.title import SessionTitle
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.session_index import SessionSummary
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.session_list import SessionList, SessionListItem

_MAX_LISTED = 1_000
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
        """Send the sessions whose title or messages contain `text`. Send all sessions if `text` is empty."""
        self._sender.send(SessionList(await asyncio.to_thread(self._search, text.strip()), text))

    async def preview(self, session_id: str) -> None:
        """Send the last messages and the changed files of a session. Raises SessionError."""
        session = await asyncio.to_thread(self._store.find, session_id)
        self._sender.send(await asyncio.to_thread(read_preview, session_id, session.context_file))

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


def _find_snippet(summary: SessionSummary, text: str) -> str:
    needle = text.lower()
    for message in read_messages(summary.dir / "context.jsonl"):
        content = message.text
        if (at := content.lower().find(needle)) >= 0:
            start = max(0, at - _SNIPPET_CHARACTERS // 2)
            return f"{'…' if start else ''}{content[start : at + len(text) + _SNIPPET_CHARACTERS]}"
    return ""
