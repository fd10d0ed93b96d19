"""Slow plans and reverts run concurrently with other commands, and can be canceled early."""

import asyncio
import time
from collections.abc import Collection
from pathlib import Path

from kimi_tui.base.content_parts import TextPart
from kimi_tui.history.snapshots.deadline import ScanDeadline
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.plan import Plan
from kimi_tui.history.snapshots.plan_executor import ExecutionResult
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.wire.commands import Interrupt, PlanRevert, Prompt, Revert, RunSlash
from kimi_tui.wire.events import (
    Comparison,
    Notification,
    Reverted,
    RevertPlan,
    SnapshotProgress,
    TurnBegin,
    TurnEnd,
)
from tests.engine.bare_engine import BareSession, ReadyHistory
from tests.soul.fake_model import FakeModel


class EndlessPlanHistory(FileHistory):
    """Plans endlessly until it is canceled, or normally if `is_slow` is false."""

    is_slow = True

    def plan(self, target: str, *, until: str | None = None, deadline: ScanDeadline | None = None) -> Plan:
        while self.is_slow and deadline is not None:
            deadline.check(1, 2)
            time.sleep(0.001)
        return super().plan(target, until=until, deadline=deadline)


class SlowOpenHistory(FileHistory):
    """Opens only after the first turn has ended."""

    def open(self, earlier: Collection[str] = (), *, lazily: bool = False) -> ExecutionResult | None:
        time.sleep(0.3)
        return super().open(earlier, lazily=lazily)


def slow_session(tmp_path: Path, *responses: str) -> tuple[BareSession, EndlessPlanHistory]:
    store = ProjectStore(tmp_path / "share", tmp_path / "work", "s1")
    store.work_dir.mkdir()
    history = EndlessPlanHistory(store)
    model = FakeModel(*([TextPart(response)] for response in responses))
    return BareSession(tmp_path, model, history_factory=ReadyHistory(history)), history


async def test_a_turn_runs_while_a_plan_is_made(tmp_path: Path) -> None:
    session, _ = slow_session(tmp_path, "one", "two")
    async with session.open_engine() as front:
        await front.turn("first")
        front.send(PlanRevert(0))
        await front.wait_for(SnapshotProgress, where=lambda event: event.total == 2)
        assert (await front.turn("second")).outcome == "finished"
        assert not front.of(RevertPlan)
        front.send(Interrupt())
        assert (await front.wait_for(RevertPlan)).note == "Canceled."


async def test_only_the_turn_of_the_named_prompt_is_interrupted(tmp_path: Path) -> None:
    session = BareSession(tmp_path, FakeModel([TextPart("one")], [TextPart("three")]))
    async with session.open_engine() as front:
        for name in ("first", "second", "third"):
            front.send(Prompt(name, f"id of {name}"))
        front.send(Interrupt("id of second"))
        front.send(Interrupt("id of nothing"))
        outcomes = [(await front.wait_for(TurnEnd)).outcome for _ in range(3)]
    assert outcomes == ["finished", "cancelled", "finished"]
    assert [it.prompt_id for it in front.of(TurnBegin)] == ["id of first", "id of second", "id of third"]


async def test_a_plan_waits_for_a_pending_file_state(tmp_path: Path) -> None:
    store = ProjectStore(tmp_path / "share", tmp_path / "work", "s1")
    store.work_dir.mkdir()
    session = BareSession(
        tmp_path, FakeModel([TextPart("one")]), history_factory=ReadyHistory(SlowOpenHistory(store))
    )
    async with session.open_engine() as front:
        await front.turn("first")
        front.send(PlanRevert(0))
        assert (await front.wait_for(RevertPlan)).note == ""


async def test_a_revert_can_be_canceled_before_it_changes_anything(tmp_path: Path) -> None:
    session, history = slow_session(tmp_path, "one", "two")
    async with session.open_engine() as front:
        await front.turn("first")
        front.send(Revert(0))
        await front.wait_for(SnapshotProgress, where=lambda event: event.total == 2)
        front.send(Interrupt())
        notice = await front.wait_for(Notification)
        assert (notice.title, notice.body) == ("Revert canceled.", "Nothing was changed.")
        assert not front.of(Reverted)
        assert (await front.turn("second")).outcome == "finished"
        history.is_slow = False
        front.send(Revert(0))
        assert (await front.wait_for(Reverted)).to == 0


async def test_commands_after_a_revert_wait_for_it(tmp_path: Path) -> None:
    session, history = slow_session(tmp_path, "one", "two")
    async with session.open_engine() as front:
        await front.turn("first")
        front.send(Revert(0))
        await front.wait_for(SnapshotProgress, where=lambda event: event.total == 2)
        history.is_slow = False
        await front.turn("second")
        names = front.names()
        assert names.index("Reverted") < len(names) - 1 - names[::-1].index("TurnBegin")


async def test_a_revert_by_slash_command_can_be_interrupted(tmp_path: Path) -> None:
    session, history = slow_session(tmp_path, "one")
    async with session.open_engine() as front:
        await front.turn("first")
        reverting = asyncio.ensure_future(front.wire.command_and_wait(RunSlash("revert 0")))
        await front.wait_for(SnapshotProgress, where=lambda event: event.total == 2)
        assert not reverting.done()
        front.send(Interrupt())
        assert (await front.wait_for(Notification)).title == "Revert canceled."
        await reverting
        history.is_slow = False
        await front.wire.command_and_wait(RunSlash("revert 0"))
        assert (await front.wait_for(Reverted)).to == 0


async def test_a_slash_command_completes_after_its_plan_was_sent(tmp_path: Path) -> None:
    session, history = slow_session(tmp_path, "one")
    history.is_slow = False
    async with session.open_engine() as front:
        await front.turn("first")
        for line, kind in (("revert 0 --dry-run", RevertPlan), ("diff 0", Comparison)):
            subscription = front.wire.subscribe()
            await front.wire.command_and_wait(RunSlash(line))
            assert [event for event in subscription.pop_pending() if isinstance(event, kind)], line


async def test_a_running_plan_does_not_delay_shutdown(tmp_path: Path) -> None:
    session, _ = slow_session(tmp_path, "one")
    async with session.open_engine() as front:
        await front.turn("first")
        front.send(RunSlash("revert 0 --dry-run"))
        await front.wait_for(SnapshotProgress, where=lambda event: event.total == 2)
