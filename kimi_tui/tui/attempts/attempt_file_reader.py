"""Reader of the changes of attempts: requests the changed files, and diffs that are sent separately."""

from kimi_tui.tui.timeline.query_dialog import TimelineQueries
from kimi_tui.wire.attempts import AttemptChanges, ReadAttempt
from kimi_tui.wire.timeline import ComparedFile


class AttemptFileReader:
    """Keeps the files that were read, and requests each only once."""

    def __init__(self, queries: TimelineQueries) -> None:
        self._queries = queries
        self._files: dict[int, tuple[ComparedFile, ...]] = {}
        self._requested: set[tuple[int, str]] = set()
        """Sent requests, as attempt number and path. The path is empty for a list of files."""

    def files_of(self, number: int) -> tuple[ComparedFile, ...]:
        """Return the files that an attempt changed. Empty before the files were read."""
        return self._files.get(number, ())

    def request(self, number: int) -> None:
        """Request the files of an attempt."""
        if number not in self._files:
            self._ask(number, "")

    def request_diff(self, number: int, path: str) -> None:
        """Request the diff of a file if the diff is missing."""
        if any(file.path == path and file.is_on_request for file in self.files_of(number)):
            self._ask(number, path)

    def add(self, reply: AttemptChanges) -> None:
        """Add the files of a reply, or the diff of a single file."""
        number, new = reply.attempt.number, {file.path: file for file in reply.files}
        if reply.path:
            self._files[number] = tuple(new.get(file.path, file) for file in self.files_of(number))
        else:
            self._files[number] = reply.files

    def forget(self, number: int) -> None:
        """Forget the files of an attempt, because the attempt has changed."""
        self._files.pop(number, None)
        self._requested = {each for each in self._requested if each[0] != number}

    def _ask(self, number: int, path: str) -> None:
        if (number, path) not in self._requested:
            self._requested.add((number, path))
            self._queries.ask(ReadAttempt(number, path))
