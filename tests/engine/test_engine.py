"""One session behind the Wire: turns, what interrupts them, and commands."""

import asyncio
import json

import pytest

from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart
from kimi_tui.base.usage import TokenUsage
from kimi_tui.config.settings import ModelPrice
from kimi_tui.engine.recorded import read_recording
from kimi_tui.wire.commands import (
    Interrupt,
    Prompt,
    RunSlash,
    SetModel,
    SetThinking,
    Shutdown,
    Steer,
)
from kimi_tui.wire.display import TodoItem
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
from tests.clock import Clock
from tests.engine.front import Home, bash, call, script, write

HANG = "delay: 1000"
TODOS = [{"title": "mend it", "status": "in_progress"}]
IMAGE = ImageURLPart(MediaURL("data:image/png;base64,AA=="))


# turns


async def test_a_session_introduces_itself(home: Home) -> None:
    home.script("text: hi")
    async with home.opened() as front:
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


async def test_a_turn_goes_from_its_begin_over_steps_and_calls_to_its_end(home: Home) -> None:
    home.script(
        script(
            "text: look",
            call("c1", "LS", path="."),
            call("c2", "LS", path="."),
            "usage: input_other=5 output=2",
        ),
        script("text: done", "usage: input_other=90 output=10"),
    )
    async with home.opened() as front:
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


async def test_a_model_that_reports_no_usage_is_counted_by_estimate(home: Home) -> None:
    home.script("text: " + "word " * 80)
    async with home.opened() as front:
        await front.turn("hi")
        status = front.of(StatusUpdate)[-1]
        assert 80 < status.context_tokens < 200
        assert status.session_usage.total == 0


async def test_a_usage_of_nothing_does_not_count(home: Home) -> None:
    home.script(script("text: " + "word " * 80, "usage: input_other=0"))
    async with home.opened() as front:
        await front.turn("hi")
        assert front.of(StatusUpdate)[-1].context_tokens > 80


async def test_the_status_names_the_answer_that_it_is_about(home: Home) -> None:
    home.script(script("id: chatcmpl-7", "text: hi"))
    async with home.opened() as front:
        await front.turn("hi")
        assert front.of(StatusUpdate)[-1].message_id == "chatcmpl-7"


async def test_prompts_given_meanwhile_wait_their_turn(home: Home) -> None:
    home.script("text: one", "text: two", "text: three")
    async with home.opened() as front:
        for prompt in ("a", "b", "c"):
            front.give(Prompt(prompt))
        for _ in range(3):
            await front.until(TurnEnd)
        assert [event.user_input for event in front.of(TurnBegin)] == ["a", "b", "c"]
        assert [event.text for event in front.of(TextPart)] == ["one", "two", "three"]


async def test_a_turn_that_failed_does_not_hold_up_the_next(home: Home) -> None:
    home.script("error: 401 wrong key", "text: fine now")
    async with home.opened() as front:
        end = await front.turn("hi")
        assert end.outcome == "failed"
        assert end.failure is not None
        assert (end.failure.kind, end.failure.status_code) == ("APIStatusError", 401)
        assert "wrong key" in end.failure.what
        assert front.of(StepInterrupted)

        assert (await front.turn("again")).outcome == "finished"


async def test_a_model_that_may_recover_is_asked_again(home: Home) -> None:
    home.script(script("text: half", "error_after: connection gone"), "text: whole")
    async with home.opened() as front:
        end = await front.turn("hi")
        assert end == TurnEnd("finished", 1)
        assert "StepRetry" in front.names()


async def test_a_failure_that_may_pass_says_so(home: Home) -> None:
    home.script("error: 503 busy")
    settings = home.settings(loop_control={"max_retries_per_step": 1})
    async with home.opened(settings=settings) as front:
        end = await front.turn("hi")
        assert end.failure is not None
        assert end.failure.retryable


async def test_an_answer_of_thoughts_alone_is_none(home: Home) -> None:
    home.script("think: hm", "text: the answer")
    async with home.opened() as front:
        assert (await front.turn("hi")).outcome == "finished"
        assert front.of(TextPart) == [TextPart("the answer")]


async def test_what_is_not_there_can_not_be_called(home: Home) -> None:
    home.script(script("text: asking", call("c1", "AskTheUser", questions=[])), "text: fine")
    async with home.opened() as front:
        await front.turn("hi")
        result = front.results["c1"].return_value
        assert result.is_error
        assert "no tool “AskTheUser”" in result.message


