"""Failures of the disk, the model and tools: each is reported, and the session continues."""

import asyncio
import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest
from pydantic import BaseModel

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import APIStatusError
from kimi_tui.base.message import FunctionCall, Message, ToolCall
from kimi_tui.history.checkpoint_tree import NOT_CAPTURED_YET
from kimi_tui.history.context import Context
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.tool import CallContext, Tool, build_json_schema, success
from kimi_tui.wire.commands import Command, Prompt, SetYolo
from kimi_tui.wire.events import Notification, SessionInfo, StepInterrupted, ToolResult, ToolReturn, TurnEnd
from tests.engine.bare_engine import BareSession, NoHistory
from tests.history.file_systems import FailingFileSystem, SlowFileSystem
from tests.soul.fake_model import FakeModel
from tests.timeouts import TEST_TIMEOUT_S


class Nothing(BaseModel):
    pass


class FillDisk(Tool[Nothing]):
    """Succeeds, but fills the disk."""

    name = "FillDisk"
    Params = Nothing

    def __init__(self) -> None:
        self.session: BareSession | None = None

    @property
    def schema(self) -> ToolSchema:
        return ToolSchema(self.name, "", build_json_schema(Nothing))

    async def run(self, params: Nothing, call: CallContext) -> ToolReturn:
        assert self.session is not None
        self.session.disk.failing_calls.add("write")
        return success("the disk is full now")


class Forgetful(FillDisk):
    """Returns None, as a user's faulty tool may."""

    name = "Forgetful"

    async def run(self, params: Nothing, call: CallContext) -> ToolReturn:
        return cast("ToolReturn", None)


class Unprepared(FakeModel):
    """Model whose preparation raises an unexpected exception."""

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        raise LookupError("no SDK")


FILL = ToolCall("c1", FunctionCall("FillDisk", "{}"))


async def test_a_full_disk_fails_the_turn_and_a_later_turn_succeeds(tmp_path: Path) -> None:
    model = FakeModel([TextPart("lost")], [TextPart("fine")])
    session = BareSession(tmp_path, model)
    async with session.open_engine() as front:
        session.disk.failing_calls.add("write")
        end = await front.turn("no room")
        assert end.outcome == "failed"
        assert end.failure is not None
        assert end.failure.kind == "JournalWriteError"
        assert "Can't save" in end.failure.what
        assert end.failure.hint
        assert not model.requests

        session.disk.failing_calls.clear()
        assert (await front.turn("room again")).outcome == "finished"
        assert len(model.requests[0]) == 1
    assert "no room" not in session.journal


async def test_a_disk_that_fills_up_during_a_response_fails_the_turn(tmp_path: Path) -> None:
    session = BareSession(tmp_path, model := FakeModel())

    async def fill() -> None:
        session.disk.failing_calls.add("write")

    model.replies = [[TextPart("a response"), fill], [TextPart("fine")]]
    async with session.open_engine() as front:
        end = await front.turn("hi")
        assert end.failure is not None
        assert end.failure.kind == "JournalWriteError"
        assert front.of(StepInterrupted)

        session.disk.failing_calls.clear()
        assert (await front.turn("again")).outcome == "finished"
    await _assert_journal_matches(session, model)


async def test_a_disk_that_fills_up_during_a_tool_call_fails_the_turn(
    tmp_path: Path,
) -> None:
    model = FakeModel([TextPart("filling"), FILL], [TextPart("fine")])
    session = BareSession(tmp_path, model, tool := FillDisk())
    tool.session = session
    async with session.open_engine() as front:
        end = await front.turn("hi")
        assert end.failure is not None
        assert end.failure.kind == "JournalWriteError"
        assert [event.tool_call_id for event in front.of(ToolResult)] == ["c1"]

        session.disk.failing_calls.clear()
        assert (await front.turn("again")).outcome == "finished"
    roles = [message.role for message in model.requests[-1]]
    assert roles == ["user", "assistant", "tool", "user"]
    await _assert_journal_matches(session, model)


async def _assert_journal_matches(session: BareSession, model: FakeModel) -> None:
    """Assert that the journal contains the last request and its response."""
    context = Context(session.dir / "context.jsonl")
    await context.restore()
    assert tuple(context.history[:-1]) == model.requests[-1]
    assert not context.repairs


async def test_a_slow_disk_delays_only_the_turn(tmp_path: Path) -> None:
    session = BareSession(tmp_path, FakeModel([TextPart("fine")]))
    session.disk = disk = SlowFileSystem()
    async with session.open_engine() as front:
        front.send(Prompt("hi"))
        await asyncio.to_thread(disk.waiting.wait, 15)
        front.send(cast("Command", "nonsense"))
        assert (await front.next_notification()).severity == "error"
        assert not front.of(TurnEnd)
        disk.released.set()
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
    assert "fine" in session.journal


async def test_a_session_whose_directory_is_deleted_continues_and_reports_it(tmp_path: Path) -> None:
    session = BareSession(tmp_path, model := FakeModel([TextPart("one")], [TextPart("two")]))
    async with session.open_engine() as front:
        await front.turn("first")
        (tmp_path / "sessions").rename(tmp_path / "deleted")  # at once, since the engine may be writing
        shutil.rmtree(tmp_path / "deleted", ignore_errors=True)
        assert (await front.turn("second")).outcome == "finished"
        (notice,) = front.of(Notification)
        assert "deleted or moved" in notice.title
        assert str(session.dir) in notice.body
    assert [message.text for message in model.requests[-1]] == ["first", "one", "second"]
    await _assert_journal_matches(session, model)


