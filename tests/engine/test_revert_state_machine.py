"""Any order of edits, reverts, compactions and crashes: nothing is lost, and all states stay exact."""

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import user_message
from kimi_tui.history.message_history import complete_tool_results
from kimi_tui.history.snapshots.blob_store import digest_of
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.wire.commands import Redo, Revert, SwitchBranch, TimelineCommand, Undo
from kimi_tui.wire.timeline import RevertScope
from tests.engine.timeline_harness import TimelineHarness

NAMES = ("a", "b", "c")
ROUNDS = int(os.environ.get("KIMI_TUI_TRAVELS", "12"))


def make_text(number: int, lines: int) -> str:
    """Return a unique text that shares lines with others."""
    return "".join(f"line {line}\n" for line in range(lines)) + f"edit {number}\n"


class RevertStateMachine(RuleBasedStateMachine):
    """Runs a timeline harness and tracks its expected state."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="kimi-tui-reverts-"))
        self.loop = asyncio.new_event_loop()
        self.harness: TimelineHarness
        self.edits = 0
        self.uids: dict[int, str] = {}
        self.states: dict[int, dict[str, str]] = {}
        """Expected files at each checkpoint."""
        self.unseen: dict[str, str] = {}
        """The user's latest text by file name, if no engine has seen it yet."""
        self.seen: set[str] = set()
        """Texts by the user that an engine has seen, which must not be lost."""

    def run_async(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.run_async(self.harness.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    @initialize()
    def begin(self) -> None:
        self.harness = TimelineHarness(self.folder)
        self.run_async(self.harness.open())

    @rule(name=st.sampled_from(NAMES), lines=st.integers(0, 6))
    def user_edits(self, name: str, lines: int) -> None:
        self.edits += 1
        self.unseen[name] = make_text(self.edits, lines)
        self.harness.edit(name, self.unseen[name])

    @rule(name=st.sampled_from(NAMES))
    def user_deletes(self, name: str) -> None:
        self.unseen.pop(name, None)
        self.harness.edit(name, None)

    @rule(edits=st.dictionaries(st.sampled_from(NAMES), st.none() | st.integers(0, 6), max_size=2))
    def agent_works(self, edits: dict[str, int | None]) -> None:
        self.mark_seen()
        texts: dict[str, str | None] = {}
        for name, lines in edits.items():
            self.edits += 1
            texts[name] = make_text(self.edits, lines) if lines is not None else None
        seen = self.harness.files()
        for checkpoint in self.run_async(self.harness.turn(texts)):
            self.states[checkpoint] = seen

    @rule(data=st.data(), scope=st.sampled_from(["both", "conversation", "files", "turn"]))
    def revert(self, data: st.DataObject, scope: RevertScope) -> None:
        if self.uids:
            self.revert_and_track(Revert(data.draw(st.sampled_from(sorted(self.uids))), scope))

    @rule(data=st.data())
    def leave_a_note(self, data: st.DataObject) -> None:
        if self.uids:
            number = data.draw(st.sampled_from(sorted(self.uids)))
            self.revert_and_track(Revert(number, "conversation", note="don't"))

    @rule()
    def clear(self) -> None:
        files_before, before = self.harness.files(), set(self.run_async(self.harness.context.tree()).by_id)
        if self.run_async(self.harness.timeline.reverts.clear()):
            self.mark_seen()
            (new_id,) = set(self.run_async(self.harness.context.tree()).by_id) - before
            self.states[new_id] = files_before

    @rule()
    def undo(self) -> None:
        self.revert_and_track(Undo())

    @rule()
    def redo(self) -> None:
        self.revert_and_track(Redo())

    @rule(data=st.data())
    def switch(self, data: st.DataObject) -> None:
        branches = self.run_async(self.harness.context.branches())
        if branches:
            self.revert_and_track(SwitchBranch(data.draw(st.sampled_from([it.number for it in branches]))))

    @precondition(lambda self: self.harness.context.history)
    @rule()
    def compact(self) -> None:
        self.run_async(self.harness.context.replace([user_message("a summary")]))

    @rule()
    def crash(self) -> None:
        self.harness.kill()
        self.harness = TimelineHarness(self.folder)
        self.run_async(self.harness.open())

    def revert_and_track(self, command: TimelineCommand) -> None:
        files_before, before = self.harness.files(), set(self.run_async(self.harness.context.tree()).by_id)
        with contextlib.suppress(KimiTuiError):  # nothing to undo, or no file state
            self.run_async(self.harness.handle(command))
        new_ids = sorted(set(self.run_async(self.harness.context.tree()).by_id) - before)
        if new_ids:
            self.mark_seen()
            self.states[new_ids[0]] = files_before
            self.states[new_ids[-1]] = self.harness.files()

    def mark_seen(self) -> None:
        self.seen |= set(self.unseen.values())
        self.unseen.clear()

    @invariant()
    def ids_are_not_reused_and_checkpoints_are_kept(self) -> None:
        nodes = self.run_async(self.harness.context.tree()).nodes
        for uid, node in nodes.items():
            assert self.uids.setdefault(node.checkpoint.id, uid) == uid
        assert set(self.uids.values()) <= set(nodes)

    @invariant()
    def the_history_is_valid_for_a_model(self) -> None:
        history = list(self.harness.context.history)
        assert history == complete_tool_results(history)

    @invariant()
    def every_state_is_exact_and_no_text_of_the_user_is_lost(self) -> None:
        by_id = self.run_async(self.harness.context.tree()).by_id
        stored: set[str] = set()

        def check_states(history: FileHistory) -> None:
            digests: dict[str, dict[str, str]] = {}
            for number, node in by_id.items():
                if node.files not in digests:
                    entries = history.state(node.files)
                    digests[node.files] = {
                        path: entry.ref for path, entry in entries.items() if entry.kind == "file"
                    }
                if number in self.states:
                    expected = {name: digest_of(text.encode()) for name, text in self.states[number].items()}
                    assert digests[node.files] == expected, f"checkpoint {number}"
            for state in digests.values():
                stored.update(state.values())

        self.run_async(self.harness.timeline.files.worker.use(check_states))
        on_disk = set(self.harness.files().values())
        lost = {text for text in self.seen - on_disk if digest_of(text.encode()) not in stored}
        assert not lost


RevertStateMachine.TestCase.settings = settings(
    max_examples=ROUNDS,
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
test_any_order_of_reverts = RevertStateMachine.TestCase