async def test_a_prompt_without_anything_in_it_is_refused(home: Home) -> None:
    home.script("text: hi")
    async with home.opened() as front:
        end = await front.turn(" \n")
        assert end.outcome == "failed"
        assert end.failure is not None
        assert "empty" in end.failure.what
        assert not front.of(CheckpointCreated)


# steering


async def test_what_is_said_meanwhile_reaches_the_next_step(home: Home) -> None:
    home.script(script("text: running", bash("c1", "true")), "text: in French")
    async with home.opened() as front:
        front.give(Prompt("hi"))
        request = await front.asked()
        front.give(Steer("in French"))
        front.answer(request, "approve")
        await front.until(TurnEnd)
        assert front.of(SteerInput) == [SteerInput("in French")]
        assert len(front.of(TurnBegin)) == 1


async def test_without_a_turn_a_steer_is_a_prompt(home: Home) -> None:
    home.script("text: hi")
    async with home.opened() as front:
        front.give(Steer("hello"))
        await front.until(TurnEnd)
        assert front.of(TurnBegin) == [TurnBegin("hello")]


async def test_what_was_said_too_late_for_a_step_is_kept_for_the_next_turn(home: Home) -> None:
    home.script(script("text: running", bash("c1", "true")), "text: both heard")
    async with home.opened() as front:
        front.give(Prompt("hi"))
        request = await front.asked()
        front.give(Steer("too late"))
        front.give(Interrupt())
        assert (await front.until(TurnEnd)).outcome == "cancelled"
        assert front.of(SteerInput) == [SteerInput("too late")]
        assert not front.answer(request, "approve")
    assert "too late" in home.journal


# interrupts


async def test_interrupted_while_the_model_speaks_what_it_said_stays(home: Home) -> None:
    home.script(script("text: half a", HANG), "text: more")
    async with home.opened() as front:
        front.give(Prompt("hi"))
        await front.until(TextPart)
        front.give(Interrupt())
        assert await front.until(TurnEnd) == TurnEnd("cancelled", 1)
        assert front.of(StepInterrupted)

        assert (await front.turn("go on")).outcome == "finished"
    assert "half a" in home.journal


async def test_interrupted_while_a_tool_runs_the_tool_is_stopped_and_has_a_result(home: Home) -> None:
    home.script(script("text: running", bash("c1", "echo started; sleep 100")))
    async with home.opened(yolo=True) as front:
        front.give(Prompt("hi"))
        await front.until(ToolOutput)
        front.give(Interrupt())
        end = await front.until(TurnEnd)
        assert end.outcome == "cancelled"
        assert "interrupted" in front.results["c1"].return_value.message


async def test_interrupted_while_approvals_are_open_they_are_closed(home: Home) -> None:
    home.script(script("text: writing", write("c1", "a"), write("c2", "b")))
    async with home.opened() as front:
        front.give(Prompt("hi"))
        first, second = await front.asked(), await front.asked()
        front.give(Interrupt())
        await front.until(TurnEnd)
        assert {event.request_id for event in front.of(RequestClosed)} == {first.id, second.id}
        assert not front.answer(first, "approve")
        assert set(front.results) == {"c1", "c2"}
        assert not home.file("a").exists()


async def test_interrupted_while_it_waits_to_try_again(home: Home) -> None:
    home.script("error: 503 busy", "error: 503 busy", "error: 503 busy", "text: at last")
    async with home.opened() as front:
        front.give(Prompt("hi"))
        await front.until(object, where=lambda event: type(event).__name__ == "StepRetry")
        front.give(Interrupt())
        assert (await front.until(TurnEnd)).outcome == "cancelled"


async def test_interrupted_before_it_began_a_turn_keeps_the_prompt_and_the_session_goes_on(
    home: Home,
) -> None:
    home.script("text: hi")
    async with home.opened() as front:
        front.give(Prompt("at once"))
        front.give(Interrupt())
        assert await front.until(TurnEnd) == TurnEnd("cancelled", 0)
        assert "at once" in home.journal

        assert (await front.turn("again")).outcome == "finished"


async def test_interrupted_again_and_again_it_still_ends_once(home: Home) -> None:
    home.script(script("text: running", bash("c1", "trap '' TERM; echo started; sleep 100")), "text: hi")
    async with home.opened(yolo=True) as front:
        front.give(Prompt("hi"))
        await front.until(ToolOutput)
        for _ in range(5):
            front.give(Interrupt())
            await asyncio.sleep(0)
        assert (await front.until(TurnEnd)).outcome == "cancelled"
        assert (await front.turn("again")).outcome == "finished"


async def test_an_interrupt_between_turns_changes_nothing(home: Home) -> None:
    home.script("text: one", "text: two")
    async with home.opened() as front:
        front.give(Interrupt())
        await front.turn("a")
        front.give(Interrupt())
        assert (await front.turn("b")).outcome == "finished"


