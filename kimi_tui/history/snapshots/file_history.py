"""The file history: the states of one work dir in one session, and the ways back to them."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.history.snapshots.caps import DEFAULT_CAPS, Caps
from kimi_tui.history.snapshots.capture import Capture, Captured
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.history.snapshots.execution import Executor, Outcome
from kimi_tui.history.snapshots.manifest import Manifest, ManifestMissing
from kimi_tui.history.snapshots.matching import changed_lines, lines_of
from kimi_tui.history.snapshots.others import BLUR_S, ChangesOfOthers, changed_by_others
from kimi_tui.history.snapshots.owner import YOU, Owner
from kimi_tui.history.snapshots.patch import Patch, patch_between
from kimi_tui.history.snapshots.patience import Patience
from kimi_tui.history.snapshots.plan import Action, Plan, PlanItem
from kimi_tui.history.snapshots.planning import Planner, text_of
from kimi_tui.history.snapshots.store import ProjectStore
from kimi_tui.history.snapshots.work_disk import LOCAL_WORK_DISK, WorkDisk
from kimi_tui.wire.timeline import WhoChanged

logger = logging.getLogger(__name__)


class FileHistory:
    """Captures, plans and goes back. Its methods block, and are called one at a time.

    Those that touch the disk raise OSError; a failed capture costs coverage, nothing else.
    """

    def __init__(
        self,
        store: ProjectStore,
        *,
        caps: Caps = DEFAULT_CAPS,
        added: Sequence[str] = (),
        left_out: Mapping[str, str] = MappingProxyType({}),
        work_disk: WorkDisk = LOCAL_WORK_DISK,
    ) -> None:
        self._left_out = left_out
        """Folders that are no part of what is covered though they were asked for, with why."""
        self._store = store
        self._capture = Capture(store, caps=caps, added=added)
        self._executor = Executor(
            store.work_dir,
            store.folder / "reverts",
            store.blobs,
            added=added,
            disk=store.disk,
            work_disk=work_disk,
        )
        self._sessions = {store.session}
        self._is_settled = True
        self.whoever: Callable[[], Owner] = lambda: YOU
        """Tells whose is what changed since the last state when nobody is named."""

    @property
    def session(self) -> str:
        """The session whose history this is."""
        return self._store.session

    @property
    def named_only(self) -> str:
        """Why only the files that tools name are covered; empty when all are."""
        return self._capture.named_only

    @property
    def not_covered(self) -> dict[str, str]:
        """Which paths are not covered, and why."""
        return {**self._capture.not_covered, **self._left_out}

    def open(self, earlier: Collection[str] = ()) -> Outcome | None:
        """Go on from where the session ended, or from the last of its `earlier` states.

        A revert that was interrupted is completed first; the outcome says what became of it. The sessions
        that made the earlier states, of which this may be a fork, count as this one.
        """
        self._store.open()
        self.count_as_own(earlier)
        self._capture.open(list(earlier)[-1] if earlier else None)
        self._is_settled = False
        return self._settle()

    def count_as_own(self, earlier: Iterable[str]) -> None:
        """The sessions that made these states count as this one.

        A history that is only read needs no more.
        """
        for manifest in earlier:
            if (session := manifest.rpartition(":")[0].rpartition(".")[0]) != "":
                self._sessions.add(session)

    @property
    def newest(self) -> str | None:
        """The last state that the session recorded, in whatever process."""
        return self._store.manifests.newest(self._store.session)

    def close(self) -> None:
        """Let the next session know what is known, and let go of the store."""
        try:
            self._capture.save()
        except OSError:
            logger.warning("what is known of the work dir could not be saved", exc_info=True)
        finally:
            self._store.close()

    def capture(
        self,
        owner: Owner | None = None,
        *,
        paths: Iterable[str] | None = None,
        report: Callable[[int, int | None], None] | None = None,
        hold: Callable[[Patience], None] = lambda _: None,
    ) -> Captured:
        """Record what changed since the last state; `owner` did it, or `whoever` it was.

        `hold` gets what can stop a long look from another thread. Raises Stopped when that was done.
        """
        self._settle()
        always = owner is not None and owner.who == "call" and bool(owner.command)
        owner = owner or self.whoever()
        patience = Patience(limit_s=self._capture.look_limit_s, report=report)
        hold(patience)
        return self._capture.capture(owner, paths=paths, always=always, patience=patience)

    def plan(self, target: str, *, until: str | None = None, patience: Patience | None = None) -> Plan:
        """What going to the state `target` would do.

        With `until`, a later state, what taking back the changes between the two would do: what was changed
        after them stays. Raises KimiTuiError when a state isn't kept, Stopped when `patience` is, OSError.
        """
        self._settle()
        patience = patience or Patience()
        head = self._capture.capture(self.whoever(), patience=patience).manifest
        manifests = self._store.manifests
        try:
            then = manifests.entries(target)
            records = manifests.since(target, head)
            only = None if until is None else {record.id for record in manifests.since(target, until)}
            others = self._done_by_others(target, records)
        except ManifestMissing as error:
            raise KimiTuiError(
                "The files' state at that checkpoint is not kept any more.",
                hint="Revert the conversation only, or to another checkpoint.",
            ) from error
        planner = Planner(self._store.blobs, sessions=self._sessions)
        return planner.plan(
            target,
            head,
            records,
            self._capture.entries,
            then,
            only=only,
            others=others,
            holds=self._capture.holds_uncovered,
            patience=patience,
        )

    def execute(self, plan: Plan, ticked: Collection[str]) -> tuple[Outcome, Captured]:
        """Carry out the items of `plan` whose paths are ticked; what became of them, and the state then.

        What changed since the plan was made is left as it is.
        """
        self._settle()
        items = [item for item in plan.items if item.path in ticked and item.can_be_ticked]
        # What changed elsewhere since the plan was made is for the next look: none of it is touched.
        reachable = self._executor.reachable(item.path for item in items)
        seen = self._capture.capture(self.whoever(), paths=reachable).seen
        self._is_settled = False
        outcome = self._executor.execute(items, self._record, found=self._capture.entries, seen=seen)
        self._is_settled = True
        return outcome, self._capture.capture(self._revert, paths=())

    def was_reverted_since(self, state: str) -> bool:
        """Whether a revert changed files after `state`. Raises ManifestMissing."""
        self._settle()
        head = self._capture.head
        if head is None:
            return False
        records = self._store.manifests.since(state, head)
        return any(record.owner.who == "revert" and record.changes for record in records)

    def state(self, manifest: str) -> Entries:
        """What a state held. Raises KimiTuiError when it isn't kept."""
        try:
            return self._store.manifests.entries(manifest)
        except ManifestMissing as error:
            raise KimiTuiError(
                "The files' state at that checkpoint is not kept any more.", hint="Choose another checkpoint."
            ) from error

    def texts(self, item: PlanItem) -> tuple[str, str] | None:
        """What the file holds and what it will hold; None when that can't be shown as text."""
        texts = [text_of(self._store.blobs, entry) for entry in (item.now, item.then)]
        if texts[0] is None or texts[1] is None:
            return None
        return texts[0].decode("utf-8", "replace"), texts[1].decode("utf-8", "replace")

    def counted(self, captured: Captured) -> tuple[int, int]:
        """How many lines the changes added, and how many they removed."""
        added = removed = 0
        for path, entry in captured.changes.items():
            more, fewer = self._counts(captured.before.get(path), entry)
            added, removed = added + more, removed + fewer
        return added, removed

    def difference(self, before: str, after: str) -> list[PlanItem]:
        """How the files differ between two states, as going from the one to the other would.

        Raises KimiTuiError when one of them isn't kept.
        """
        try:
            old, new = self._store.manifests.entries(before), self._store.manifests.entries(after)
        except ManifestMissing as error:
            raise KimiTuiError(
                "The files' state at one of those checkpoints is not kept any more.",
                hint="`kimi-tui checkpoints list` says which are.",
            ) from error
        who = self._who_changed(before, after)
        items = []
        for path in sorted({*old, *new}):
            now, then = old.get(path), new.get(path)
            if now != then:
                added, removed = self._counts(now, then)
                action: Action = "delete" if then is None else "recreate" if now is None else "restore"
                items.append(
                    PlanItem(
                        path=path,
                        action=action,
                        now=now,
                        then=then,
                        added=added,
                        removed=removed,
                        by=who.get(path, ""),
                    )
                )
        return items

    def patch(
        self,
        before: str,
        after: str,
        *,
        without: Callable[[str], object] = lambda _: False,
        patience: Patience | None = None,
    ) -> Patch:
        """What makes the state `after` of `before`, for git, but for the paths that `without` picks.

        Raises KimiTuiError when one of them isn't kept, Stopped when `patience` is.
        """
        old, new = self.state(before), self.state(after)
        differing = (path for path in {*old, *new} if old.get(path) != new.get(path))
        paths = sorted(path for path in differing if not without(path))
        return patch_between(old, new, paths, self._store.blobs, patience=patience or Patience())

    def _done_by_others(self, start: str, records: Sequence[Manifest]) -> ChangesOfOthers:
        """Which changes in `records`, which follow the state `start`, the tools of other sessions made.

        Raises ManifestMissing.
        """
        if all(self._is_own(record) for record in records):
            return frozenset()
        manifests = self._store.manifests
        since = manifests.read(start).time
        line = {record.id for record in records}
        others = (
            record
            for record in manifests.of_others({self._store.session}, since - BLUR_S)
            if record.owner.who in {"call", "revert"} and self._is_anothers(record, line, since)
        )
        return changed_by_others(records, others, since=since)

    def _is_anothers(self, record: Manifest, line: Collection[str], since: float) -> bool:
        """Whether another session made a record: also what a fork's origin did after they had parted."""
        if record.owner.session not in self._sessions:
            return True
        return record.id not in line and record.time >= since

    def _is_own(self, record: Manifest) -> bool:
        """Whether a tool call or a revert of this session changed files, or nobody did."""
        owner = record.owner
        return not record.changes or (owner.who in {"call", "revert"} and owner.session in self._sessions)

    def _who_changed(self, before: str, after: str) -> dict[str, WhoChanged]:
        """Who changed which paths from one state to a later one; nobody is known when it is no later one."""
        try:
            records = self._store.manifests.since(before, after)
        except ManifestMissing:
            return {}
        others = self._done_by_others(before, records)
        who: dict[str, WhoChanged] = {}
        for record in records:
            mine = self._is_own(record)
            for path in record.changes if record.owner.who != "coverage" else ():
                by: WhoChanged = (
                    "agent" if mine else "another session" if (record.id, path) in others else "you"
                )
                who[path] = _together(who.get(path, by), by)
        return who

    def _settle(self) -> Outcome | None:
        """Complete a revert that broke off, before anything else is taken for somebody's change."""
        if self._is_settled:
            return None
        outcome = self._executor.complete(self._record)
        self._is_settled = True
        return outcome

    def _record(self, outcome: Outcome) -> None:
        self._capture.capture(self._revert, paths=outcome.done, put=outcome.put)

    @property
    def _revert(self) -> Owner:
        return Owner(who="revert", session=self._store.session)

    def _counts(self, before: Entry | None, after: Entry | None) -> tuple[int, int]:
        old, new = text_of(self._store.blobs, before), text_of(self._store.blobs, after)
        if old is None or new is None:
            return 0, 0
        return changed_lines(lines_of(old), lines_of(new))


def _together(first: WhoChanged, then: WhoChanged) -> WhoChanged:
    """Who made two changes of a file."""
    if first == then:
        return first
    if {first, then} <= {"agent", "another session", "agent and another session"}:
        return "agent and another session"
    return "you" if {first, then} == {"you", "another session"} else "both"
