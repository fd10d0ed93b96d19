"""Runs the configured check after each step that changed files, in the background."""

import asyncio
import logging
from collections.abc import Sequence

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.config.settings import CheckSettings
from kimi_tui.engine.bisect.candidate_states import list_checkpoints
from kimi_tui.engine.checks.step_checks import StepChecks
from kimi_tui.engine.files.checkpoint_commands import CheckpointCommands, CheckpointRun
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.files.shared_states import StateUnavailable
from kimi_tui.engine.session.notices import build_notice
from kimi_tui.engine.timeline.publisher import TimelinePublisher, build_node
from kimi_tui.history.check_log import CheckRecord
from kimi_tui.history.checkpoint_tree import CheckpointNode
from kimi_tui.history.context import Context
from kimi_tui.history.manifest_id import is_manifest
from kimi_tui.history.session import Session
from kimi_tui.history.step_summary import summarize_step
from kimi_tui.wire.channel import Subscription, Wire
from kimi_tui.wire.checks import CheckChange, CheckResult
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import CheckpointCreated, TurnEnd

logger = logging.getLogger(__name__)

_MAX_RUNS = 2
"""Maximum number of runs of the check after one step. The second run confirms a provisional result."""


@frozen(kw_only=True)
class _Candidate:
    """A step that the check can run after."""

    node: CheckpointNode
    state: str
    """State of the files after the step."""


