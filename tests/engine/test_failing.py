"""What fails costs its own feature, with a message, never the session."""

import asyncio
import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest
from pydantic import BaseModel

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import APIStatusError
from kimi_tui.base.message import FunctionCall, Message, ToolCall
from kimi_tui.history.context import Context
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.tree import NOT_YET
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.tool import RunningCall, Tool, json_schema, ok
from kimi_tui.wire.commands import Command, Prompt, SetYolo
from kimi_tui.wire.events import Notification, SessionInfo, StepInterrupted, ToolResult, ToolReturn, TurnEnd
from tests.engine.bare import BareSession
from tests.history.disks import FailingDisk, SlowDisk
from tests.patience import PATIENCE_S
from tests.soul.model import Model


class Nothing(BaseModel):
    pass


class FillDisk(Tool[Nothing]):
    """Runs well, and leaves no room on the disk."""

    name = "FillDisk"
    Params = Nothing

    def __init__(self) -> None:
        self.session: BareSession | None = None

    @property
    def schema(self) -> ToolSchema:
        return ToolSchema(self.name, "", json_schema(Nothing))

    async def run(self, params: Nothing, call: RunningCall) -> ToolReturn:
        assert self.session is not None
        self.session.disk.refused.add("write")
        return ok("the disk is full now")


class Forgetful(FillDisk):
    """Returns nothing, as a user's own tool may."""

    name = "Forgetful"

    async def run(self, params: Nothing, call: RunningCall) -> ToolReturn:
        return cast("ToolReturn", None)


class Unprepared(Model):
    """Can't load what it needs ahead of time, and says so in its own way."""

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        raise LookupError("no SDK")


FILL = ToolCall("c1", FunctionCall("FillDisk", "{}"))


async def test_a_full_disk_stops_the_turn_with_a_message_and_work_goes_on_later(tmp_path: Path) -> None:
    model = Model([TextPart("lost")], [TextPart("fine")])
    session = BareSession(tmp_path, model)
    async with session.opened() as front:
        session.disk.refused.add("write")
        end = await front.turn("no room")
        assert end.outcome == "failed"
        assert end.failure is not None
        assert end.failure.kind == "JournalWriteError"
        assert "can't be saved" in end.failure.what
        assert end.failure.hint
        assert not model.sent

        session.disk.refused.clear()
        assert (await front.turn("room again")).outcome == "finished"
        assert len(model.sent[0]) == 1
    assert "no room" not in session.journal


async def test_a_disk_that_fills_up_while_the_model_speaks_stops_the_turn(tmp_path: Path) -> None:
    session = BareSession(tmp_path, model := Model())

    async def fill() -> None:
        session.disk.refused.add("write")

    model.replies = [[TextPart("an answer"), fill], [TextPart("fine")]]
    async with session.opened() as front:
        end = await front.turn("hi")
        assert end.failure is not None
        assert end.failure.kind == "JournalWriteError"
        assert front.of(StepInterrupted)

        session.disk.refused.clear()
        assert (await front.turn("again")).outcome == "finished"
    await _same_on_disk(session, model)


async def test_a_disk_that_fills_up_while_tools_run_stops_the_turn_and_the_next_is_valid(
    tmp_path: Path,
) -> None:
    model = Model([TextPart("filling"), FILL], [TextPart("fine")])
    session = BareSession(tmp_path, model, tool := FillDisk())
    tool.session = session
    async with session.opened() as front:
        end = await front.turn("hi")
        assert end.failure is not None
        assert end.failure.kind == "JournalWriteError"
        assert [event.tool_call_id for event in front.of(ToolResult)] == ["c1"]

        session.disk.refused.clear()
        assert (await front.turn("again")).outcome == "finished"
    roles = [message.role for message in model.sent[-1]]
    assert roles == ["user", "assistant", "tool", "user"]
    await _same_on_disk(session, model)


async def _same_on_disk(session: BareSession, model: Model) -> None:
    """What a restore finds is what the model was sent last, and its answer."""
    context = Context(session.dir / "context.jsonl")
    await context.restore()
    assert tuple(context.history[:-1]) == model.sent[-1]
    assert not context.repairs


async def test_a_disk_that_takes_its_time_holds_nobody_but_the_turn(tmp_path: Path) -> None:
    session = BareSession(tmp_path, Model([TextPart("fine")]))
    session.disk = disk = SlowDisk()
    async with session.opened() as front:
        front.give(Prompt("hi"))
        await asyncio.to_thread(disk.waits.wait, 15)
        front.give(cast("Command", "nonsense"))
        assert (await front.told()).severity == "error"
        assert not front.of(TurnEnd)
        disk.goes_on.set()
        assert (await front.until(TurnEnd)).outcome == "finished"
    assert "fine" in session.journal


async def test_a_session_whose_folder_is_deleted_goes_on_and_says_so(tmp_path: Path) -> None:
    session = BareSession(tmp_path, model := Model([TextPart("one")], [TextPart("two")]))
    async with session.opened() as front:
        await front.turn("first")
        shutil.rmtree(tmp_path / "sessions")
        assert (await front.turn("second")).outcome == "finished"
        (notice,) = front.of(Notification)
        assert "deleted or moved" in notice.title
        assert str(session.dir) in notice.body
    assert [message.text for message in model.sent[-1]] == ["first", "one", "second"]
    await _same_on_disk(session, model)


