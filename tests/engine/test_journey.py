"""A long plan or jump goes on beside the commands; before it changes anything it can be given up."""

import asyncio
import time
from collections.abc import Collection
from pathlib import Path

from kimi_tui.base.content import TextPart
from kimi_tui.history.snapshots.execution import Outcome
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.patience import Patience
from kimi_tui.history.snapshots.plan import Plan
from kimi_tui.history.snapshots.store import ProjectStore
from kimi_tui.wire.commands import Interrupt, PlanRevert, Revert, RunSlash
from kimi_tui.wire.events import Comparison, Notification, Reverted, RevertPlan, SnapshotProgress
from tests.engine.bare import BareSession
from tests.soul.model import Model


class Endless(FileHistory):
    """Never has enough of planning, unless it is stopped; or plans as it should."""

    is_slow = True

    def plan(self, target: str, *, until: str | None = None, patience: Patience | None = None) -> Plan:
        while self.is_slow and patience is not None:
            patience.check(1, 2)
            time.sleep(0.001)
        return super().plan(target, until=until, patience=patience)


class SlowToOpen(FileHistory):
    """Knows no state before the first turn has ended."""

    def open(self, earlier: Collection[str] = ()) -> Outcome | None:
        time.sleep(0.3)
        return super().open(earlier)


def slow_session(tmp_path: Path, *answers: str) -> tuple[BareSession, Endless]:
    store = ProjectStore(tmp_path / "share", tmp_path / "work", "s1")
    store.work_dir.mkdir()
    history = Endless(store)
    model = Model(*([TextPart(answer)] for answer in answers))
    return BareSession(tmp_path, model, make_files=lambda: history), history


async def test_a_turn_runs_while_a_plan_is_made(tmp_path: Path) -> None:
    session, _ = slow_session(tmp_path, "one", "two")
    async with session.opened() as front:
        await front.turn("first")
        front.give(PlanRevert(0))
        await front.until(SnapshotProgress, where=lambda event: event.total == 2)
        assert (await front.turn("second")).outcome == "finished"
        assert not front.of(RevertPlan)
        front.give(Interrupt())
        assert (await front.until(RevertPlan)).note == "It was given up."


async def test_a_plan_waits_for_the_state_of_the_files_that_is_being_found_out(tmp_path: Path) -> None:
    store = ProjectStore(tmp_path / "share", tmp_path / "work", "s1")
    store.work_dir.mkdir()
    session = BareSession(tmp_path, Model([TextPart("one")]), make_files=lambda: SlowToOpen(store))
    async with session.opened() as front:
        await front.turn("first")
        front.give(PlanRevert(0))
        assert (await front.until(RevertPlan)).note == ""


async def test_a_jump_is_given_up_while_it_only_looks(tmp_path: Path) -> None:
    session, history = slow_session(tmp_path, "one", "two")
    async with session.opened() as front:
        await front.turn("first")
        front.give(Revert(0))
        await front.until(SnapshotProgress, where=lambda event: event.total == 2)
        front.give(Interrupt())
        told = await front.until(Notification)
        assert (told.title, told.body) == ("The jump was given up.", "Nothing was changed.")
        assert not front.of(Reverted)
        assert (await front.turn("second")).outcome == "finished"
        history.is_slow = False
        front.give(Revert(0))
        assert (await front.until(Reverted)).to == 0


async def test_what_follows_a_jump_waits_for_it(tmp_path: Path) -> None:
    session, history = slow_session(tmp_path, "one", "two")
    async with session.opened() as front:
        await front.turn("first")
        front.give(Revert(0))
        await front.until(SnapshotProgress, where=lambda event: event.total == 2)
        history.is_slow = False
        await front.turn("second")
        names = front.names()
        assert names.index("Reverted") < len(names) - 1 - names[::-1].index("TurnBegin")


async def test_a_typed_jump_goes_beside_the_commands_too(tmp_path: Path) -> None:
    session, history = slow_session(tmp_path, "one")
    async with session.opened() as front:
        await front.turn("first")
        travelling = asyncio.ensure_future(front.wire.carry_out(RunSlash("revert 0")))
        await front.until(SnapshotProgress, where=lambda event: event.total == 2)
        assert not travelling.done()
        front.give(Interrupt())
        assert (await front.until(Notification)).title == "The jump was given up."
        await travelling
        history.is_slow = False
        await front.wire.carry_out(RunSlash("revert 0"))
        assert (await front.until(Reverted)).to == 0


async def test_a_typed_plan_is_there_when_its_command_is_carried_out(tmp_path: Path) -> None:
    session, history = slow_session(tmp_path, "one")
    history.is_slow = False
    async with session.opened() as front:
        await front.turn("first")
        for line, kind in (("revert 0 --dry-run", RevertPlan), ("diff 0", Comparison)):
            heard = front.wire.subscribe()
            await front.wire.carry_out(RunSlash(line))
            assert [event for event in heard.take() if isinstance(event, kind)], line


async def test_a_plan_that_nobody_waits_for_does_not_hold_up_the_end(tmp_path: Path) -> None:
    session, _ = slow_session(tmp_path, "one")
    async with session.opened() as front:
        await front.turn("first")
        front.give(RunSlash("revert 0 --dry-run"))
        await front.until(SnapshotProgress, where=lambda event: event.total == 2)