async def test_an_interrupt_at_any_moment_leaves_every_turn_ended(home: Home) -> None:
    home.script(*(script("text: looking", call("c", "LS", path="."), "usage: output=1") for _ in range(200)))
    async with home.opened() as front:
        for ticks in range(40):
            front.give(Prompt("a"))
            front.give(Prompt("b"))
            for _ in range(ticks):
                await asyncio.sleep(0)
            front.give(Interrupt())
            await asyncio.sleep(0)
            front.give(Interrupt())
            await front.until(TurnEnd)
            front.give(Interrupt())
            await front.until(TurnEnd)


# the end


async def test_shut_down_during_a_turn_everything_is_closed_and_kept(home: Home) -> None:
    home.script(script("text: half a", HANG))
    async with home.opened() as front:
        front.give(Prompt("hi"))
        await front.until(TextPart)
    assert front.of(TurnEnd) == [TurnEnd("cancelled", 1)]
    assert front.wire.closed
    assert "half a" in home.journal


async def test_shut_down_right_after_a_prompt_keeps_it(home: Home) -> None:
    home.script("text: hi")
    async with home.opened() as front:
        front.give(Prompt("last words"))
        front.give(Shutdown())
        front.give(Shutdown())
        front.give(Prompt("never heard"))
    assert "last words" in home.journal
    assert "never heard" not in home.journal


async def test_prompts_that_wait_when_it_is_shut_down_are_kept(home: Home) -> None:
    home.script(script("text: half a", HANG))
    async with home.opened() as front:
        front.give(Prompt("first"))
        front.give(Prompt("second"))
        await front.until(TextPart)
    assert "second" in home.journal


async def test_a_session_in_which_nothing_was_said_leaves_nothing(home: Home) -> None:
    home.script("text: hi")
    async with home.opened() as front:
        front.give(RunSlash("clear"))
        front.give(SetThinking(True))
        await front.until(SessionInfo, where=lambda info: info.thinking)
    assert home.session_dirs == []


# commands


async def test_clear_empties_the_conversation_and_the_todos_and_keeps_the_branch(home: Home) -> None:
    home.script(script("text: planning", call("c1", "SetTodoList", todos=TODOS)), "text: ok", "text: afresh")
    async with home.opened() as front:
        await front.turn("remember me")
        assert front.of(TodoUpdate)[-1].items == (TodoItem("mend it", "in_progress"),)

        front.give(RunSlash("clear"))
        reverted = await front.until(Reverted)
        assert (reverted.to, reverted.reason, reverted.branch) == (0, "clear", 1)
        assert (await front.until(StatusUpdate)).context_tokens == 0
        assert front.of(TodoUpdate)[-1].items == ()

        await front.turn("new start")
        assert front.of(CheckpointCreated)[-1].id > reverted.from_
    assert "remember me" not in home.journal
    assert "remember me" in (home.session_dir / "context.jsonl.1").read_text()


async def test_clear_waits_for_nobody(home: Home) -> None:
    home.script(script("text: half", HANG))
    async with home.opened() as front:
        front.give(Prompt("hi"))
        await front.until(TextPart)
        front.give(RunSlash("clear"))
        notice = await front.told()
        assert notice.title == "A turn is running."
        assert not front.of(Reverted)


async def test_a_session_is_named_after_the_first_words(home: Home) -> None:
    home.script("text: hi", "text: hi", "text: hi")
    async with home.opened() as front:
        await front.turn((IMAGE,))
        assert front.of(SessionInfo)[-1].title == ""
        front.give(Prompt("fix the \x1b[31mlogin\nform"))
        front.give(Prompt("something else"))
        for _ in range(2):
            await front.until(TurnEnd)
    # The name is kept beside the turns, so it may be told before or after any of them.
    assert {info.title for info in front.of(SessionInfo)} == {"", "fix the login form"}
    assert front.of(SessionInfo)[-1].title == "fix the login form"
    assert home.state["title"] == "fix the login form"


async def test_title_renames_the_session_and_tells(home: Home) -> None:
    home.script("text: hi")
    async with home.opened() as front:
        front.give(RunSlash("title  My \x1b[31mname "))
        info = await front.until(SessionInfo)
        assert info.title == "My name"
        front.give(RunSlash("title"))
        assert (await front.told()).title == "A title needs a name."
        await front.turn("other words")
    assert home.state["title"] == "My name"


