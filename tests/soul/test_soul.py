"""Turns: requests to the model, events, and the saved conversation."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.errors import (
    APIConnectionError,
    APIEmptyResponseError,
    APIStatusError,
    LimitReached,
    MaxStepsReached,
    ModelNotSet,
    ModelNotSupported,
)
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.history.context import Context
from kimi_tui.llm.provider import LLM, OutputLimitReached, Price, ToolSchema
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.limits import Limits, LoopLimits
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.soul import Soul, TurnRejected
from kimi_tui.soul.usage_totals import UsageTotals
from kimi_tui.tools.approval import ToolRejected
from kimi_tui.tools.dmail import DMailbox, SendDMail
from kimi_tui.tools.tool import CallContext, Tool, build_json_schema, success
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.events import (
    CheckpointCreated,
    CostUpdate,
    Notification,
    Reverted,
    StatusUpdate,
    SteerInput,
    StepBegin,
    StepInterrupted,
    StepRetry,
    ToolResult,
    ToolReturn,
)
from tests.soul.fake_model import FakeModel, Reply
from tests.timeouts import TEST_TIMEOUT_S


class SayParams(BaseModel):
    word: str = ""


class Say(Tool[SayParams]):
    """Returns its word. `no` is rejected; `wait` never ends."""

    name = "Say"
    Params = SayParams

    @property
    def schema(self) -> ToolSchema:
        return ToolSchema("Say", "", build_json_schema(SayParams))

    async def run(self, params: SayParams, call: CallContext) -> ToolReturn:
        match params.word:
            case "no":
                raise ToolRejected
            case "no, but":
                raise ToolRejected("say please")
            case "wait":
                await asyncio.Event().wait()
        return success(params.word)


class Mail(SendDMail):
    @property
    def schema(self) -> ToolSchema:
        return ToolSchema("SendDMail", "", build_json_schema(self.Params))


class TurnHarness:
    """A soul with a fake model."""

    def __init__(
        self,
        folder: Path,
        *replies: Reply,
        limits: Limits = Limits(),
        dmail: bool = False,
        price: Price | None = None,
    ) -> None:
        self.model = FakeModel(*replies)
        self.events: list[Any] = []
        self.context = Context(folder / "context.jsonl")
        mailbox = DMailbox()
        tools: dict[str, Tool[Any]] = {"Say": Say()}
        if dmail:
            tools["SendDMail"] = Mail(mailbox)
        self.runtime_settings = RuntimeSettings(
            LLM(chat_provider=self.model, kind="scripted", name="m", max_context_size=1000, price=price)
        )
        self.soul = Soul(
            agent=Agent(name="a", system_prompt="Be good.", toolset=Toolset(tools)),
            context=self.context,
            runtime_settings=self.runtime_settings,
            limits=limits,
            dmailbox=mailbox,
            usage_totals=UsageTotals(),
            sender=self,
        )
        self.on_event: Callable[[Any], object] = lambda _: None

    def send(self, event: Any) -> None:
        self.events.append(event)
        self.on_event(event)

    def of(self, *kinds: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kinds)]

    def roles(self) -> list[str]:
        return [message.role for message in self.context.history]

    def texts(self) -> list[str]:
        return [message.text for message in self.context.history]


def call(word: str, call_id: str = "c1") -> ToolCall:
    return ToolCall(call_id, FunctionCall("Say", f'{{"word": "{word}"}}'))


async def run_with_timeout(turn: TurnHarness, prompt: str = "hi") -> None:
    async with asyncio.timeout(TEST_TIMEOUT_S):
        await turn.soul.run(prompt)


async def test_the_user_and_the_model_learn_that_a_response_was_cut_off(tmp_path: Path) -> None:
    cut_call = ToolCall("c1", FunctionCall("Say", '{"word": "he'))
    turn = TurnHarness(
        tmp_path, [cut_call, OutputLimitReached()], [TextPart("I'll go"), OutputLimitReached()]
    )
    await run_with_timeout(turn)
    assert [notice.title for notice in turn.of(Notification)] == [
        "The response reached the model's output limit and is incomplete."
    ] * 2
    assert "smaller parts" in turn.model.requests[1][-1].text


async def test_thinking_that_fills_the_output_limit_is_not_tried_again(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [ThinkPart("Hm."), TokenUsage(90, 10), OutputLimitReached()])
    with pytest.raises(APIEmptyResponseError, match="output limit"):
        await run_with_timeout(turn)
    assert turn.of(StepRetry) == []


async def test_a_turn_without_tools_is_one_step(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [TextPart("hel"), TextPart("lo"), TokenUsage(90, 10)])
    await run_with_timeout(turn)

    assert turn.roles() == ["user", "assistant"]
    assert turn.texts() == ["hi", "hello"]
    assert turn.context.token_count == 100
    assert [event.n for event in turn.of(StepBegin)] == [1]
    assert turn.of(StatusUpdate)[-1].context_usage == 0.1


async def test_tool_results_are_sent_to_the_model(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [TextPart("let me see"), call("one"), call("two", "c2")], [TextPart("done")])
    await run_with_timeout(turn)

    assert turn.texts() == ["hi", "let me see", "one", "two", "done"]
    assert turn.roles() == ["user", "assistant", "tool", "tool", "assistant"]
    assert turn.model.requests[1][: len(turn.model.requests[0])] == turn.model.requests[0]
    assert [result.tool_call_id for result in turn.of(ToolResult)] == ["c1", "c2"]


async def test_there_is_a_checkpoint_before_the_user_message_and_before_each_step(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [call("x")], [TextPart("done")])
    await run_with_timeout(turn)

    assert [(event.id, event.kind) for event in turn.of(CheckpointCreated)] == [
        (0, "user"),
        (1, "step"),
        (2, "step"),
    ]
    assert turn.of(CheckpointCreated)[0].label == "hi"
    assert not any("CHECKPOINT" in text for text in turn.texts())


async def test_argument_fragments_of_interleaved_calls_are_joined(tmp_path: Path) -> None:
    turn = TurnHarness(
        tmp_path,
        [
            ToolCall("a", FunctionCall("Say", "")),
            ToolCallPart('{"word"'),
            ToolCall("b", FunctionCall("Say", '{"word":')),
            ToolCallPart(': "first"}', "a"),
            ToolCallPart('"second"}'),
        ],
        [TextPart("done")],
    )
    await run_with_timeout(turn)
    assert turn.texts()[2:4] == ["first", "second"]


@pytest.mark.parametrize("ids", [("", ""), ("same", "same")])
async def test_calls_with_empty_or_equal_ids_get_unique_ids(tmp_path: Path, ids: tuple[str, str]) -> None:
    turn = TurnHarness(tmp_path, [call("one", ids[0]), call("two", ids[1])], [TextPart("done")])
    await run_with_timeout(turn)

    calls = turn.context.history[1].tool_calls or ()
    assert len({known.id for known in calls}) == 2
    assert [message.tool_call_id for message in turn.context.history[2:4]] == [known.id for known in calls]
    assert turn.texts()[2:4] == ["one", "two"]


async def test_an_id_of_an_earlier_step_is_not_reused(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [call("one")], [call("two")], [TextPart("done")])
    await run_with_timeout(turn)
    ids = [known.id for message in turn.context.history for known in message.tool_calls or ()]
    assert len(set(ids)) == 2


async def test_a_retry_drops_the_failed_attempts_text_and_calls(tmp_path: Path) -> None:
    turn = TurnHarness(
        tmp_path,
        [TextPart("half"), call("x"), APIConnectionError("gone")],
        [TextPart("whole")],
        limits=Limits(max_attempts=2),
    )
    await run_with_timeout(turn)

    assert turn.texts() == ["hi", "whole"]
    assert len(turn.of(StepRetry)) == 1
    assert not turn.of(ToolResult)


async def test_if_all_retries_fail_the_turn_fails_and_keeps_the_partial_response(tmp_path: Path) -> None:
    turn = TurnHarness(
        tmp_path, [TextPart("half"), APIConnectionError("gone")], limits=Limits(max_attempts=1)
    )
    with pytest.raises(APIConnectionError):
        await run_with_timeout(turn)

    assert turn.texts()[:2] == ["hi", "half"]
    assert "was interrupted" in turn.texts()[2]
    assert turn.of(StepInterrupted)


async def test_a_partial_response_is_kept_if_the_retries_return_nothing(
    tmp_path: Path,
) -> None:
    lost = APIConnectionError("gone")
    turn = TurnHarness(tmp_path, [TextPart("half"), call("x"), lost], [lost], limits=Limits(max_attempts=2))
    with pytest.raises(APIConnectionError):
        await run_with_timeout(turn)

    assert turn.texts()[:2] == ["hi", "half"]
    assert turn.of(TextPart) == [
        TextPart("half"),
        TextPart("half"),
    ]  # sent again, because front ends dropped it at the retry
    assert not turn.of(ToolResult)


async def test_an_empty_response_is_an_error(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [TextPart("  \n")], limits=Limits(max_attempts=1))
    with pytest.raises(APIEmptyResponseError):
        await run_with_timeout(turn)
    assert turn.texts() == ["hi"]


async def test_a_permanent_error_ends_the_turn_without_a_retry(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [APIStatusError("wrong key", status_code=401)])
    with pytest.raises(APIStatusError):
        await run_with_timeout(turn)
    assert not turn.of(StepRetry)


async def test_canceling_a_stream_keeps_the_text_and_runs_no_tool(tmp_path: Path) -> None:
    reached = asyncio.Event()

    async def hang() -> None:
        reached.set()
        await asyncio.Event().wait()

    turn = TurnHarness(tmp_path, [ThinkPart("hm"), TextPart("half a sen"), call("x"), hang])
    running = asyncio.ensure_future(run_with_timeout(turn))
    await reached.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert turn.texts()[:2] == ["hi", "half a sen"]
    assert turn.context.history[1].tool_calls is None
    assert turn.of(StepInterrupted)
    assert not turn.of(ToolResult)


async def test_canceling_running_tools_keeps_finished_results(
    tmp_path: Path,
) -> None:
    turn = TurnHarness(tmp_path, [TextPart("working"), call("done"), call("wait", "c2")])
    running = asyncio.ensure_future(run_with_timeout(turn))
    while not turn.of(ToolResult):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert turn.texts()[:3] == ["hi", "working", "done"]
    assert "interrupted" in turn.texts()[3]

    turn.model.replies = [[TextPart("back again")]]
    await run_with_timeout(turn, "go on")
    assert turn.texts()[4:] == ["go on", "back again"]


async def test_a_rejection_without_feedback_ends_the_turn(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [call("no")], [TextPart("sorry")])
    with pytest.raises(TurnRejected):
        await run_with_timeout(turn)
    assert turn.roles() == ["user", "assistant", "tool"]

    await run_with_timeout(turn, "never mind")
    assert turn.texts()[-1] == "sorry"


async def test_a_rejection_with_feedback_continues_the_turn(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [call("no, but")], [TextPart("please")])
    await run_with_timeout(turn)
    assert "say please" in turn.texts()[2]
    assert turn.texts()[3] == "please"


async def test_the_number_of_steps_is_limited(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [call("a")], [call("b", "c2")], limits=Limits(max_steps=2))
    with pytest.raises(MaxStepsReached):
        await run_with_timeout(turn)
    assert turn.roles() == ["user", "assistant", "tool", "assistant", "tool"]


async def test_the_cost_is_limited(tmp_path: Path) -> None:
    turn = TurnHarness(
        tmp_path,
        [call("a"), TokenUsage(1_000_000)],
        [TextPart("never")],
        limits=Limits(max_cost_usd=0.5),
        price=Price(input=0.6),
    )
    with pytest.raises(LimitReached):
        await run_with_timeout(turn)
    assert turn.of(CostUpdate)[-1].cost_usd == pytest.approx(0.6)
    assert len(turn.model.requests) == 1


async def test_without_a_model_the_prompt_is_kept_and_the_error_has_a_hint(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path)
    turn.runtime_settings.llm = None
    with pytest.raises(ModelNotSet, match="KIMI_API_KEY"):
        await run_with_timeout(turn)
    assert turn.texts() == ["hi"]


async def test_a_steer_reaches_the_next_step(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [TextPart("the answer")], [TextPart("the better answer")])
    turn.model.replies[0] = [TextPart("the answer"), _steering(turn, "in French")]
    await run_with_timeout(turn)

    assert turn.texts() == ["hi", "the answer", "in French", "the better answer"]
    assert turn.of(SteerInput) == [SteerInput("in French")]


def _steering(turn: TurnHarness, text: str) -> Callable[[], Any]:
    async def steer() -> None:
        turn.soul.steer(text)

    return steer


def dmail_call(checkpoint: int, message: str = "use tabs") -> ToolCall:
    arguments = f'{{"message": "{message}", "checkpoint_id": {checkpoint}}}'
    return ToolCall(f"m{checkpoint}", FunctionCall("SendDMail", arguments))


async def test_with_dmail_the_model_sees_checkpoint_numbers(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [TextPart("ok")], dmail=True)
    await run_with_timeout(turn)
    assert [text for text in turn.texts() if "CHECKPOINT" in text] == [
        "<system>CHECKPOINT 0</system>",
        "<system>CHECKPOINT 1</system>",
    ]


async def test_a_dmail_reverts_the_conversation_and_adds_its_message(tmp_path: Path) -> None:
    turn = TurnHarness(
        tmp_path, [call("x")], [TextPart("wrong way"), dmail_call(1)], [TextPart("right way")], dmail=True
    )
    await run_with_timeout(turn)

    sent = [message.text for message in turn.model.requests[2]]
    assert "hi" in sent
    assert not any("wrong way" in text for text in sent)
    assert any("use tabs" in text for text in sent)
    assert turn.texts()[-1] == "right way"
    assert [(event.to, event.reason) for event in turn.of(Reverted)] == [(1, "dmail")]


@pytest.mark.parametrize("checkpoint", [0, 1])
async def test_a_dmail_keeps_the_request(tmp_path: Path, checkpoint: int) -> None:
    turn = TurnHarness(tmp_path, [dmail_call(checkpoint)], [TextPart("done")], dmail=True)
    await run_with_timeout(turn, "the request")
    sent = [message.text for message in turn.model.requests[1]]
    assert sent.count("the request") == 1


async def test_a_dmail_to_an_earlier_turn_keeps_a_request_with_the_same_text(
    tmp_path: Path,
) -> None:
    turn = TurnHarness(tmp_path, [TextPart("first")], [dmail_call(0)], [TextPart("done")], dmail=True)
    await run_with_timeout(turn, "again")
    await run_with_timeout(turn, "again")
    sent = [message.text for message in turn.model.requests[2]]
    assert sent.count("again") == 1
    assert "first" not in sent


@pytest.mark.parametrize("checkpoint", [0, 1, 2])
async def test_a_dmail_keeps_steers(tmp_path: Path, checkpoint: int) -> None:
    turn = TurnHarness(tmp_path, dmail=True)
    turn.model.replies = [
        [_steering(turn, "in French"), call("x")],
        [_steering(turn, "and short"), call("y", "c2")],
        [dmail_call(checkpoint)],
        [TextPart("done")],
    ]
    await run_with_timeout(turn, "the request")
    prompts = [message.text for message in turn.model.requests[3] if not message.text.startswith("<system>")]
    assert [text for text in prompts if text in ("the request", "in French", "and short")] == [
        "the request",
        "in French",
        "and short",
    ]


async def test_an_interrupted_dmail_keeps_the_request(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [TextPart("first")], [dmail_call(0)], [TextPart("done")], dmail=True)
    await run_with_timeout(turn, "before")
    running = asyncio.ensure_future(run_with_timeout(turn, "the request"))
    turn.on_event = lambda event: running.cancel() if isinstance(event, Reverted) else None
    with pytest.raises(asyncio.CancelledError):
        await running
    assert turn.texts().count("the request") == 1
    assert any("use tabs" in text for text in turn.texts())


async def test_checkpoint_ids_are_not_reused_after_a_dmail(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [dmail_call(1)], [TextPart("done")], dmail=True)
    await run_with_timeout(turn)
    ids = [event.id for event in turn.of(CheckpointCreated)]
    assert ids == sorted(set(ids))


async def test_a_restored_context_equals_the_saved_one(tmp_path: Path) -> None:
    turn = TurnHarness(
        tmp_path, [TextPart("a"), call("x"), TokenUsage(5, 5)], [TextPart("b"), TokenUsage(7, 3)]
    )
    await run_with_timeout(turn)
    restored = Context(tmp_path / "context.jsonl")
    await restored.restore()
    assert list(restored.history) == list(turn.context.history)
    assert restored.token_count == 10
    assert not restored.repairs


async def test_a_dmail_of_a_canceled_step_is_not_delivered(tmp_path: Path) -> None:
    turn = TurnHarness(
        tmp_path, [dmail_call(1), call("wait")], [call("x", "c2")], [TextPart("done")], dmail=True
    )
    running = asyncio.ensure_future(run_with_timeout(turn))
    while not turn.of(ToolResult):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    await run_with_timeout(turn, "go on")
    assert not turn.of(Reverted)
    assert turn.texts()[-1] == "done"


async def test_a_partial_response_is_kept_after_an_unexpected_error(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [TextPart("half"), ZeroDivisionError("by design")], [TextPart("whole")])
    with pytest.raises(ZeroDivisionError):
        await run_with_timeout(turn)
    assert turn.texts()[:2] == ["hi", "half"]
    assert turn.of(StepInterrupted)
    await run_with_timeout(turn, "again")
    assert turn.texts()[-1] == "whole"


async def test_a_call_is_charged_at_the_price_of_its_model(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, price=Price(input=1.0))
    expensive_model = replace(turn.runtime_settings.require_llm(), price=Price(input=100.0))

    async def switch() -> None:
        turn.runtime_settings.llm = expensive_model

    turn.model.replies = [[TextPart("hi"), switch, TokenUsage(1_000_000)]]
    await run_with_timeout(turn)
    assert turn.of(CostUpdate)[-1].cost_usd == pytest.approx(1.0)


async def test_failed_attempts_are_charged(tmp_path: Path) -> None:
    turn = TurnHarness(
        tmp_path,
        [TokenUsage(1_000_000), TextPart("half"), APIConnectionError("gone")],
        [TextPart("whole"), TokenUsage(1_000_000)],
        limits=Limits(max_attempts=2),
        price=Price(input=1.0),
    )
    await run_with_timeout(turn)
    assert turn.of(CostUpdate)[-1].cost_usd == pytest.approx(2.0)


async def test_a_rejected_image_does_not_affect_the_next_turn(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [TextPart("fine")])
    turn.runtime_settings.llm = replace(turn.runtime_settings.require_llm(), max_context_size=100_000)
    image = ImageURLPart(MediaURL("data:image/png;base64,AA=="))
    with pytest.raises(ModelNotSupported):
        await turn.soul.run((TextPart("see"), image))

    await run_with_timeout(turn, "without it then")
    assert not any(image in message.content for message in turn.model.requests[0])
    assert any(image in message.content for message in turn.context.history)


async def test_a_steer_during_cancellation_is_added_once(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [call("wait")], [TextPart("done")])
    running = asyncio.ensure_future(run_with_timeout(turn))
    while not turn.of(ToolCall):
        await asyncio.sleep(0)
    turn.soul.steer("in French")
    running.cancel()
    while not running.done():
        running.cancel()
        await asyncio.sleep(0)

    await run_with_timeout(turn, "go on")
    assert turn.texts().count("in French") == 1


async def test_thinking_is_kept_if_the_turn_is_canceled(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, [ThinkPart("let me see"), asyncio.Event().wait], [TextPart("fine")])
    running = asyncio.ensure_future(run_with_timeout(turn))
    turn.on_event = lambda event: running.cancel() if isinstance(event, ThinkPart) else None
    with pytest.raises(asyncio.CancelledError):
        await running

    assert turn.context.history[1].content == (ThinkPart("let me see"),)
    assert "still thinking" in turn.texts()[2]
    turn.on_event = lambda _: None
    await run_with_timeout(turn, "go on")
    assert turn.texts()[-1] == "fine"


async def test_repeated_steps_are_warned_about_then_stop_the_turn(tmp_path: Path) -> None:
    limits = Limits(loop_limits=LoopLimits(warn_after=2, stop_after=4))
    turn = TurnHarness(tmp_path, *([call("x", f"c{n}")] for n in range(9)), limits=limits)
    with pytest.raises(LimitReached, match="the same step 4 times"):
        await run_with_timeout(turn)

    assert len(turn.of(StepBegin)) == 4
    assert not turn.of(StepInterrupted)
    notes = [text for text in turn.texts() if "the same step" in text]
    assert ["2 times" in notes[0], "3 times" in notes[1], "4 times" in notes[2]] == [True] * 3
    for earlier, later in pairwise(turn.model.requests):
        assert later[: len(earlier)] == earlier


async def test_notes_about_plan_mode_are_only_appended(tmp_path: Path) -> None:
    turn = TurnHarness(tmp_path, *([call("x")], [TextPart("done")]) * 3)
    for is_on in (True, True, False):
        turn.runtime_settings.plan_mode.is_on = is_on
        await run_with_timeout(turn)

    assert len(turn.model.requests) == 6
    for earlier, later in pairwise(turn.model.requests):
        assert later[: len(earlier)] == earlier
    notes = [text for text in turn.texts() if text.startswith("<system>Plan mode")]
    assert [note[:25] for note in notes] == ["<system>Plan mode is on: ", "<system>Plan mode is off:"]
