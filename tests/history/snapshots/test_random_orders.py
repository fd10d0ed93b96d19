"""Any order of what can happen to a directory with two sessions: no line of the user is lost, no byte is
wrong, and no revert does more than its plan says.

An oracle keeps its own copies of the files and knows who changed what. `make faults` runs 5,000 orders.
"""

import contextlib
import os
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    get_state_machine_test,
    initialize,
    invariant,
    precondition,
    rule,
)

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.history.snapshots.attribution import USER, ChangeAuthor
from kimi_tui.history.snapshots.blob_store import BlobMissing, digest_of
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.limits import SnapshotLimits
from kimi_tui.history.snapshots.plan import Plan, PlanItem
from kimi_tui.history.snapshots.plan_executor import ExecutionResult
from tests.history.snapshots.disturbed_work_filesystem import DisturbedWorkFileSystem
from tests.history.snapshots.file_history_fixture import FileHistoryFixture
from tests.history.snapshots.revert_oracle import IGNORE_FILE, IGNORE_RULES, Files, Oracle, State, remove_tree

_FEW_ORDERS = 40
"""By default, the test draws the same few orders each time."""
ORDERS = int(os.environ.get("KIMI_TUI_RANDOM_ORDERS", _FEW_ORDERS))
ORDERS_PER_SERIES = min(ORDERS, 250)
SERIES = range(1, ORDERS // ORDERS_PER_SERIES + 1)
"""More orders are drawn in several series. The number of a series is its seed."""
SESSIONS = ("one", "two")
PATHS = ("a", "b", "d/a", "d/b", "d/e/f", "ign/a", "x.log", "g")
MOVES = (*PATHS, "d", "moved", "d/e")
LIMITS = SnapshotLimits(file=400, files=24, retry_scan_s=0.0)
BULK = tuple(f"bulk/{number}" for number in range(24))

paths = st.sampled_from(PATHS)
sessions = st.sampled_from(SESSIONS)
additions = st.tuples(
    st.tuples(st.sampled_from(["append", "prepend"]), st.just(""), st.sampled_from(["tail\n", ""])),
    st.integers(0, 5),
)
renames = st.tuples(
    st.sampled_from(["swap", "chain", "move"]),
    st.sampled_from(["a", "d/a", "d/b", "d"]),
    st.sampled_from(["a", "b", "d/a", "d/b", "moved"]),
)
edits = st.one_of(
    st.tuples(st.just("write"), paths, st.sampled_from(["", "1\n", "1\n2\n3\n", "1\n2\nx\n"])),
    st.tuples(st.just("append"), paths, st.sampled_from(["tail\n", "more\n"])),
    st.tuples(st.just("prepend"), paths, st.sampled_from(["head\n", "first\n"])),
    st.tuples(st.just("delete"), st.sampled_from(MOVES), st.just("")),
    st.tuples(st.just("move"), st.sampled_from(MOVES), st.sampled_from(MOVES)),
    st.tuples(st.just("swap"), st.sampled_from(MOVES), st.sampled_from(MOVES)),
    st.tuples(st.just("chain"), st.sampled_from(MOVES), st.sampled_from(MOVES)),
    st.tuples(st.just("link"), paths, paths),
    st.tuples(st.just("symlink"), paths, st.just("")),
    st.tuples(st.just("mode"), st.sampled_from(MOVES), st.sampled_from(["600", "644", "755", "555"])),
    st.tuples(st.just("ignore"), st.just(IGNORE_FILE), st.sampled_from(IGNORE_RULES)),
    st.tuples(st.just("bulk"), st.just(""), st.sampled_from(["", "x"])),
)
Edit = tuple[str, str, str]


class Killed(BaseException):
    """Stands in for the end of the process."""


class RandomOrders(RuleBasedStateMachine):
    """Two sessions in one directory, each with an agent, and a user."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="kimi-tui-orders-"))
        self.states: list[State] = []
        self.projects: dict[str, FileHistoryFixture] = {}
        self.disturbances: dict[str, DisturbedWorkFileSystem] = {}
        self.calls: dict[str, tuple[ChangeAuthor, Path]] = {}
        """The running command of a session, and its record."""

    @initialize()
    def set_up(self) -> None:
        (self.folder / "work").mkdir()
        self.oracle = Oracle(self.folder / "work", LIMITS.file)
        for path in ("a", "d/a", "d/b"):
            self.edit_as_user(("write", path, "1\n2\n3\n"))
        self.oracle.record("user", {})
        for session in SESSIONS:
            self.open(session)
            self.checkpoint(session)

    def teardown(self) -> None:
        for project in self.projects.values():
            project.history.close()
        remove_tree(self.oracle.work)
        shutil.rmtree(self.folder)

    def open(self, session: str) -> None:
        self.disturbances[session] = DisturbedWorkFileSystem()
        project = FileHistoryFixture(
            self.folder, session=session, limits=LIMITS, work_fs=self.disturbances[session]
        )
        project.history.default_author = lambda: self.author(session)
        self.projects[session] = project
        before = self.oracle.files()
        if (completed := project.history.open()) is not None:
            self.oracle.note_renames(session, completed.renames)
        self.oracle.record(session, before)
        self.oracle.mixed_files()
        project.history.capture()

    def author(self, session: str) -> ChangeAuthor:
        """Return whose changes a session finds."""
        return self.calls[session][0] if session in self.calls else USER

    # edits

    @rule(edit=edits, at_the_end=st.booleans(), is_large=st.integers(0, 9))
    def user_edits(self, edit: Edit, at_the_end: bool, is_large: int) -> None:
        before = self.oracle.files()
        self.edit_as_user(edit, at_the_end=at_the_end, is_large=is_large == 0)
        self.oracle.record("user", before)

    def edit_as_user(self, edit: Edit, *, at_the_end: bool = True, is_large: bool = False) -> None:
        kind, path, text = edit
        if kind in {"write", "append", "prepend"}:
            old = "" if kind == "write" else self.oracle.read(path)
            line = self.oracle.user_line()
            text = lines_at(path, text)
            text += "0123456789\n" * 50 if is_large else ""
            text = text + old if kind == "prepend" else old + text
            self.oracle.write(path, text + line if at_the_end else line + text)
            self.oracle.add_line(path, line)
        else:
            if self.oracle.running and kind in {"move", "swap", "chain", "link"}:
                self.oracle.forget_files({path, text, "moved"})  # nobody can tell who renamed them
            if self.oracle.running and kind == "link":
                self.oracle.forget_authors({text})
            self.apply(edit)

    def apply(self, edit: Edit) -> None:
        kind, path, text = edit
        match kind:
            case "ignore":
                self.oracle.write(path, text)
            case "write":
                self.oracle.write(path, lines_at(path, text))
            case "append":
                self.oracle.write(path, self.oracle.read(path) + lines_at(path, text))
            case "prepend":
                self.oracle.write(path, lines_at(path, text) + self.oracle.read(path))
            case "delete":
                self.oracle.delete(path)
            case "move":
                self.oracle.move(path, text)
            case "swap":
                self.oracle.swap(path, text)
            case "chain":
                self.oracle.move(text, "moved")
                self.oracle.move(path, text)
            case "link":
                self.oracle.link(path, text)
            case "symlink":
                self.oracle.symlink(path)
            case "mode":
                self.oracle.set_mode(path, int(text, 8))
            case "bulk":
                for each in BULK:
                    self.oracle.write(each, "bulk\n") if text else self.oracle.delete(each)

    # tools and commands of the agents

    @precondition(lambda self: len(self.calls) < len(SESSIONS))
    @rule(session=sessions, edit=edits)
    def tool_writes(self, session: str, edit: Edit) -> None:
        if session in self.calls or edit[0] not in {"write", "append", "prepend"}:
            return
        project = self.projects[session]
        project.history.capture(paths=[edit[1]])
        self.owe({edit[1]})
        before = self.oracle.files()
        self.apply(edit)
        self.oracle.record(session, before)
        project.history.capture(project.call(), paths=[edit[1]])

    @rule(session=sessions, edits_=st.lists(edits, min_size=1, max_size=4), saved=st.none() | edits)
    def command_runs(self, session: str, edits_: list[Edit], saved: Edit | None) -> None:
        """Run a command, during which the user perhaps saves a file."""
        self.checkpoint(session)
        for number, edit in enumerate(edits_):
            self.command_edits(session, edit)
            if number == 0 and saved is not None:
                self.user_edits(saved, True, 1)
        self.command_ends(session)

    @rule(session=sessions, renames_=st.lists(renames, min_size=1, max_size=3), edits_=st.lists(additions))
    def files_are_renamed_and_edited(
        self, session: str, renames_: list[Edit], edits_: list[tuple[Edit, int]]
    ) -> None:
        """Rename files in one or several commands; the user then edits some of them."""
        self.checkpoint(session)
        for number, rename in enumerate(renames_):
            self.command_edits(session, rename)
            if number % 2:
                self.command_ends(session)
        self.command_ends(session)
        names = [name for _, *names in renames_ for name in names if self.oracle.read(name)]
        for (kind, _, text), number in edits_ if names else ():
            self.user_edits((kind, names[number % len(names)], text), kind == "append", 1)

    @rule(session=sessions)
    def command_begins(self, session: str) -> None:
        if session in self.calls:
            return
        project = self.projects[session]
        author = replace(project.call(f"command of {session}"), began=time.time())
        project.history.capture()
        self.owe()
        self.calls[session] = author, project.history.begin_call(author)
        if self.oracle.running:
            self.oracle.overlaps.append(len(self.oracle.events))
        self.oracle.running.add(session)

    @rule(session=sessions, edit=edits)
    def command_edits(self, session: str, edit: Edit) -> None:
        self.command_begins(session)
        before = self.oracle.files()
        self.apply(edit)
        self.oracle.record(session, before)

    @rule(session=sessions)
    def command_ends(self, session: str) -> None:
        if session in self.calls:
            author, file = self.calls.pop(session)
            self.projects[session].history.capture(author)
            file.unlink()
            self.oracle.running.discard(session)
            if not self.oracle.running:
                self.oracle.left_names.clear()

    @rule(session=sessions, resumes_first=st.booleans())
    def session_is_killed(self, session: str, resumes_first: bool) -> None:
        """Kill a session, perhaps in a command, and resume it."""
        self.projects[session].store.close()
        if session in self.calls:
            _, file = self.calls.pop(session)
            file.touch()
        if not resumes_first:
            other = SESSIONS[1 - SESSIONS.index(session)]
            self.projects[other].history.capture()
        self.open(session)
        self.oracle.running.discard(session)

    @rule(session=sessions)
    def session_is_resumed(self, session: str) -> None:
        self.command_ends(session)
        self.projects[session].history.close()
        self.open(session)

    @rule(keeps_all=st.booleans())
    def snapshots_are_pruned(self, keeps_all: bool) -> None:
        for session in SESSIONS:
            self.command_ends(session)
            self.projects[session].history.close()
        self.projects["one"].store.prune(SnapshotLimits(age_days=30 if keeps_all else 0))
        if not keeps_all:
            self.oracle.owed.clear()
        for session in SESSIONS:
            self.open(session)

    # checkpoints and reverts

    @rule(session=sessions)
    def checkpoint(self, session: str) -> None:
        self.command_ends(session)
        manifest = self.projects[session].checkpoint()
        self.states.append(State(session, manifest, len(self.oracle.events), self.oracle.files()))

    @precondition(lambda self: self.states)
    @rule(data=st.data(), selects_all=st.booleans())
    def revert(self, data: st.DataObject, selects_all: bool) -> None:
        """Revert and undo it."""
        state = self.draw_state(data)
        if (plan := self.plan(state)) is None:
            return
        project = self.projects[state.session]
        before = self.oracle.files()
        self.execute(state, plan, selects_all=selects_all)
        if data.draw(st.booleans()) and not self.calls:
            undo = project.history.plan(plan.head)
            result, _ = project.history.execute(undo, {item.path for item in undo.items if item.is_selected})
            self.oracle.note_renames(state.session, result.renames)
            now = self.oracle.files()
            assert not [path for path in now.keys() | before.keys() if now.get(path) != before.get(path)]
            self.oracle.mixed_files()

    @precondition(lambda self: self.states)
    @rule(data=st.data(), edit=edits)
    def user_edits_between_plan_and_revert(self, data: st.DataObject, edit: Edit) -> None:
        state = self.draw_state(data)
        if (plan := self.plan(state)) is None:
            return
        before = self.oracle.files()
        if data.draw(st.booleans()) and plan.items:
            edit = "append", data.draw(st.sampled_from(sorted(planned_entries(plan)))), "mine\n"
        self.edit_as_user(edit)
        edited = self.oracle.files()
        self.oracle.record("user", before)
        result = self.execute(state, plan, shown=before)
        after, items = self.oracle.files(), planned_entries(plan)
        for path in before.keys() | edited.keys():
            if before.get(path) == edited.get(path) or path in result.done:
                continue
            if after.get(path) != edited.get(path) and not moved_along(path, plan, edited, after):
                assert is_new_parent(path, edited, after, items), path

    @precondition(lambda self: self.states)
    @rule(data=st.data(), after=st.integers(0, 3), edit=edits)
    def user_edits_during_a_revert(self, data: st.DataObject, after: int, edit: Edit) -> None:
        state = self.draw_state(data)
        if (plan := self.plan(state)) is None:
            return
        if plan.items:
            edit = "append", data.draw(st.sampled_from(sorted(planned_entries(plan)))), "mine\n"
        seen: list[str] = []
        removed: set[str] = set()

        def disturb() -> None:
            with contextlib.suppress(OSError):
                before = self.oracle.files()
                self.oracle.mixed_files()  # the revert may have renamed files so far
                self.edit_as_user(edit)
                self.oracle.record("user", before)
                seen.extend(self.oracle.lines_in(self.oracle.files()))
                removed.update(self.oracle.lines_in(before).difference(seen))

        before = self.oracle.files()
        self.disturbances[state.session].arm(after, disturb)
        project = self.projects[state.session]
        result, _ = project.history.execute(plan, {item.path for item in plan.items if item.is_selected})
        self.oracle.note_renames(state.session, result.renames)
        self.disturbances[state.session].action = None
        self.oracle.record(state.session, before)
        self.oracle.mixed_files()
        after_files = self.oracle.files()
        self.oracle.owed |= self.oracle.lines_in(before) - self.oracle.lines_in(after_files) - removed
        if seen and edit[0] == "append":
            assert list(self.oracle.lines)[-1] in self.oracle.lines_in(after_files), (
                "lost an edit during a revert"
            )

    @precondition(lambda self: self.states)
    @rule(data=st.data(), after=st.integers(0, 3), other_first=st.booleans())
    def session_is_killed_in_a_revert(self, data: st.DataObject, after: int, other_first: bool) -> None:
        state = self.draw_state(data)
        if (plan := self.plan(state)) is None:
            return

        def die() -> None:
            raise Killed

        before = self.oracle.files()
        self.disturbances[state.session].arm(after, die)
        project = self.projects[state.session]
        selected = {item.path for item in plan.items if item.is_selected}
        with contextlib.suppress(Killed):
            result, _ = project.history.execute(plan, selected)
            self.oracle.note_renames(state.session, result.renames)
        project.store.close()
        other = SESSIONS[1 - SESSIONS.index(state.session)]
        if other_first and other not in self.calls:  # otherwise, its command may have made the changes
            self.projects[other].history.capture()
        self.open(state.session)
        self.oracle.owed |= self.oracle.lines_in(before) - self.oracle.lines_in(self.oracle.files())
        self.oracle.record(state.session, before)
        self.oracle.mixed_files()
        self.check_plan_was_followed(plan, before, done=set(), left=selected)

    def draw_state(self, data: st.DataObject) -> State:
        state = data.draw(st.sampled_from(self.states[-6:]))
        self.command_ends(state.session)
        return state

    def plan(self, state: State) -> Plan | None:
        """Return the plan of a revert to a state; None if it was pruned."""
        history = self.projects[state.session].history
        try:
            entries = history.state(state.manifest)
            plan = history.plan(state.manifest)
        except KimiTuiError:
            self.states.remove(state)
            return None
        for path, entry in entries.items():
            if entry.kind == "file":
                assert path in state.files, path
                assert entry.ref == digest_of(state.files[path][2]), path
        return plan

    def execute(
        self, state: State, plan: Plan, *, selects_all: bool = False, shown: Files | None = None
    ) -> ExecutionResult:
        history = self.projects[state.session].history
        before = self.oracle.files()
        selected = {
            item.path
            for item in plan.items
            if item.is_selected or (selects_all and "can't be stored" not in item.note)
        }
        result, _ = history.execute(plan, selected)
        self.oracle.note_renames(state.session, result.renames)
        after = self.oracle.files()
        self.oracle.owed |= self.oracle.lines_in(before) - self.oracle.lines_in(after)
        known = dict(self.oracle.identities)
        mixed = self.oracle.mixed_files(state.session)
        if selects_all:
            self.oracle.forget_replaced_files(known, result.renames)
        else:
            self.check_nothing_of_others_is_reverted(state, plan, before, after)
            assert not mixed, f"the user's lines are in another file: {mixed}"
            self.check_agents_changes_are_reverted(state, before, after)
        if shown is None:
            self.check_plan_was_followed(plan, before, done=set(result.done), left=set())
        self.oracle.record(state.session, before)
        return result

    # checks

    def owe(self, tool_paths: set[str] | None = None) -> None:
        """Note which lines of the user must stay restorable: those in covered files."""
        files = self.oracle.files()
        is_partial = any(project.history.partial_coverage_reason for project in self.projects.values())
        covered = {
            path: entry
            for path, entry in files.items()
            if len(entry[2]) <= LIMITS.file
            and (
                (path in tool_paths)
                if tool_paths is not None
                else not (is_partial or self.oracle.is_ignored(path))
            )
        }
        self.oracle.owed |= self.oracle.lines_in(covered)

    def check_nothing_of_others_is_reverted(
        self, state: State, plan: Plan, before: Files, after: Files
    ) -> None:
        """Check that the default selection reverts only what the agent may have changed.

        What is in a directory that the agent renamed goes back with it.
        """
        for path in before.keys() | after.keys():
            if moved_along(path, plan, before, after):
                continue
            was, is_now = (files[path][0] if path in files else "" for files in (before, after))
            is_only_folder = was == "folder" or (not was and is_now == "folder")
            if before.get(path) != after.get(path) and not is_only_folder:
                assert self.oracle.may_be_changed_by(state.session, state.n_events, path), path
        lost = self.oracle.lines_in(before) - self.oracle.lines_in(after)
        for line in lost:
            n_events, was_idle = self.oracle.lines[line]
            assert n_events < state.n_events or not was_idle, f"reverted {line}"

    def check_agents_changes_are_reverted(self, state: State, before: Files, after: Files) -> None:
        """Check that the files are as they were, if nobody but the agent has changed any of them."""
        events = self.oracle.events[state.n_events :]
        is_only_agents = all(it.author == state.session for it in events)
        is_certain = all(n_events < state.n_events for n_events in self.oracle.overlaps)
        is_covered = not any(
            path.startswith((IGNORE_FILE, "bulk"))
            for path in (*state.files, *before, *(it.path for it in events))
        )
        is_stored = all(len(content) <= LIMITS.file for _, _, content in state.files.values())
        if is_only_agents and is_certain and is_covered and is_stored:
            assert after == state.files

    def check_plan_was_followed(self, plan: Plan, before: Files, *, done: set[str], left: set[str]) -> None:
        """Check that each path in `done` is as planned, and all others are unchanged.

        The paths `left` by a killed revert are either.
        """
        after = self.oracle.files()
        items = planned_entries(plan)
        left = left | {
            path for path in items if any(it.path in left and path in it.paths for it in flat(plan))
        }
        for path in before.keys() | after.keys():
            if path in done | left and is_as_planned(after.get(path), items[path]):
                continue
            if moved_along(path, plan, before, after) or is_needed_folder(path, done, after):
                continue
            assert path not in done, path
            if before.get(path) != after.get(path):
                assert is_new_parent(path, before, after, items), path

    @invariant()
    def every_line_of_the_user_exists_or_can_be_restored(self) -> None:
        missing = self.oracle.owed - self.oracle.lines_in(self.oracle.files())
        if missing:
            project = self.projects["one"]
            refs = {
                entry.ref
                for record in project.store.manifests.all()
                for entries in (record.changes, record.whole or {})
                for entry in entries.values()
                if entry is not None and entry.kind == "file"
            }
            stored: set[str] = set()
            for ref in refs:
                with contextlib.suppress(BlobMissing):
                    stored |= set(project.store.blobs.read(ref).decode().splitlines(keepends=True))
            assert missing <= stored, missing - stored


def lines_at(path: str, text: str) -> str:
    """Return `text` with lines that no other path gets, so that files aren't similar by chance."""
    return "".join(f"{path} {line}" for line in text.splitlines(keepends=True))


def flat(plan: Plan) -> list[PlanItem]:
    """Return the items of a plan and their members."""
    return [each for item in plan.items for each in (item, *item.members)]


def planned_entries(plan: Plan) -> dict[str, Entry | None]:
    """Return what the plan makes of each path."""
    entries: dict[str, Entry | None] = {}
    for item in flat(plan):
        if item.renamed_to:
            entries[item.path] = None
    for item in flat(plan):
        entries[item.renamed_to or item.path] = item.then
    return entries


def moved_along(path: str, plan: Plan, before: Files, after: Files) -> bool:
    """Return whether a path left or reached a directory that was renamed, with its content."""
    for item in flat(plan):
        old, new = item.path, item.renamed_to
        if not new or item.now is None or item.now.kind != "folder":
            continue
        if f"{path}/".startswith(f"{old}/"):
            moved = new + path[len(old) :]
            if after.get(path) is None and moved in after:
                return True
        if f"{path}/".startswith(f"{new}/"):
            source = old + path[len(new) :]
            if before.get(source) is not None and after.get(source) is None:
                return True
    return False


def is_as_planned(found: tuple[str, int, bytes] | None, planned: Entry | None) -> bool:
    if found is None or planned is None:
        return (found is None) == (planned is None)
    kind, mode, content = found
    match planned.kind:
        case "file":
            return kind == "file" and digest_of(content) == planned.ref and mode == planned.mode
        case "link":
            return kind == "link" and content == os.fsencode(planned.ref)
        case "folder":
            return kind == "folder" and mode == planned.mode
        case _:
            return False


def is_needed_folder(path: str, done: set[str], after: Files) -> bool:
    """Return whether a path is a directory because a file in it was selected, too."""
    is_folder = path in after and after[path][0] == "folder"
    return is_folder and any(each.startswith(f"{path}/") and each in after for each in done)


def is_new_parent(path: str, before: Files, after: Files, items: dict[str, object]) -> bool:
    """Return whether a path is a directory that was created because a restored file needs it."""
    needed = any(each.startswith(f"{path}/") and each in after for each in items)
    return path not in before and path in after and after[path][0] == "folder" and needed


@pytest.mark.parametrize("series", SERIES)
def test_random_orders(series: int) -> None:
    test = get_state_machine_test(
        RandomOrders,
        settings=settings(
            max_examples=ORDERS_PER_SERIES,
            derandomize=ORDERS == _FEW_ORDERS,
            phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
            report_multiple_bugs=False,
            print_blob=True,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    (test if ORDERS == _FEW_ORDERS else seed(series)(test))()