@pytest.mark.parametrize("line", ["nonsense", "", "nonsense with words"])
async def test_an_unknown_slash_command_is_told_and_nothing_breaks(home: Home, line: str) -> None:
    home.script("text: hi")
    async with home.opened() as front:
        front.give(RunSlash(line))
        notice = await front.told()
        assert notice.severity == "error"
        assert "There is no command" in notice.title
        assert (await front.turn("hi")).outcome == "finished"


async def test_another_model_answers_the_next_step(home: Home) -> None:
    home.script("text: hi", "text: hello")
    settings = home.settings()
    other = settings.models["scripted"].model_copy(update={"max_context_size": 300_000})
    settings = settings.model_copy(update={"models": {**settings.models, "other": other}})
    async with home.opened(settings=settings) as front:
        front.give(SetModel("other"))
        assert (await front.until(SessionInfo)).model == "other"
        assert (await front.until(StatusUpdate)).max_context_tokens == 300_000
        await front.turn("hi")
    async with home.opened(settings=settings, continue_last=True) as front:
        assert front.of(SessionInfo)[0].model == "other"


async def test_a_model_that_is_not_configured_is_refused_and_the_old_one_stays(home: Home) -> None:
    home.script("text: hi")
    async with home.opened() as front:
        front.give(SetModel("nonsense"))
        notice = await front.told()
        assert "nonsense" in notice.title
        assert "scripted" in notice.body
        assert (await front.turn("hi")).outcome == "finished"


async def test_thinking_is_switched_and_told(home: Home) -> None:
    home.script("text: hi")
    async with home.opened() as front:
        front.give(SetThinking(True))
        assert (await front.until(SessionInfo)).thinking


# limits


async def test_a_turn_takes_no_more_steps_than_it_may(home: Home) -> None:
    home.script(*(script("text: x", call("c", "LS", path=".")) for _ in range(3)), "text: done")
    settings = home.settings(loop_control={"max_steps_per_turn": 2})
    async with home.opened(settings=settings) as front:
        end = await front.turn("hi")
        assert (end.outcome, end.steps) == ("max_steps", 2)
        assert end.failure is not None
        assert (await front.turn("continue")).outcome == "finished"


async def test_a_session_costs_no_more_than_it_may(home: Home) -> None:
    home.price = ModelPrice(input=1.0)
    expensive = script("text: x", call("c", "LS", path="."), "usage: input_other=1000000")
    home.script(expensive, "text: never")
    async with home.opened(max_cost_usd=0.5) as front:
        end = await front.turn("hi")
        assert (end.outcome, end.steps) == ("limit", 1)
        assert front.of(CostUpdate) == [CostUpdate(1.0)]
        assert (await front.turn("continue")).outcome == "limit"


async def test_a_turn_takes_no_longer_than_it_may(home: Home) -> None:
    home.script(script("text: half", HANG), "text: quick")
    async with home.opened(max_time_s=600) as front:
        clock = Clock()
        front.give(Prompt("hi"))
        await front.until(TextPart)
        clock.forward(600)
        end = await front.until(TurnEnd)
        assert end.outcome == "limit"
        assert end.failure is not None
        assert "600 s" in end.failure.what
        assert front.of(StepInterrupted)
        assert (await front.turn("again")).outcome == "finished"
    assert "half" in home.journal


# images


async def test_an_image_for_a_model_that_sees_none_is_refused_before_the_call(home: Home) -> None:
    home.capabilities = frozenset()
    home.script("text: the first call")
    async with home.opened() as front:
        end = await front.turn((TextPart("see"), IMAGE))
        assert end.outcome == "failed"
        assert end.failure is not None
        assert end.failure.kind == "ModelNotSupported"
        assert "image_in" in end.failure.hint
        assert (await front.turn("without it then")).outcome == "finished"
        assert front.of(TextPart) == [TextPart("the first call")]
    assert "image/png" in home.journal


# the recording


async def test_the_recording_holds_approvals_and_results(home: Home) -> None:
    home.script(script("text: writing", write("c1", "a")), "text: done")
    async with home.opened() as front:
        front.give(Prompt("hi"))
        front.answer(await front.asked(), "approve")
        await front.until(TurnEnd)
    lines = [json.loads(line) for line in (home.session_dir / "wire.jsonl").read_text().splitlines()]
    assert lines[0] == {"type": "metadata", "protocol_version": "1.10"}
    types = [line["message"]["type"] for line in lines[1:]]
    assert types[0] == "TurnBegin"
    assert types[-1] == "TurnEnd"
    assert types.index("ApprovalRequest") < types.index("ApprovalResponse") < types.index("ToolResult")
    assert list(read_recording(home.session_dir / "wire.jsonl").results) == ["c1"]
