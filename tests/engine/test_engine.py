"""Engine of a session: turns, interrupts and commands."""

import asyncio
import json

import pytest

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.config.settings import ModelPrice
from kimi_tui.engine.recording.index import load_recording
from kimi_tui.wire.commands import (
    Interrupt,
    Prompt,
    RunSlash,
    SetModel,
    SetThinking,
    Shutdown,
    Steer,
)
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.events import (
    CheckpointCreated,
    CostUpdate,
    RequestClosed,
    Reverted,
    SessionInfo,
    StatusUpdate,
    SteerInput,
    StepInterrupted,
    TodoUpdate,
    ToolOutput,
    TurnBegin,
    TurnEnd,
)
from tests.engine.fake_front_end import SessionEnv, bash, call, script, write
from tests.loop_clock import LoopClock

HANG = "delay: 1000"
TODOS = [{"title": "fix it", "status": "in_progress"}]
IMAGE = ImageURLPart(MediaURL("data:image/png;base64,AA=="))


# turns


async def test_a_session_sends_its_initial_state(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        info, status = front.events
        assert isinstance(info, SessionInfo)
        assert (info.work_dir, info.model, info.model_kind) == (str(home.work_dir), "scripted", "scripted")
        assert info.models == ("scripted",)
        assert {command.name for command in info.slash_commands} >= {"clear", "title"}
        assert status == StatusUpdate(
            context_usage=0.0,
            context_tokens=0,
            max_context_tokens=200_000,
            session_usage=status.session_usage,
        )


async def test_a_turn_sends_its_steps_and_calls_in_order(home: SessionEnv) -> None:
    home.script(
        script(
            "text: look",
            call("c1", "LS", path="."),
            call("c2", "LS", path="."),
            "usage: input_other=5 output=2",
        ),
        script("text: done", "usage: input_other=90 output=10"),
    )
    async with home.open_session() as front:
        end = await front.turn("what is there?")
        assert end == TurnEnd("finished", 2)
        order = [name for name in front.names() if name not in ("SessionInfo", "StatusUpdate")]
        assert order == [
            "TurnBegin", "CheckpointCreated",
            "StepBegin", "CheckpointCreated", "TextPart", "ToolCall", "ToolCall", "ToolResult", "ToolResult",
            "StepBegin", "CheckpointCreated", "TextPart",
            "TurnEnd",
        ]  # fmt: skip
        assert [event.kind for event in front.of(CheckpointCreated)] == ["user", "step", "step"]
        status = front.of(StatusUpdate)[-1]
        assert (status.context_tokens, status.context_usage) == (100, 0.0005)
        assert (status.token_usage, status.session_usage) == (TokenUsage(90, 10), TokenUsage(95, 12))


async def test_context_tokens_are_estimated_if_the_model_reports_no_usage(home: SessionEnv) -> None:
    home.script("text: " + "word " * 80)
    async with home.open_session() as front:
        await front.turn("hi")
        status = front.of(StatusUpdate)[-1]
        assert 80 < status.context_tokens < 200
        assert status.session_usage.total == 0


async def test_a_reported_usage_of_zero_is_ignored(home: SessionEnv) -> None:
    home.script(script("text: " + "word " * 80, "usage: input_other=0"))
    async with home.open_session() as front:
        await front.turn("hi")
        assert front.of(StatusUpdate)[-1].context_tokens > 80


async def test_the_status_contains_the_id_of_the_response(home: SessionEnv) -> None:
    home.script(script("id: chatcmpl-7", "text: hi"))
    async with home.open_session() as front:
        await front.turn("hi")
        assert front.of(StatusUpdate)[-1].message_id == "chatcmpl-7"


async def test_prompts_sent_during_a_turn_are_queued(home: SessionEnv) -> None:
    home.script("text: one", "text: two", "text: three")
    async with home.open_session() as front:
        for prompt in ("a", "b", "c"):
            front.send(Prompt(prompt))
        for _ in range(3):
            await front.wait_for(TurnEnd)
        assert [event.user_input for event in front.of(TurnBegin)] == ["a", "b", "c"]
        assert [event.text for event in front.of(TextPart)] == ["one", "two", "three"]


async def test_a_failed_turn_doesnt_affect_the_next(home: SessionEnv) -> None:
    home.script("error: 401 wrong key", "text: fine now")
    async with home.open_session() as front:
        end = await front.turn("hi")
        assert end.outcome == "failed"
        assert end.failure is not None
        assert (end.failure.kind, end.failure.status_code) == ("APIStatusError", 401)
        assert "wrong key" in end.failure.what
        assert front.of(StepInterrupted)

        assert (await front.turn("again")).outcome == "finished"


async def test_a_retryable_error_is_retried(home: SessionEnv) -> None:
    home.script(script("text: half", "error_after: connection gone"), "text: whole")
    async with home.open_session() as front:
        end = await front.turn("hi")
        assert end == TurnEnd("finished", 1)
        assert "StepRetry" in front.names()


async def test_a_temporary_failure_is_marked_retryable(home: SessionEnv) -> None:
    home.script("error: 503 busy")
    settings = home.settings(loop_control={"max_retries_per_step": 1})
    async with home.open_session(settings=settings) as front:
        end = await front.turn("hi")
        assert end.failure is not None
        assert end.failure.retryable


async def test_a_response_with_only_thinking_is_retried(home: SessionEnv) -> None:
    home.script("think: hm", "text: the answer")
    async with home.open_session() as front:
        assert (await front.turn("hi")).outcome == "finished"
        assert front.of(TextPart) == [TextPart("the answer")]


async def test_calling_an_unknown_tool_is_an_error(home: SessionEnv) -> None:
    home.script(script("text: asking", call("c1", "AskTheUser", questions=[])), "text: fine")
    async with home.open_session() as front:
        await front.turn("hi")
        result = front.results["c1"].return_value
        assert result.is_error
        assert "no tool “AskTheUser”" in result.message


async def test_an_empty_prompt_is_rejected(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        end = await front.turn(" \n")
        assert end.outcome == "failed"
        assert end.failure is not None
        assert "empty" in end.failure.what
        assert not front.of(CheckpointCreated)


# steering


async def test_steering_input_reaches_the_next_step(home: SessionEnv) -> None:
    home.script(script("text: running", bash("c1", "true")), "text: in French")
    async with home.open_session() as front:
        front.send(Prompt("hi"))
        request = await front.next_approval_request()
        front.send(Steer("in French"))
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
        assert front.of(SteerInput) == [SteerInput("in French")]
        assert len(front.of(TurnBegin)) == 1


async def test_steering_input_without_a_turn_is_a_prompt(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        front.send(Steer("hello"))
        await front.wait_for(TurnEnd)
        assert front.of(TurnBegin) == [TurnBegin("hello")]


async def test_steering_input_too_late_for_a_step_is_kept_for_the_next_turn(home: SessionEnv) -> None:
    home.script(script("text: running", bash("c1", "true")), "text: both received")
    async with home.open_session() as front:
        front.send(Prompt("hi"))
        request = await front.next_approval_request()
        front.send(Steer("too late"))
        front.send(Interrupt())
        assert (await front.wait_for(TurnEnd)).outcome == "cancelled"
        assert front.of(SteerInput) == [SteerInput("too late")]
        assert not front.answer(request, "approve")
    assert "too late" in home.journal


# interrupts


async def test_an_interrupt_keeps_the_partial_response(home: SessionEnv) -> None:
    home.script(script("text: half a", HANG), "text: more")
    async with home.open_session() as front:
        front.send(Prompt("hi"))
        await front.wait_for(TextPart)
        front.send(Interrupt())
        assert await front.wait_for(TurnEnd) == TurnEnd("cancelled", 1)
        assert front.of(StepInterrupted)

        assert (await front.turn("go on")).outcome == "finished"
    assert "half a" in home.journal


async def test_an_interrupt_stops_the_running_tool_and_gives_it_a_result(home: SessionEnv) -> None:
    home.script(script("text: running", bash("c1", "echo started; sleep 100")))
    async with home.open_session(yolo=True) as front:
        front.send(Prompt("hi"))
        await front.wait_for(ToolOutput)
        front.send(Interrupt())
        end = await front.wait_for(TurnEnd)
        assert end.outcome == "cancelled"
        assert "interrupted" in front.results["c1"].return_value.message


async def test_an_interrupt_closes_open_requests(home: SessionEnv) -> None:
    home.script(script("text: writing", write("c1", "a"), write("c2", "b")))
    async with home.open_session() as front:
        front.send(Prompt("hi"))
        first, second = await front.next_approval_request(), await front.next_approval_request()
        front.send(Interrupt())
        await front.wait_for(TurnEnd)
        assert {event.request_id for event in front.of(RequestClosed)} == {first.id, second.id}
        assert not front.answer(first, "approve")
        assert set(front.results) == {"c1", "c2"}
        for result in front.results.values():
            assert result.return_value.was_not_run
            assert "Nothing was done" in result.return_value.message
        assert not home.file("a").exists()


async def test_an_interrupt_cancels_the_wait_before_a_retry(home: SessionEnv) -> None:
    home.script("error: 503 busy", "error: 503 busy", "error: 503 busy", "text: at last")
    async with home.open_session() as front:
        front.send(Prompt("hi"))
        await front.wait_for(object, where=lambda event: type(event).__name__ == "StepRetry")
        front.send(Interrupt())
        assert (await front.wait_for(TurnEnd)).outcome == "cancelled"


async def test_a_turn_interrupted_before_it_starts_keeps_the_prompt(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        front.send(Prompt("keep this"))
        front.send(Interrupt())
        assert await front.wait_for(TurnEnd) == TurnEnd("cancelled", 0)
        assert "keep this" in home.journal

        assert (await front.turn("again")).outcome == "finished"


async def test_a_turn_that_is_interrupted_repeatedly_ends_once(home: SessionEnv) -> None:
    home.script(script("text: running", bash("c1", "trap '' TERM; echo started; sleep 100")), "text: hi")
    async with home.open_session(yolo=True) as front:
        front.send(Prompt("hi"))
        await front.wait_for(ToolOutput)
        for _ in range(5):
            front.send(Interrupt())
            await asyncio.sleep(0)
        assert (await front.wait_for(TurnEnd)).outcome == "cancelled"
        assert (await front.turn("again")).outcome == "finished"


async def test_an_interrupt_between_turns_changes_nothing(home: SessionEnv) -> None:
    home.script("text: one", "text: two")
    async with home.open_session() as front:
        front.send(Interrupt())
        await front.turn("a")
        front.send(Interrupt())
        assert (await front.turn("b")).outcome == "finished"


async def test_an_interrupt_at_any_time_ends_every_turn(home: SessionEnv) -> None:
    home.script(*(script("text: looking", call("c", "LS", path="."), "usage: output=1") for _ in range(200)))
    async with home.open_session() as front:
        for ticks in range(40):
            front.send(Prompt("a"))
            front.send(Prompt("b"))
            for _ in range(ticks):
                await asyncio.sleep(0)
            front.send(Interrupt())
            await asyncio.sleep(0)
            front.send(Interrupt())
            await front.wait_for(TurnEnd)
            front.send(Interrupt())
            await front.wait_for(TurnEnd)


# shutdown


async def test_a_shutdown_during_a_turn_keeps_the_partial_response(home: SessionEnv) -> None:
    home.script(script("text: half a", HANG))
    async with home.open_session() as front:
        front.send(Prompt("hi"))
        await front.wait_for(TextPart)
    assert front.of(TurnEnd) == [TurnEnd("cancelled", 1)]
    assert front.wire.is_closed
    assert "half a" in home.journal


async def test_a_shutdown_right_after_a_prompt_keeps_it(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        front.send(Prompt("last prompt"))
        front.send(Shutdown())
        front.send(Shutdown())
        front.send(Prompt("too late"))
    assert "last prompt" in home.journal
    assert "too late" not in home.journal


async def test_a_shutdown_keeps_queued_prompts(home: SessionEnv) -> None:
    home.script(script("text: half a", HANG))
    async with home.open_session() as front:
        front.send(Prompt("first"))
        front.send(Prompt("second"))
        await front.wait_for(TextPart)
    assert "second" in home.journal


async def test_a_session_without_prompts_leaves_no_files(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        front.send(RunSlash("clear"))
        front.send(SetThinking(True))
        await front.wait_for(SessionInfo, where=lambda info: info.thinking)
    assert home.session_dirs == []


# commands


async def test_clear_clears_the_conversation_and_the_todos_and_keeps_a_branch(home: SessionEnv) -> None:
    home.script(script("text: planning", call("c1", "SetTodoList", todos=TODOS)), "text: ok", "text: new")
    async with home.open_session() as front:
        await front.turn("remember me")
        assert front.of(TodoUpdate)[-1].items == (TodoItem("fix it", "in_progress"),)

        front.send(RunSlash("clear"))
        reverted = await front.wait_for(Reverted)
        assert (reverted.to, reverted.reason, reverted.branch) == (0, "clear", 1)
        assert (await front.wait_for(StatusUpdate)).context_tokens == 0
        assert front.of(TodoUpdate)[-1].items == ()

        await front.turn("new start")
        assert front.of(CheckpointCreated)[-1].id > reverted.from_
    assert "remember me" not in home.journal
    assert "remember me" in (home.session_dir / "context.jsonl.1").read_text()


async def test_clear_is_rejected_during_a_turn(home: SessionEnv) -> None:
    home.script(script("text: half", HANG))
    async with home.open_session() as front:
        front.send(Prompt("hi"))
        await front.wait_for(TextPart)
        front.send(RunSlash("clear"))
        notice = await front.next_notification()
        assert notice.title == "A turn is running."
        assert not front.of(Reverted)


async def test_the_title_of_a_session_is_the_first_prompt_with_text(home: SessionEnv) -> None:
    home.script("text: hi", "text: hi", "text: hi")
    async with home.open_session() as front:
        await front.turn((IMAGE,))
        assert front.of(SessionInfo)[-1].title == ""
        front.send(Prompt("fix the \x1b[31mlogin\nform"))
        front.send(Prompt("something else"))
        for _ in range(2):
            await front.wait_for(TurnEnd)
        # The title is saved concurrently with the turns, so it may be sent before or after any of them.
        if not front.of(SessionInfo)[-1].title:
            await front.wait_for(SessionInfo)
    assert {info.title for info in front.of(SessionInfo)} == {"", "fix the login form"}
    assert front.of(SessionInfo)[-1].title == "fix the login form"
    assert home.state["title"] == "fix the login form"


async def test_the_title_command_renames_the_session(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        front.send(RunSlash("title  My \x1b[31mname "))
        info = await front.wait_for(SessionInfo)
        assert info.title == "My name"
        front.send(RunSlash("title"))
        assert (await front.next_notification()).title == "The title is empty."
        await front.turn("other text")
    assert home.state["title"] == "My name"


@pytest.mark.parametrize("line", ["nonsense", "", "nonsense with words"])
async def test_an_unknown_slash_command_is_an_error(home: SessionEnv, line: str) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        front.send(RunSlash(line))
        notice = await front.next_notification()
        assert notice.severity == "error"
        assert "Unknown command: /" in notice.title
        assert (await front.turn("hi")).outcome == "finished"


async def test_switching_the_model_applies_to_the_next_step(home: SessionEnv) -> None:
    home.script("text: hi", "text: hello")
    settings = home.settings()
    other = settings.models["scripted"].model_copy(update={"max_context_size": 300_000})
    settings = settings.model_copy(update={"models": {**settings.models, "other": other}})
    async with home.open_session(settings=settings) as front:
        front.send(SetModel("other"))
        assert (await front.wait_for(SessionInfo)).model == "other"
        assert (await front.wait_for(StatusUpdate)).max_context_tokens == 300_000
        await front.turn("hi")
    async with home.open_session(settings=settings, continue_last=True) as front:
        assert front.of(SessionInfo)[0].model == "other"


async def test_switching_to_an_unknown_model_is_an_error(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        front.send(SetModel("nonsense"))
        notice = await front.next_notification()
        assert "nonsense" in notice.title
        assert "scripted" in notice.body
        assert (await front.turn("hi")).outcome == "finished"


async def test_switching_thinking_sends_session_info(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        front.send(SetThinking(True))
        assert (await front.wait_for(SessionInfo)).thinking


# limits


async def test_a_turn_stops_at_the_step_limit(home: SessionEnv) -> None:
    home.script(*(script("text: x", call("c", "LS", path=".")) for _ in range(3)), "text: done")
    settings = home.settings(loop_control={"max_steps_per_turn": 2})
    async with home.open_session(settings=settings) as front:
        end = await front.turn("hi")
        assert (end.outcome, end.steps) == ("max_steps", 2)
        assert end.failure is not None
        assert (await front.turn("continue")).outcome == "finished"


async def test_a_turn_stops_at_the_cost_limit(home: SessionEnv) -> None:
    home.price = ModelPrice(input=1.0)
    expensive = script("text: x", call("c", "LS", path="."), "usage: input_other=1000000")
    home.script(expensive, "text: never")
    async with home.open_session(max_cost_usd=0.5) as front:
        end = await front.turn("hi")
        assert (end.outcome, end.steps) == ("limit", 1)
        (cost,) = front.of(CostUpdate)
        assert (cost.cost_usd, cost.day_cost_usd) == (1.0, 1.0)
        assert (await front.turn("continue")).outcome == "limit"


async def test_a_turn_stops_at_the_time_limit(home: SessionEnv) -> None:
    home.script(script("text: half", HANG), "text: quick")
    async with home.open_session(max_time_s=600) as front:
        clock = LoopClock()
        front.send(Prompt("hi"))
        await front.wait_for(TextPart)
        clock.advance(600)
        end = await front.wait_for(TurnEnd)
        assert end.outcome == "limit"
        assert end.failure is not None
        assert "600 s" in end.failure.what
        assert front.of(StepInterrupted)
        assert (await front.turn("again")).outcome == "finished"
    assert "half" in home.journal


# images


async def test_an_image_for_a_model_without_image_input_is_rejected(home: SessionEnv) -> None:
    home.capabilities = frozenset()
    home.script("text: the first call")
    async with home.open_session() as front:
        end = await front.turn((TextPart("see"), IMAGE))
        assert end.outcome == "failed"
        assert end.failure is not None
        assert end.failure.kind == "ModelNotSupported"
        assert "image_in" in end.failure.hint
        assert (await front.turn("without it then")).outcome == "finished"
        assert front.of(TextPart) == [TextPart("the first call")]
    assert "image/png" in home.journal


# the recording


async def test_the_recording_contains_approvals_and_results(home: SessionEnv) -> None:
    home.script(script("text: writing", write("c1", "a")), "text: done")
    async with home.open_session() as front:
        front.send(Prompt("hi"))
        front.answer(await front.next_approval_request(), "approve")
        await front.wait_for(TurnEnd)
    lines = [json.loads(line) for line in (home.session_dir / "wire.jsonl").read_text().splitlines()]
    assert lines[0] == {"type": "metadata", "protocol_version": "1.10"}
    types = [line["message"]["type"] for line in lines[1:]]
    assert types[0] == "TurnBegin"
    assert types[-1] == "TurnEnd"
    assert types.index("ApprovalRequest") < types.index("ApprovalResponse") < types.index("ToolResult")
    assert list(load_recording(home.session_dir / "wire.jsonl").results) == ["c1"]
