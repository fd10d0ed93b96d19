"""The other sessions on disk: listed, searched, previewed, renamed and deleted from the one that is open."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError, SessionError
from kimi_tui.base.message import Message
from kimi_tui.base.terminal import plain_line
from kimi_tui.engine.title import Title
from kimi_tui.history.conversation import is_note
from kimi_tui.history.index import SessionSummary
from kimi_tui.history.journal import raw_lines
from kimi_tui.history.notation import DamagedLine, parse
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.wire.events import Event
from kimi_tui.wire.sessions import ListedSession, SaidWords, SessionList, SessionPreview

_MOST_LISTED = 1_000
_PREVIEWED = 30
"""Messages."""
_PREVIEWED_CHARACTERS = 2_000
_SNIPPET = 60


class SessionShelf:
    """Tells of the sessions of all work dirs."""

    def __init__(
        self,
        *,
        store: SessionStore,
        session: Session,
        title: Title,
        send: Callable[[Event], None],
        info: Callable[[], None],
    ) -> None:
        self._store = store
        self._session = session
        self._title = title
        self._send = send
        self._info = info

    async def tell(self, text: str) -> None:
        """Send the sessions in which `text` was said, or has the title; all for no text."""
        self._send(SessionList(await asyncio.to_thread(self._listed, text.strip()), text))

    async def preview(self, session_id: str) -> None:
        """Send how a session ended. Raises SessionError."""
        session = await asyncio.to_thread(self._store.find, session_id)
        self._send(SessionPreview(session_id, await asyncio.to_thread(_end_of, session.context_file)))

    async def rename(self, session_id: str, title: str) -> None:
        """Give a session another title. Raises KimiTuiError."""
        if session_id == self._session.id:
            await self._title.set(title)
            self._info()
        else:
            session = await asyncio.to_thread(self._store.find, session_id)
            await Title(session).set(title)
        await self.tell("")

    async def delete(self, session_id: str) -> None:
        """Delete a session and its branches. Raises KimiTuiError."""
        if session_id == self._session.id:
            raise KimiTuiError(
                "This is the session that is open.", hint="Open another one first, then delete this one."
            )
        session = await asyncio.to_thread(self._store.find, session_id)
        await asyncio.to_thread(self._store.delete, session)
        await self.tell("")

    def _listed(self, text: str) -> tuple[ListedSession, ...]:
        found = []
        for summary in self._store.list():
            snippet = "" if not text else _snippet_in(summary, text)
            if not text or snippet or text.lower() in summary.title.lower():
                found.append(_listed(summary, snippet))
            if len(found) >= _MOST_LISTED:
                break
        return tuple(found)


def _listed(summary: SessionSummary, snippet: str) -> ListedSession:
    return ListedSession(
        summary.id,
        plain_line(summary.title),
        str(summary.work_dir or ""),
        summary.updated,
        plain_line(snippet),
    )


def _messages(file: Path) -> list[Message]:
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
        pass  # what can't be read has no words in it
    return messages


def _snippet_in(summary: SessionSummary, text: str) -> str:
    wanted = text.lower()
    for message in _messages(summary.dir / "context.jsonl"):
        said = message.text
        if (at := said.lower().find(wanted)) >= 0:
            start = max(0, at - _SNIPPET // 2)
            return f"{'…' if start else ''}{said[start : at + len(text) + _SNIPPET]}"
    return ""


def _end_of(file: Path) -> tuple[SaidWords, ...]:
    said = ((message, message.text.strip()) for message in _messages(file)[-_PREVIEWED:])
    return tuple(
        SaidWords("user" if message.role == "user" else "agent", words[:_PREVIEWED_CHARACTERS])
        for message, words in said
        if words
    )
