"""Turns: what the model is sent, what is shown, and what is kept."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.errors import (
    APIConnectionError,
    APIEmptyResponseError,
    APIStatusError,
    MaxStepsReached,
    ModelNotSet,
    ModelNotSupported,
)
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.base.usage import TokenUsage
from kimi_tui.history.context import Context
from kimi_tui.llm.provider import LLM, Price, ToolSchema
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.limits import LimitReached, Limits, RepetitionLimits
from kimi_tui.soul.soul import Soul, TurnRejected
from kimi_tui.soul.spending import Spending
from kimi_tui.tools.approval import ToolRejected
from kimi_tui.tools.dmail import DMailbox, SendDMail
from kimi_tui.tools.tool import RunningCall, Tool, json_schema, ok
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.events import (
    CheckpointCreated,
    CostUpdate,
    Reverted,
    StatusUpdate,
    SteerInput,
    StepBegin,
    StepInterrupted,
    StepRetry,
    ToolResult,
    ToolReturn,
)
from tests.patience import PATIENCE_S
from tests.soul.model import Model, Reply


class Word(BaseModel):
    word: str = ""


class Say(Tool[Word]):
    """Says its word; `no` is rejected, `wait` never ends."""

    name = "Say"
    Params = Word

    @property
    def schema(self) -> ToolSchema:
        return ToolSchema("Say", "", json_schema(Word))

    async def run(self, params: Word, call: RunningCall) -> ToolReturn:
        match params.word:
            case "no":
                raise ToolRejected
            case "no, but":
                raise ToolRejected("say please")
            case "wait":
                await asyncio.Event().wait()
        return ok(params.word)


class Mail(SendDMail):
    @property
    def schema(self) -> ToolSchema:
        return ToolSchema("SendDMail", "", json_schema(self.Params))


class Turn:
    """A soul with a model that plays replies."""

    def __init__(
        self,
        folder: Path,
        *replies: Reply,
        limits: Limits = Limits(),
        dmail: bool = False,
        price: Price | None = None,
    ) -> None:
        self.model = Model(*replies)
        self.events: list[Any] = []
        self.context = Context(folder / "context.jsonl")
        mailbox = DMailbox()
        tools: dict[str, Tool[Any]] = {"Say": Say()}
        if dmail:
            tools["SendDMail"] = Mail(mailbox)
        self.behaviour = Behaviour(
            LLM(chat_provider=self.model, kind="scripted", name="m", max_context_size=1000, price=price)
        )
        self.soul = Soul(
            agent=Agent(name="a", system_prompt="Be good.", toolset=Toolset(tools)),
            context=self.context,
            behaviour=self.behaviour,
            limits=limits,
            dmailbox=mailbox,
            spending=Spending(),
            send=self._send,
        )
        self.on_event: Callable[[Any], object] = lambda _: None

    def _send(self, event: Any) -> None:
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


async def in_time(turn: Turn, prompt: str = "hi") -> None:
    async with asyncio.timeout(PATIENCE_S):
        await turn.soul.run(prompt)


async def test_a_turn_without_tools_is_one_step(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [TextPart("hel"), TextPart("lo"), TokenUsage(90, 10)])
    await in_time(turn)

    assert turn.roles() == ["user", "assistant"]
    assert turn.texts() == ["hi", "hello"]
    assert turn.context.token_count == 100
    assert [event.n for event in turn.of(StepBegin)] == [1]
    assert turn.of(StatusUpdate)[-1].context_usage == 0.1


async def test_tools_run_and_their_results_go_back_to_the_model(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [TextPart("let me see"), call("one"), call("two", "c2")], [TextPart("done")])
    await in_time(turn)

    assert turn.texts() == ["hi", "let me see", "one", "two", "done"]
    assert turn.roles() == ["user", "assistant", "tool", "tool", "assistant"]
    assert turn.model.sent[1][: len(turn.model.sent[0])] == turn.model.sent[0]
    assert [result.tool_call_id for result in turn.of(ToolResult)] == ["c1", "c2"]


async def test_there_is_a_checkpoint_before_the_user_message_and_before_each_step(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [call("x")], [TextPart("done")])
    await in_time(turn)

    assert [(event.id, event.kind) for event in turn.of(CheckpointCreated)] == [
        (0, "user"),
        (1, "step"),
        (2, "step"),
    ]
    assert turn.of(CheckpointCreated)[0].label == "hi"
    assert not any("CHECKPOINT" in text for text in turn.texts())


async def test_arguments_come_in_fragments_also_of_interleaved_calls(tmp_path: Path) -> None:
    turn = Turn(
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
    await in_time(turn)
    assert turn.texts()[2:4] == ["first", "second"]


@pytest.mark.parametrize("ids", [("", ""), ("same", "same")])
async def test_calls_with_empty_or_equal_ids_get_ids_of_their_own(
    tmp_path: Path, ids: tuple[str, str]
) -> None:
    turn = Turn(tmp_path, [call("one", ids[0]), call("two", ids[1])], [TextPart("done")])
    await in_time(turn)

    calls = turn.context.history[1].tool_calls or ()
    assert len({known.id for known in calls}) == 2
    assert [message.tool_call_id for message in turn.context.history[2:4]] == [known.id for known in calls]
    assert turn.texts()[2:4] == ["one", "two"]


async def test_an_id_of_an_earlier_step_is_not_used_again(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [call("one")], [call("two")], [TextPart("done")])
    await in_time(turn)
    ids = [known.id for message in turn.context.history for known in message.tool_calls or ()]
    assert len(set(ids)) == 2


async def test_a_retry_drops_what_the_failed_attempt_said_and_runs_no_tool_of_it(tmp_path: Path) -> None:
    turn = Turn(
        tmp_path,
        [TextPart("half"), call("x"), APIConnectionError("gone")],
        [TextPart("whole")],
        limits=Limits(max_attempts=2),
    )
    await in_time(turn)

    assert turn.texts() == ["hi", "whole"]
    assert len(turn.of(StepRetry)) == 1
    assert not turn.of(ToolResult)


async def test_when_retries_are_exhausted_the_turn_fails_and_keeps_what_was_said(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [TextPart("half"), APIConnectionError("gone")], limits=Limits(max_attempts=1))
    with pytest.raises(APIConnectionError):
        await in_time(turn)

    assert turn.texts()[:2] == ["hi", "half"]
    assert "broke off" in turn.texts()[2]
    assert turn.of(StepInterrupted)


async def test_what_was_said_before_the_connection_was_lost_is_kept_when_no_retry_reaches_the_model(
    tmp_path: Path,
) -> None:
    lost = APIConnectionError("gone")
    turn = Turn(tmp_path, [TextPart("half"), call("x"), lost], [lost], limits=Limits(max_attempts=2))
    with pytest.raises(APIConnectionError):
        await in_time(turn)

    assert turn.texts()[:2] == ["hi", "half"]
    assert turn.of(TextPart) == [TextPart("half"), TextPart("half")]  # shown again, after it was taken back
    assert not turn.of(ToolResult)


async def test_an_empty_answer_is_an_error_not_a_message(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [TextPart("  \n")], limits=Limits(max_attempts=1))
    with pytest.raises(APIEmptyResponseError):
        await in_time(turn)
    assert turn.texts() == ["hi"]


async def test_an_error_that_will_not_pass_ends_the_turn_at_once(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [APIStatusError("wrong key", status_code=401)])
    with pytest.raises(APIStatusError):
        await in_time(turn)
    assert not turn.of(StepRetry)


async def test_cancelled_while_it_streams_the_text_so_far_is_kept_and_no_tool_runs(tmp_path: Path) -> None:
    reached = asyncio.Event()

    async def hang() -> None:
        reached.set()
        await asyncio.Event().wait()

    turn = Turn(tmp_path, [ThinkPart("hm"), TextPart("half a sen"), call("x"), hang])
    running = asyncio.ensure_future(in_time(turn))
    await reached.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert turn.texts()[:2] == ["hi", "half a sen"]
    assert turn.context.history[1].tool_calls is None
    assert turn.of(StepInterrupted)
    assert not turn.of(ToolResult)


async def test_cancelled_while_tools_run_finished_results_are_kept_and_the_others_say_so(
    tmp_path: Path,
) -> None:
    turn = Turn(tmp_path, [TextPart("working"), call("done"), call("wait", "c2")])
    running = asyncio.ensure_future(in_time(turn))
    while not turn.of(ToolResult):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert turn.texts()[:3] == ["hi", "working", "done"]
    assert "interrupted" in turn.texts()[3]

    turn.model.replies = [[TextPart("back again")]]
    await in_time(turn, "go on")
    assert turn.texts()[4:] == ["go on", "back again"]


async def test_a_plain_no_ends_the_turn_and_the_next_one_is_valid(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [call("no")], [TextPart("sorry")])
    with pytest.raises(TurnRejected):
        await in_time(turn)
    assert turn.roles() == ["user", "assistant", "tool"]

    await in_time(turn, "never mind")
    assert turn.texts()[-1] == "sorry"


async def test_a_no_with_feedback_goes_on_with_it(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [call("no, but")], [TextPart("please")])
    await in_time(turn)
    assert "say please" in turn.texts()[2]
    assert turn.texts()[3] == "please"


async def test_a_turn_takes_no_more_steps_than_it_may(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [call("a")], [call("b", "c2")], limits=Limits(max_steps=2))
    with pytest.raises(MaxStepsReached):
        await in_time(turn)
    assert turn.roles() == ["user", "assistant", "tool", "assistant", "tool"]


async def test_a_turn_spends_no_more_than_it_may(tmp_path: Path) -> None:
    turn = Turn(
        tmp_path,
        [call("a"), TokenUsage(1_000_000)],
        [TextPart("never")],
        limits=Limits(max_cost_usd=0.5),
        price=Price(input=0.6),
    )
    with pytest.raises(LimitReached):
        await in_time(turn)
    assert turn.of(CostUpdate)[-1].cost_usd == pytest.approx(0.6)
    assert len(turn.model.sent) == 1


async def test_without_a_model_nothing_is_lost_and_the_error_says_what_to_set(tmp_path: Path) -> None:
    turn = Turn(tmp_path)
    turn.behaviour.llm = None
    with pytest.raises(ModelNotSet, match="KIMI_API_KEY"):
        await in_time(turn)
    assert turn.texts() == ["hi"]


async def test_what_the_user_says_meanwhile_reaches_the_next_step(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [TextPart("the answer")], [TextPart("the better answer")])
    turn.model.replies[0] = [TextPart("the answer"), _steering(turn, "in French")]
    await in_time(turn)

    assert turn.texts() == ["hi", "the answer", "in French", "the better answer"]
    assert turn.of(SteerInput) == [SteerInput("in French")]


def _steering(turn: Turn, text: str) -> Callable[[], Any]:
    async def steer() -> None:
        turn.soul.steer(text)

    return steer


def mail(checkpoint: int, message: str = "use tabs") -> ToolCall:
    arguments = f'{{"message": "{message}", "checkpoint_id": {checkpoint}}}'
    return ToolCall(f"m{checkpoint}", FunctionCall("SendDMail", arguments))


async def test_with_dmail_the_model_sees_the_checkpoints(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [TextPart("ok")], dmail=True)
    await in_time(turn)
    assert [text for text in turn.texts() if "CHECKPOINT" in text] == [
        "<system>CHECKPOINT 0</system>",
        "<system>CHECKPOINT 1</system>",
    ]


async def test_a_dmail_takes_the_conversation_back_and_is_read_there(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [call("x")], [TextPart("wrong way"), mail(1)], [TextPart("right way")], dmail=True)
    await in_time(turn)

    sent = [message.text for message in turn.model.sent[2]]
    assert "hi" in sent
    assert not any("wrong way" in text for text in sent)
    assert any("use tabs" in text for text in sent)
    assert turn.texts()[-1] == "right way"
    assert [(event.to, event.reason) for event in turn.of(Reverted)] == [(1, "dmail")]


@pytest.mark.parametrize("checkpoint", [0, 1])
async def test_no_dmail_loses_the_users_request(tmp_path: Path, checkpoint: int) -> None:
    turn = Turn(tmp_path, [mail(checkpoint)], [TextPart("done")], dmail=True)
    await in_time(turn, "the request")
    sent = [message.text for message in turn.model.sent[1]]
    assert sent.count("the request") == 1


async def test_a_dmail_to_an_earlier_turn_keeps_todays_request_even_if_the_words_are_the_same(
    tmp_path: Path,
) -> None:
    turn = Turn(tmp_path, [TextPart("first")], [mail(0)], [TextPart("done")], dmail=True)
    await in_time(turn, "again")
    await in_time(turn, "again")
    sent = [message.text for message in turn.model.sent[2]]
    assert sent.count("again") == 1
    assert "first" not in sent


@pytest.mark.parametrize("checkpoint", [0, 1, 2])
async def test_no_dmail_loses_what_the_user_said_meanwhile(tmp_path: Path, checkpoint: int) -> None:
    turn = Turn(tmp_path, dmail=True)
    turn.model.replies = [
        [_steering(turn, "in French"), call("x")],
        [_steering(turn, "and short"), call("y", "c2")],
        [mail(checkpoint)],
        [TextPart("done")],
    ]
    await in_time(turn, "the request")
    said = [message.text for message in turn.model.sent[3] if not message.text.startswith("<system>")]
    assert [text for text in said if text in ("the request", "in French", "and short")] == [
        "the request",
        "in French",
        "and short",
    ]


async def test_no_dmail_loses_the_request_when_it_is_interrupted(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [TextPart("first")], [mail(0)], [TextPart("done")], dmail=True)
    await in_time(turn, "before")
    running = asyncio.ensure_future(in_time(turn, "the request"))
    turn.on_event = lambda event: running.cancel() if isinstance(event, Reverted) else None
    with pytest.raises(asyncio.CancelledError):
        await running
    assert turn.texts().count("the request") == 1
    assert any("use tabs" in text for text in turn.texts())


async def test_checkpoint_ids_are_never_used_again_after_a_dmail(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [mail(1)], [TextPart("done")], dmail=True)
    await in_time(turn)
    ids = [event.id for event in turn.of(CheckpointCreated)]
    assert ids == sorted(set(ids))


async def test_a_restored_context_is_what_the_turn_left(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [TextPart("a"), call("x"), TokenUsage(5, 5)], [TextPart("b"), TokenUsage(7, 3)])
    await in_time(turn)
    again = Context(tmp_path / "context.jsonl")
    await again.restore()
    assert list(again.history) == list(turn.context.history)
    assert again.token_count == 10
    assert not again.repairs


async def test_a_dmail_of_a_step_that_was_cancelled_goes_nowhere(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [mail(1), call("wait")], [call("x", "c2")], [TextPart("done")], dmail=True)
    running = asyncio.ensure_future(in_time(turn))
    while not turn.of(ToolResult):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    await in_time(turn, "go on")
    assert not turn.of(Reverted)
    assert turn.texts()[-1] == "done"


async def test_what_was_said_before_a_defect_is_kept(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [TextPart("half"), ZeroDivisionError("by design")], [TextPart("whole")])
    with pytest.raises(ZeroDivisionError):
        await in_time(turn)
    assert turn.texts()[:2] == ["hi", "half"]
    assert turn.of(StepInterrupted)
    await in_time(turn, "again")
    assert turn.texts()[-1] == "whole"


async def test_a_call_is_paid_for_at_the_price_of_the_model_that_answered_it(tmp_path: Path) -> None:
    turn = Turn(tmp_path, price=Price(input=1.0))
    dear = replace(turn.behaviour.require_llm(), price=Price(input=100.0))

    async def switch() -> None:
        turn.behaviour.llm = dear

    turn.model.replies = [[TextPart("hi"), switch, TokenUsage(1_000_000)]]
    await in_time(turn)
    assert turn.of(CostUpdate)[-1].cost_usd == pytest.approx(1.0)


async def test_attempts_that_failed_are_paid_for_too(tmp_path: Path) -> None:
    turn = Turn(
        tmp_path,
        [TokenUsage(1_000_000), TextPart("half"), APIConnectionError("gone")],
        [TextPart("whole"), TokenUsage(1_000_000)],
        limits=Limits(max_attempts=2),
        price=Price(input=1.0),
    )
    await in_time(turn)
    assert turn.of(CostUpdate)[-1].cost_usd == pytest.approx(2.0)


async def test_an_image_that_was_refused_does_not_stand_in_the_way_of_the_next_turn(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [TextPart("fine")])
    turn.behaviour.llm = replace(turn.behaviour.require_llm(), max_context_size=100_000)
    image = ImageURLPart(MediaURL("data:image/png;base64,AA=="))
    with pytest.raises(ModelNotSupported):
        await turn.soul.run((TextPart("see"), image))

    await in_time(turn, "without it then")
    assert not any(image in message.content for message in turn.model.sent[0])
    assert any(image in message.content for message in turn.context.history)


async def test_a_steer_that_is_taken_in_while_the_turn_is_cancelled_is_said_once(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [call("wait")], [TextPart("done")])
    running = asyncio.ensure_future(in_time(turn))
    while not turn.of(ToolCall):
        await asyncio.sleep(0)
    turn.soul.steer("in French")
    running.cancel()
    while not running.done():
        running.cancel()
        await asyncio.sleep(0)

    await in_time(turn, "go on")
    assert turn.texts().count("in French") == 1


async def test_thoughts_alone_are_kept_when_the_turn_is_cancelled(tmp_path: Path) -> None:
    turn = Turn(tmp_path, [ThinkPart("let me see"), asyncio.Event().wait], [TextPart("fine")])
    running = asyncio.ensure_future(in_time(turn))
    turn.on_event = lambda event: running.cancel() if isinstance(event, ThinkPart) else None
    with pytest.raises(asyncio.CancelledError):
        await running

    assert turn.context.history[1].content == (ThinkPart("let me see"),)
    assert "still thinking" in turn.texts()[2]
    turn.on_event = lambda _: None
    await in_time(turn, "go on")
    assert turn.texts()[-1] == "fine"


async def test_doing_the_same_again_and_again_is_pointed_out_then_stops_the_turn(tmp_path: Path) -> None:
    limits = Limits(repetition=RepetitionLimits(told_after=2, stopped_after=4))
    turn = Turn(tmp_path, *([call("x", f"c{n}")] for n in range(9)), limits=limits)
    with pytest.raises(LimitReached, match="the same 4 times"):
        await in_time(turn)

    assert len(turn.of(StepBegin)) == 4
    assert not turn.of(StepInterrupted)
    notes = [text for text in turn.texts() if "the same" in text]
    assert ["2 times" in notes[0], "3 times" in notes[1], "4 times" in notes[2]] == [True] * 3
    for earlier, later in pairwise(turn.model.sent):
        assert later[: len(earlier)] == earlier


async def test_what_is_said_of_plan_mode_only_ever_adds_to_what_was_sent(tmp_path: Path) -> None:
    turn = Turn(tmp_path, *([call("x")], [TextPart("done")]) * 3)
    for is_on in (True, True, False):
        turn.behaviour.plan_mode.is_on = is_on
        await in_time(turn)

    assert len(turn.model.sent) == 6
    for earlier, later in pairwise(turn.model.sent):
        assert later[: len(earlier)] == earlier
    notes = [text for text in turn.texts() if text.startswith("<system>Plan mode")]
    assert [note[:25] for note in notes] == ["<system>Plan mode is on: ", "<system>Plan mode is off:"]
