"""Channel between the engine and its front ends."""

import asyncio

import pytest

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import Interrupt, Prompt
from kimi_tui.wire.events import ApprovalResponse, RequestClosed, StepBegin, ToolOutput, TurnEnd
from kimi_tui.wire.requests import ApprovalRequest, QuestionResponse


def request(request_id: str = "r1") -> ApprovalRequest:
    return ApprovalRequest(request_id, "c1", "Bash", "run command", "ls")


async def test_each_subscriber_gets_every_event_in_order() -> None:
    wire = Wire()
    first, second = wire.subscribe(), wire.subscribe()

    wire.send(StepBegin(1))
    wire.send(TurnEnd())

    assert await first.drain() == await second.drain() == [StepBegin(1), TurnEnd()]


async def test_adjacent_fragments_are_merged() -> None:
    wire = Wire()
    subscription = wire.subscribe()
    call = ToolCall("c1", FunctionCall("Bash", ""))

    for event in (
        ThinkPart("a"), ThinkPart("b", "signature"), ThinkPart("c"),
        TextPart("d"), TextPart("e"), call, ToolCallPart('{"x'), ToolCallPart('":1}'),
        ToolCallPart("late", "c0"), TextPart("f"),
    ):  # fmt: skip
        wire.send(event)

    assert await subscription.drain() == [
        ThinkPart("ab", "signature"), ThinkPart("c"), TextPart("de"), call,
        ToolCallPart('{"x":1}'), ToolCallPart("late", "c0"), TextPart("f"),
    ]  # fmt: skip


async def test_a_subscription_without_fragments_is_not_woken_for_them() -> None:
    wire = Wire()
    subscription = wire.subscribe(fragments=False)
    reading = asyncio.create_task(subscription.drain())
    await asyncio.sleep(0)
    for part in (TextPart("a"), ThinkPart("b"), ToolCallPart("{}"), ToolOutput("c1", "out")):
        wire.send(part)
    assert not subscription.has_pending
    wire.send(StepBegin(1))
    assert await reading == [StepBegin(1)]


async def test_a_request_is_answered_only_once() -> None:
    wire = Wire()
    answer = asyncio.ensure_future(wire.ask(request()))
    await asyncio.sleep(0)

    assert wire.answer(ApprovalResponse("r1", "approve"))
    assert not wire.answer(ApprovalResponse("r1", "reject"))
    assert await answer == ApprovalResponse("r1", "approve")


async def test_an_answer_of_another_type_is_rejected() -> None:
    wire = Wire()
    answer = asyncio.ensure_future(wire.ask(request()))
    await asyncio.sleep(0)

    assert not wire.answer(QuestionResponse("r1", {}))
    assert wire.answer(ApprovalResponse("r1", "approve"))
    assert await answer == ApprovalResponse("r1", "approve")


async def test_an_answer_at_the_same_time_as_an_interrupt_is_too_late() -> None:
    wire = Wire()
    subscription = wire.subscribe()
    answer = asyncio.ensure_future(wire.ask(request()))
    await asyncio.sleep(0)

    wire.answer(ApprovalResponse("r1", "approve"))
    answer.cancel()

    with pytest.raises(asyncio.CancelledError):
        await answer
    assert await subscription.drain() == [request(), RequestClosed("r1")]


async def test_a_request_that_is_not_open_cannot_be_answered() -> None:
    assert not Wire().answer(ApprovalResponse("replayed", "approve"))


async def test_an_interrupted_request_is_closed_for_the_front_ends() -> None:
    wire = Wire()
    subscription = wire.subscribe()
    answer = asyncio.ensure_future(wire.ask(request()))
    await asyncio.sleep(0)

    answer.cancel()

    with pytest.raises(asyncio.CancelledError):
        await answer
    assert await subscription.drain() == [request(), RequestClosed("r1")]


async def test_queued_messages_are_delivered_after_closing() -> None:
    wire = Wire()
    subscription = wire.subscribe()
    wire.send(StepBegin(1))
    wire.close()

    assert [message async for message in subscription] == [StepBegin(1)]
    with pytest.raises(WireClosed):
        await wire.ask(request())


async def test_commands_arrive_in_order_until_the_wire_closes() -> None:
    wire = Wire()
    wire.command(Prompt("hi"))
    wire.command(Interrupt())
    wire.close()
    wire.command(Prompt("too late"))

    assert [command async for command in wire.commands()] == [Prompt("hi"), Interrupt()]