@pytest.mark.parametrize("error", [errno.EMFILE, errno.EROFS])
async def test_each_refusal_of_the_disk_says_what_to_do(tmp_path: Path, error: int) -> None:
    session = BareSession(tmp_path, Model([TextPart("fine")]))
    session.disk = FailingDisk("open", error=error)
    async with session.opened() as front:
        end = await front.turn("hi")
        assert end.failure is not None
        assert os.strerror(error) in end.failure.what
        assert ("ulimit -n" if error == errno.EMFILE else "KIMI_SHARE_DIR") in end.failure.hint
        session.disk.refused.clear()
        assert (await front.turn("again")).outcome == "finished"


async def test_a_state_that_can_not_be_saved_is_told_and_the_switch_holds_meanwhile(tmp_path: Path) -> None:
    session = BareSession(tmp_path, Model())
    async with session.opened() as front:
        session.disk.refused.add("write")
        front.give(SetYolo(True))
        assert (await front.until(SessionInfo)).yolo
        notice = await front.told()
        assert notice.severity == "warning"
        assert "can't be saved" in notice.body


async def test_a_title_that_can_not_be_saved_does_not_stop_the_turn(tmp_path: Path) -> None:
    session = BareSession(tmp_path, Model([TextPart("fine")]))
    async with session.opened() as front:
        session.disk.refused.add("rename")
        assert (await front.turn("hi")).outcome == "finished"
        assert "can't be saved" in (front.of(Notification) or [await front.told()])[0].title


async def test_a_recording_that_can_not_be_written_costs_itself_only(tmp_path: Path) -> None:
    session = BareSession(tmp_path, Model([TextPart("fine")]))
    (session.dir / "wire.jsonl").mkdir(parents=True)
    async with session.opened() as front:
        assert (await front.turn("hi")).outcome == "finished"


async def test_a_model_that_can_not_be_prepared_costs_nothing_yet(tmp_path: Path) -> None:
    session = BareSession(tmp_path, Unprepared([TextPart("fine")]))
    async with session.opened() as front:
        assert (await front.turn("hi")).outcome == "finished"


@pytest.mark.parametrize("error", [ZeroDivisionError("by design"), OSError(28, "No space left")])
async def test_files_that_can_not_be_captured_cost_coverage_only(tmp_path: Path, error: Exception) -> None:
    def fail() -> FileHistory:
        raise error

    session = BareSession(tmp_path, Model([TextPart("fine")]), make_files=fail)
    async with session.opened() as front:
        assert (await front.turn("hi")).outcome == "finished"
        async with asyncio.timeout(PATIENCE_S):
            while session.journal.count(NOT_YET) > session.journal.count('"role":"_files"'):
                await asyncio.sleep(0.01)
    context = Context(session.dir / "context.jsonl")
    await context.restore()
    assert all(str(error.args[-1]) in (checkpoint.files or "") for checkpoint in context.checkpoints)


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("by design"), TimeoutError("of a kind"), OSError(5, "broken")]
)
@pytest.mark.parametrize("max_time_s", [None, 1000.0])
async def test_a_defect_of_a_model_ends_its_turn_and_no_more(
    tmp_path: Path, error: Exception, max_time_s: float | None
) -> None:
    session = BareSession(tmp_path, Model([TextPart("half"), error], [TextPart("whole")]))
    async with session.opened(max_time_s=max_time_s) as front:
        end = await front.turn("hi")
        assert end.outcome == "failed"
        assert end.failure is not None
        assert end.failure.kind == type(error).__name__
        assert (await front.turn("again")).outcome == "finished"
    assert "half" in session.journal


async def test_a_tool_that_returns_nothing_fails(tmp_path: Path) -> None:
    call = ToolCall("c1", FunctionCall("Forgetful", "{}"))
    session = BareSession(tmp_path, Model([call], [TextPart("fine")]), Forgetful())
    async with session.opened() as front:
        end = await front.turn("hi")
        assert end.outcome == "finished"
        (result,) = front.of(ToolResult)
        assert result.return_value.is_error


async def test_a_command_that_nobody_knows_is_told(tmp_path: Path) -> None:
    session = BareSession(tmp_path, Model([TextPart("fine")]))
    async with session.opened() as front:
        front.give(cast("Command", "nonsense"))
        assert (await front.told()).severity == "error"
        assert (await front.turn("hi")).outcome == "finished"


async def test_an_engine_that_is_cancelled_from_outside_ends_its_turn_and_closes_the_wire(
    tmp_path: Path,
) -> None:
    session = BareSession(tmp_path, Model([TextPart("half"), asyncio.Event().wait]))
    async with session.opened() as front:
        front.give(Prompt("hi"))
        await front.until(TextPart)
        session.serving.cancel()
        assert (await front.until(TurnEnd)).outcome == "cancelled"
    assert front.wire.closed
    assert "half" in session.journal


async def test_an_error_of_the_server_is_told_with_its_status(tmp_path: Path) -> None:
    session = BareSession(tmp_path, Model([APIStatusError("no such model", status_code=404)]))
    async with session.opened() as front:
        end = await front.turn("hi")
        assert end.failure is not None
        assert (end.failure.what, end.failure.status_code) == ("no such model", 404)
