"""Any order of edits, jumps, compactions and crashes: nothing is lost, and every state stays exact."""

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
from kimi_tui.history.conversation import sendable
from kimi_tui.history.snapshots.blobs import digest_of
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.wire.commands import Redo, Revert, SwitchBranch, TravelCommand, Undo
from kimi_tui.wire.timeline import RevertScope
from tests.engine.world import World

NAMES = ("a", "b", "c")
ROUNDS = int(os.environ.get("KIMI_TUI_TRAVELS", "12"))


def text_of(number: int, lines: int) -> str:
    """A text that no other edit makes, of lines that some share."""
    return "".join(f"line {line}\n" for line in range(lines)) + f"edit {number}\n"


class Travels(RuleBasedStateMachine):
    """The world, and what should be true of it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="kimi-tui-travels-"))
        self.loop = asyncio.new_event_loop()
        self.world: World
        self.edits = 0
        self.uids: dict[int, str] = {}
        self.states: dict[int, dict[str, str]] = {}
        """What the files held at each checkpoint."""
        self.touched: dict[str, str] = {}
        """What the user wrote last, by file."""
        self.precious: set[str] = set()
        """What the user wrote and an engine then saw."""

    def run_it(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.run_it(self.world.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    @initialize()
    def begin(self) -> None:
        self.world = World(self.folder)
        self.run_it(self.world.open())

    @rule(name=st.sampled_from(NAMES), lines=st.integers(0, 6))
    def user_edits(self, name: str, lines: int) -> None:
        self.edits += 1
        self.touched[name] = text_of(self.edits, lines)
        self.world.edit(name, self.touched[name])

    @rule(name=st.sampled_from(NAMES))
    def user_deletes(self, name: str) -> None:
        self.touched.pop(name, None)
        self.world.edit(name, None)

    @rule(edits=st.dictionaries(st.sampled_from(NAMES), st.none() | st.integers(0, 6), max_size=2))
    def agent_works(self, edits: dict[str, int | None]) -> None:
        self.engine_sees()
        texts: dict[str, str | None] = {}
        for name, lines in edits.items():
            self.edits += 1
            texts[name] = text_of(self.edits, lines) if lines is not None else None
        seen = self.world.files()
        for checkpoint in self.run_it(self.world.turn(texts)):
            self.states[checkpoint] = seen

    @rule(data=st.data(), scope=st.sampled_from(["both", "conversation", "files", "turn"]))
    def revert(self, data: st.DataObject, scope: RevertScope) -> None:
        if self.uids:
            self.jump(Revert(data.draw(st.sampled_from(sorted(self.uids))), scope))

    @rule(data=st.data())
    def leave_a_note(self, data: st.DataObject) -> None:
        if self.uids:
            number = data.draw(st.sampled_from(sorted(self.uids)))
            self.jump(Revert(number, "conversation", note="don't"))

    @rule()
    def clear(self) -> None:
        left, before = self.world.files(), set(self.run_it(self.world.context.tree()).by_id)
        if self.run_it(self.world.machine.travels.clear()):
            self.engine_sees()
            (made,) = set(self.run_it(self.world.context.tree()).by_id) - before
            self.states[made] = left

    @rule()
    def undo(self) -> None:
        self.jump(Undo())

    @rule()
    def redo(self) -> None:
        self.jump(Redo())

    @rule(data=st.data())
    def switch(self, data: st.DataObject) -> None:
        branches = self.run_it(self.world.context.branches())
        if branches:
            self.jump(SwitchBranch(data.draw(st.sampled_from([it.number for it in branches]))))

    @precondition(lambda self: self.world.context.history)
    @rule()
    def compact(self) -> None:
        self.run_it(self.world.context.replace([user_message("a summary")]))

    @rule()
    def crash(self) -> None:
        self.world.vanish()
        self.world = World(self.folder)
        self.run_it(self.world.open())

    def jump(self, command: TravelCommand) -> None:
        left, before = self.world.files(), set(self.run_it(self.world.context.tree()).by_id)
        with contextlib.suppress(KimiTuiError):  # there is nothing to undo, or files that can't be known
            self.run_it(self.world.travel(command))
        made = sorted(set(self.run_it(self.world.context.tree()).by_id) - before)
        if made:
            self.engine_sees()
            self.states[made[0]] = left
            self.states[made[-1]] = self.world.files()

    def engine_sees(self) -> None:
        self.precious |= set(self.touched.values())
        self.touched.clear()

    @invariant()
    def ids_are_never_used_again_and_every_checkpoint_stays(self) -> None:
        places = self.run_it(self.world.context.tree()).places
        for uid, place in places.items():
            assert self.uids.setdefault(place.checkpoint.id, uid) == uid
        assert set(self.uids.values()) <= set(places)

    @invariant()
    def the_journal_can_be_sent(self) -> None:
        history = list(self.world.context.history)
        assert history == sendable(history)

    @invariant()
    def every_state_is_exact_and_what_the_user_wrote_is_there(self) -> None:
        by_id = self.run_it(self.world.context.tree()).by_id
        kept: set[str] = set()

        def look(history: FileHistory) -> None:
            known: dict[str, dict[str, str]] = {}
            for number, place in by_id.items():
                if place.files not in known:
                    entries = history.state(place.files)
                    known[place.files] = {
                        path: entry.ref for path, entry in entries.items() if entry.kind == "file"
                    }
                if number in self.states:
                    expected = {name: digest_of(text.encode()) for name, text in self.states[number].items()}
                    assert known[place.files] == expected, f"checkpoint {number}"
            for state in known.values():
                kept.update(state.values())

        self.run_it(self.world.machine.files.use(look))
        on_disk = set(self.world.files().values())
        lost = {text for text in self.precious - on_disk if digest_of(text.encode()) not in kept}
        assert not lost


Travels.TestCase.settings = settings(
    max_examples=ROUNDS,
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
test_any_order_of_travels = Travels.TestCase