class CheckRunner:
    """Runs one check at a time. If several steps await a check, only the newest step is checked.

    When no step waits, a binary search between the last pass and the first failure finds the exact first
    failure. A provisional result is checked once more.
    """

    def __init__(
        self,
        *,
        settings: CheckSettings,
        session: Session,
        context: Context,
        files: SessionFiles,
        commands: CheckpointCommands,
        checks: StepChecks,
        timeline_publisher: TimelinePublisher,
        sender: EventSender,
    ) -> None:
        self._settings = settings
        self._session = session
        self._context = context
        self._files = files
        self._commands = commands
        self._checks = checks
        self._timeline_publisher = timeline_publisher
        self._sender = sender
        self._ended: list[str] = []
        """Steps that have ended since the last one was chosen, oldest first."""
        self._seen: set[str] = set()
        """Steps that changed files and have ended since the session was opened."""
        self._baseline = ""
        """The step before the first one in `_seen`.

        If the check already fails after this step, an earlier change caused the failure.
        """
        self._tried: dict[str, int] = {}
        """Number of runs of the check by step, including runs that turned out to be impossible."""
        self._has_reported = False
        self._wake = asyncio.Event()

    @property
    def is_enabled(self) -> bool:
        """Whether a check is configured and files are recorded."""
        return bool(self._settings.run) and self._files.is_enabled

    async def serve(self, wire: Wire) -> None:
        """Run checks until canceled."""
        subscription = wire.subscribe(live_only=True, fragments=False)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._watch(subscription))
                while True:
                    await self._wake.wait()
                    self._wake.clear()
                    await self._run_checks()
        finally:
            subscription.close()

    async def _watch(self, subscription: Subscription) -> None:
        """Collect the steps that end."""
        async for event in subscription:
            match event:
                case CheckpointCreated(kind="step", parent=str(parent)):
                    self._note_end(parent)
                case TurnEnd() if self._context.checkpoints:
                    self._note_end(self._context.checkpoints[-1].uid)
                case _:
                    pass

    def _note_end(self, uid: str) -> None:
        self._ended.append(uid)
        self._wake.set()

    async def _run_checks(self) -> None:
        """Run checks until no step needs one."""
        while True:
            try:
                path = list_checkpoints(await self._context.tree())
                candidate = await self._choose(path)
                if candidate is None:
                    return
                await self._check(candidate, path)
            except KimiTuiError as error:
                logger.warning("a check can't run", exc_info=True)
                self._report_problem(error)
                return

    async def _choose(self, path: Sequence[CheckpointNode]) -> _Candidate | None:
        """Return the step to check next, or None."""
        ended, self._ended = self._ended, []
        newest: _Candidate | None = None
        if ended:
            await self._files.wait_for_states()
            wanted = set(ended)
            for previous, node in zip([None, *path], path, strict=False):
                if node.checkpoint.uid not in wanted:
                    continue
                if (candidate := await self._candidate_of(node, path)) is None:
                    continue
                if not self._seen and previous is not None:
                    self._baseline = previous.checkpoint.uid
                self._seen.add(node.checkpoint.uid)
                if node.checkpoint.uid not in self._tried:
                    newest = candidate
        if newest is not None:
            return newest
        if (uid := self._find_gap(path)) is None:
            return None
        node = next(node for node in path if node.checkpoint.uid == uid)
        candidate = await self._candidate_of(node, path, is_changed=False)
        if candidate is None:
            self._count_try(uid)
            return await self._choose(path)
        return candidate

    async def _candidate_of(
        self, node: CheckpointNode, path: Sequence[CheckpointNode], *, is_changed: bool = True
    ) -> _Candidate | None:
        """Return a step with the state of its files; None if the state is unknown.

        With `is_changed`, also return None if the step changed no files.
        """
        if node.next is None:
            state = self._files.current_state()
        else:
            state = next(
                (it.files for it in path if it.checkpoint.uid == node.next.uid), node.next.files or ""
            )
        if not is_manifest(state):
            return None
        if is_changed and is_manifest(node.files) and await self._commands.views.are_equal(node.files, state):
            return None
        return _Candidate(node=node, state=state)

    def _find_gap(self, path: Sequence[CheckpointNode]) -> str | None:
        """Return the next step to check to find the exact first failure; None if no check is needed."""
        records = self._checks.records
        uids = [it.checkpoint.uid for it in path if it.checkpoint.uid in {*self._seen, self._baseline}]
        decided = [uid for uid in uids if uid in records and records[uid].verdict != "skip"]
        n_failures = 0
        while n_failures < len(decided) and records[decided[-1 - n_failures]].verdict == "fail":
            n_failures += 1
        failing = decided[len(decided) - n_failures :]
        passing = decided[: len(decided) - n_failures][-1:]
        for uid in (*failing[:1], *passing):
            if records[uid].is_provisional and self._tried.get(uid, 0) < _MAX_RUNS:
                return uid
        if not failing:
            return None
        start = uids.index(passing[0]) + 1 if passing else 0
        between = [uid for uid in uids[start : uids.index(failing[0])] if uid not in self._tried]
        if not between:
            return None
        return between[len(between) // 2] if passing else between[0]

    async def _check(self, candidate: _Candidate, path: Sequence[CheckpointNode]) -> None:
        """Run the check after a step, and publish the result."""
        uid, number = candidate.node.checkpoint.uid, candidate.node.checkpoint.id
        views = self._commands.views
        self._count_try(uid)
        self._checks.begin(uid, self._settings.run)
        self._timeline_publisher.refresh_checkpoint(number)
        try:
            before = await views.capture_known_changes()
            run = await self._commands.run(
                self._settings.run, candidate.state, timeout_s=self._settings.timeout
            )
            is_mixed = not await views.are_equal(before, await views.capture_known_changes())
        except StateUnavailable:
            return
        finally:
            self._checks.end()
            self._timeline_publisher.refresh_checkpoint(number)
        latest = list_checkpoints(await self._context.tree())
        if any(node.checkpoint.uid == uid for node in latest):
            path = latest
        await self._publish(_build_record(uid, self._settings.run, run, is_mixed=is_mixed), path)

    async def _publish(self, record: CheckRecord, path: Sequence[CheckpointNode]) -> None:
        """Store a result. Send it, and the results of other steps that it made first failures."""
        nodes = {node.checkpoint.uid: node for node in path}
        verdict_before = self._checks.verdict_before(record.uid, nodes, record.command)
        earlier = dict(self._checks.records)
        changed = await self._checks.record(record, nodes, baseline=self._baseline)
        for uid in changed:
            self._timeline_publisher.refresh_checkpoint(nodes[uid].checkpoint.id)
            known = self._checks.records[uid]
            change: CheckChange = ""
            if known.is_first_failure and not (uid in earlier and earlier[uid].is_first_failure):
                change = "began_to_fail"
            elif uid == record.uid and record.verdict == "pass" and verdict_before == "fail":
                change = "passes_again"
            elif uid == record.uid == self._baseline and record.verdict == "fail" and verdict_before is None:
                change = "failed_before"
            if uid == record.uid or change:
                self._sender.send(self._build_result(known, nodes[uid], change))

    def _build_result(self, record: CheckRecord, node: CheckpointNode, change: CheckChange) -> CheckResult:
        summary = summarize_step(self._context.messages_since_checkpoint) if node.next is None else None
        return CheckResult(
            checkpoint=node.checkpoint.id,
            label=build_node(node, self._session.state.names, summary=summary).label,
            command=record.command,
            verdict=record.verdict,
            change=change,
            is_provisional=record.is_provisional,
            timed_out=record.timed_out,
            duration_s=record.duration_s,
            output=record.output,
        )

    def _report_problem(self, error: KimiTuiError) -> None:
        """Send a notice, once per session."""
        if not self._has_reported:
            self._has_reported = True
            title = msg("The check can't run: {reason}", reason=error.what)
            self._sender.send(build_notice(title, error.hint, source_id=self._session.id, severity="warning"))

    def _count_try(self, uid: str) -> None:
        self._tried[uid] = self._tried.get(uid, 0) + 1


def _build_record(uid: str, command: str, run: CheckpointRun, *, is_mixed: bool) -> CheckRecord:
    return CheckRecord(
        uid=uid,
        verdict=run.verdict,
        is_provisional=is_mixed,
        command=command,
        duration_s=round(run.duration_s, 3),
        timed_out=run.timed_out,
        output="" if run.verdict == "pass" else run.output,
    )
