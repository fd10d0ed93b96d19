"""Log of check results: the outcome of the check command after each step.

`checks.jsonl` in the session directory has one line per result. If a step has several lines, the last one
counts.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.filesystem import APPEND_FLAGS, LOCAL_FILE_SYSTEM, FileSystem, write_all
from kimi_tui.history.record_codec import replace_surrogates
from kimi_tui.wire.checks import CheckVerdict, StepCheck

CHECK_LOG = "checks.jsonl"
_NO_CHECKS: Mapping[str, StepCheck] = {}


@frozen(kw_only=True)
class CheckRecord:
    """Result of the check after a step."""

    uid: str
    """The uid of the step's checkpoint."""
    verdict: CheckVerdict
    is_first_failure: bool = False
    is_provisional: bool = False
    timed_out: bool = False
    command: str = ""
    duration_s: float = 0.0
    output: str = ""
    """End of the command's output; empty if the check passed."""

    @property
    def step_check(self) -> StepCheck:
        """The result as the timeline shows it."""
        return StepCheck(
            self.verdict, self.is_first_failure, self.is_provisional, self.command, self.duration_s
        )


class CheckLog:
    """The check results of one session. The methods block."""

    def __init__(self, folder: Path, *, fs: FileSystem = LOCAL_FILE_SYSTEM) -> None:
        self._path = folder / CHECK_LOG
        self._fs = fs

    def read(self) -> dict[str, CheckRecord]:
        """Return the results by checkpoint uid. Skips damaged lines; empty if the file can't be read."""
        try:
            data = self._path.read_bytes()
        except OSError:
            return {}
        records: dict[str, CheckRecord] = {}
        for line in data.split(b"\n"):
            try:
                record = from_jsonable(CheckRecord, json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
            records[record.uid] = record
        return records

    def append(self, records: Iterable[CheckRecord]) -> None:
        """Add results. Raises OSError."""
        lines = b"".join(_encode_line(record) for record in records)
        make_private_dir(self._path.parent)
        file = self._fs.open(self._path, APPEND_FLAGS)
        try:
            write_all(self._fs, file, b"\n" + lines)  # a newline first, in case a killed process left none
        finally:
            self._fs.close(file)


def read_step_checks(folder: Path) -> Mapping[str, StepCheck]:
    """Return the check results of the session in `folder` for the timeline, by checkpoint uid. Blocks."""
    records = CheckLog(folder).read()
    return {uid: record.step_check for uid, record in records.items()} or _NO_CHECKS


def _encode_line(record: CheckRecord) -> bytes:
    text = json.dumps(replace_surrogates(to_jsonable(record)), ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"
