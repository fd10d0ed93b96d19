"""Search in the messages of all sessions."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from kimi_tui.history.session import SessionStore
from kimi_tui.history.session_index import SessionSummary
from kimi_tui.session_search.candidate_reader import CandidateReader
from kimi_tui.session_search.journal_message import JournalMessage
from kimi_tui.session_search.journal_segments import find_segments
from kimi_tui.session_search.message_index import IndexedMessage, MessageIndex
from kimi_tui.session_search.search_query import SearchQuery, parse_search_query
from kimi_tui.wire.message_search import MessageMatch, MessageMatches

FILE_NAME = "search.db"
MAX_MATCHES = 200
_MAX_CANDIDATES = 20_000
"""Maximum number of indexed messages that one search reads. Rejecting a message takes about 10 µs."""
_MAX_PASSAGE = 2_000
_CONTEXT_BEFORE = 300
"""Number of characters of a long message to show before its first match."""


class SessionSearcher:
    """Finds messages by their terms. The methods block and can be called from several threads."""

    def __init__(self, data_dir: Path) -> None:
        self._store = SessionStore(data_dir)
        self._index = MessageIndex(data_dir / FILE_NAME)
        self._lock = Lock()
        self._indexed = 0.0

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            self._index.close()

    def update(self, *, deadline: float | None = None) -> float:
        """Index new messages until `deadline` (monotonic, in seconds). Return the indexed part, 0 to 1.

        Raises KimiTuiError.
        """
        with self._lock:
            summaries = sorted(self._store.list(), key=lambda summary: summary.updated)
            files = [file for summary in summaries for file in find_segments(summary)]
            self._indexed = self._index.update(files, deadline=deadline)
            return self._indexed

    def search(self, text: str, *, limit: int = MAX_MATCHES) -> MessageMatches:
        """Return the indexed messages that contain all terms of `text`, newest first. Raises KimiTuiError."""
        query = parse_search_query(text)
        if not (expression := query.expression):
            return MessageMatches(text, (), indexed=self._indexed)
        with self._lock:
            summaries = {summary.id: summary for summary in self._store.list()}
            matches, has_more = self._read_matches(query, expression, summaries, limit)
        return MessageMatches(text, tuple(matches), has_more, self._indexed)

    def _read_matches(
        self, query: SearchQuery, expression: str, summaries: Mapping[str, SessionSummary], limit: int
    ) -> tuple[list[MessageMatch], bool]:
        matches: list[MessageMatch] = []
        seen: set[tuple[str, str, str]] = set()
        with contextlib.closing(self._index.find(expression)) as candidates, CandidateReader(query) as reader:
            for number, candidate in enumerate(candidates):
                if len(matches) >= limit or number >= _MAX_CANDIDATES:
                    return _sorted(matches), True
                summary = summaries.get(candidate.session_id)
                message = reader.read(candidate) if summary is not None else None
                if summary is None or message is None:
                    continue
                match = _to_match(query, candidate, message, summary)
                if (
                    match is not None
                    and (key := (match.session_id, match.speaker, match.passage)) not in seen
                ):
                    seen.add(key)
                    matches.append(match)
        return _sorted(matches), False


def _sorted(matches: list[MessageMatch]) -> list[MessageMatch]:
    return sorted(matches, key=lambda match: match.time, reverse=True)


def _to_match(
    query: SearchQuery, location: IndexedMessage, message: JournalMessage, summary: SessionSummary
) -> MessageMatch | None:
    positions = query.positions_in(message.text)
    if not positions:
        return None
    first = positions[0][0]
    start = first - _CONTEXT_BEFORE if first > _CONTEXT_BEFORE and len(message.text) > _MAX_PASSAGE else 0
    end = start + _MAX_PASSAGE
    return MessageMatch(
        session_id=location.session_id,
        title=summary.title,
        work_dir=str(summary.work_dir or ""),
        time=location.time,
        speaker=message.speaker,
        checkpoint=location.checkpoint,
        is_on_current_branch=location.is_on_current_branch,
        passage=message.text[start:end],
        matches=tuple((left - start, right - start) for left, right in positions if right <= end),
    )