@pytest.mark.parametrize("error", [errno.EMFILE, errno.EROFS])
async def test_disk_errors_have_specific_hints(tmp_path: Path, error: int) -> None:
    session = BareSession(tmp_path, FakeModel([TextPart("fine")]))
    session.disk = FailingFileSystem("open", error=error)
    async with session.open_engine() as front:
        end = await front.turn("hi")
        assert end.failure is not None
        assert os.strerror(error) in end.failure.what
        assert ("ulimit -n" if error == errno.EMFILE else "KIMI_SHARE_DIR") in end.failure.hint
        session.disk.failing_calls.clear()
        assert (await front.turn("again")).outcome == "finished"


async def test_a_mode_that_cant_be_saved_applies_and_is_reported(tmp_path: Path) -> None:
    session = BareSession(tmp_path, FakeModel())
    async with session.open_engine() as front:
        session.disk.failing_calls.add("write")
        front.send(SetYolo(True))
        assert (await front.wait_for(SessionInfo)).yolo
        notice = await front.next_notification()
        assert notice.severity == "warning"
        assert "Can't save" in notice.body


async def test_a_title_that_cant_be_saved_doesnt_fail_the_turn(tmp_path: Path) -> None:
    session = BareSession(tmp_path, FakeModel([TextPart("fine")]))
    async with session.open_engine() as front:
        session.disk.failing_calls.add("rename")
        assert (await front.turn("hi")).outcome == "finished"
        assert "Can't save" in (front.of(Notification) or [await front.next_notification()])[0].title


async def test_a_recording_that_cant_be_written_doesnt_fail_the_turn(tmp_path: Path) -> None:
    session = BareSession(tmp_path, FakeModel([TextPart("fine")]))
    (session.dir / "wire.jsonl").mkdir(parents=True)
    async with session.open_engine() as front:
        assert (await front.turn("hi")).outcome == "finished"


async def test_a_failed_preparation_of_the_model_is_ignored(tmp_path: Path) -> None:
    session = BareSession(tmp_path, Unprepared([TextPart("fine")]))
    async with session.open_engine() as front:
        assert (await front.turn("hi")).outcome == "finished"


@pytest.mark.parametrize("error", [ZeroDivisionError("by design"), OSError(28, "No space left")])
async def test_failed_file_snapshots_dont_fail_the_turn(tmp_path: Path, error: Exception) -> None:
    session = BareSession(tmp_path, FakeModel([TextPart("fine")]), history_factory=NoHistory(error))
    async with session.open_engine() as front:
        assert (await front.turn("hi")).outcome == "finished"
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while session.journal.count(NOT_CAPTURED_YET) > session.journal.count('"role":"_files"'):
                await asyncio.sleep(0.01)
    context = Context(session.dir / "context.jsonl")
    await context.restore()
    assert all(str(error.args[-1]) in (checkpoint.files or "") for checkpoint in context.checkpoints)


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("by design"), TimeoutError("of a kind"), OSError(5, "broken")]
)
@pytest.mark.parametrize("max_time_s", [None, 1000.0])
async def test_an_unexpected_exception_of_the_model_fails_only_its_turn(
    tmp_path: Path, error: Exception, max_time_s: float | None
) -> None:
    session = BareSession(tmp_path, FakeModel([TextPart("half"), error], [TextPart("whole")]))
    async with session.open_engine(max_time_s=max_time_s) as front:
        end = await front.turn("hi")
        assert end.outcome == "failed"
        assert end.failure is not None
        assert end.failure.kind == type(error).__name__
        assert (await front.turn("again")).outcome == "finished"
    assert "half" in session.journal


async def test_a_tool_that_returns_none_is_an_error(tmp_path: Path) -> None:
    call = ToolCall("c1", FunctionCall("Forgetful", "{}"))
    session = BareSession(tmp_path, FakeModel([call], [TextPart("fine")]), Forgetful())
    async with session.open_engine() as front:
        end = await front.turn("hi")
        assert end.outcome == "finished"
        (result,) = front.of(ToolResult)
        assert result.return_value.is_error


async def test_an_unknown_wire_command_is_an_error(tmp_path: Path) -> None:
    session = BareSession(tmp_path, FakeModel([TextPart("fine")]))
    async with session.open_engine() as front:
        front.send(cast("Command", "nonsense"))
        assert (await front.next_notification()).severity == "error"
        assert (await front.turn("hi")).outcome == "finished"


async def test_canceling_the_engine_ends_its_turn_and_closes_the_wire(
    tmp_path: Path,
) -> None:
    session = BareSession(tmp_path, FakeModel([TextPart("half"), asyncio.Event().wait]))
    async with session.open_engine() as front:
        front.send(Prompt("hi"))
        await front.wait_for(TextPart)
        session.serving.cancel()
        assert (await front.wait_for(TurnEnd)).outcome == "cancelled"
    assert front.wire.is_closed
    assert "half" in session.journal


async def test_a_server_error_is_reported_with_its_status(tmp_path: Path) -> None:
    session = BareSession(tmp_path, FakeModel([APIStatusError("no such model", status_code=404)]))
    async with session.open_engine() as front:
        end = await front.turn("hi")
        assert end.failure is not None
        assert (end.failure.what, end.failure.status_code) == ("no such model", 404)
