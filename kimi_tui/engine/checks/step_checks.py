"""Results of the check after a session's steps, in memory and on disk."""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace

from kimi_tui.history.check_log import CheckLog, CheckRecord
from kimi_tui.wire.checks import CheckVerdict, StepCheck

logger = logging.getLogger(__name__)


class StepChecks:
    """Results of checks by step. A step's key is the uid of the checkpoint before it."""

    def __init__(self, log: CheckLog) -> None:
        self._log = log
        self._records: dict[str, CheckRecord] = {}
        self._running: dict[str, StepCheck] = {}
        """The running check by step; empty if no check is running."""

    async def load(self) -> None:
        """Read the results of earlier runs of the session."""
        self._records = await asyncio.to_thread(self._log.read)

    @property
    def records(self) -> Mapping[str, CheckRecord]:
        """Results by the step's uid."""
        return self._records

    def check_of(self, uid: str) -> StepCheck | None:
        """Return the check of a step as the timeline shows it, or None."""
        if not (self._running or self._records):
            return None
        if (running := self._running.get(uid)) is not None:
            return running
        record = self._records.get(uid)
        return record.step_check if record is not None else None

    def begin(self, uid: str, command: str) -> None:
        """Show that the check of a step is running."""
        self._running = {uid: StepCheck("running", command=command)}

    def end(self) -> None:
        """Show that no check is running."""
        self._running = {}

    def verdict_before(self, uid: str, path: Iterable[str], command: str) -> CheckVerdict | None:
        """Return the last verdict on `path` before `uid`, except `skip`. None: no verdict.

        `path` lists uids, oldest first. Only results of `command` count.
        """
        verdict: CheckVerdict | None = None
        for each in path:
            if each == uid:
                break
            if (record := self._decided(each, command)) is not None:
                verdict = record.verdict
        return verdict

    async def record(self, record: CheckRecord, path: Iterable[str], *, baseline: str) -> list[str]:
        """Store a result. Return the uids of the steps whose results have changed.

        `path` lists uids, oldest first. A step is a first failure if it fails and the previous decided step
        on `path` passed. The first decided step is also a first failure if it fails, except the baseline,
        because the session's steps can't have caused its failure.
        If the log can't be written, the error is logged and the results stay in memory.
        """
        self._records[record.uid] = record
        changed = {record.uid: record}
        verdict: CheckVerdict | None = None
        for uid in path:
            if (known := self._decided(uid, record.command)) is None:
                continue
            is_known = verdict == "pass" or (verdict is None and uid != baseline)
            is_first = known.verdict == "fail" and is_known
            if is_first != known.is_first_failure:
                changed[uid] = self._records[uid] = replace(known, is_first_failure=is_first)
            verdict = known.verdict
        try:
            await asyncio.to_thread(self._log.append, changed.values())
        except OSError:
            logger.warning("can't record the result of a check", exc_info=True)
        return list(changed)

    def _decided(self, uid: str, command: str) -> CheckRecord | None:
        """Return the result of `command` after a step, if it passed or failed."""
        record = self._records.get(uid)
        return (
            record if record is not None and record.command == command and record.verdict != "skip" else None
        )
