"""The channel between the engine and its front ends."""

import asyncio

import pytest

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import Interrupt, Prompt
from kimi_tui.wire.events import ApprovalResponse, RequestClosed, StepBegin, TurnEnd
from kimi_tui.wire.requests import ApprovalRequest, QuestionResponse


def request(request_id: str = "r1") -> ApprovalRequest:
    return ApprovalRequest(request_id, "c1", "Bash", "run command", "ls")


async def test_each_subscriber_gets_every_event_in_order() -> None:
    wire = Wire()
    first, second = wire.subscribe(), wire.subscribe()

    wire.send(StepBegin(1))
    wire.send(TurnEnd())

    assert await first.drain() == await second.drain() == [StepBegin(1), TurnEnd()]


async def test_adjacent_fragments_arrive_as_one() -> None:
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


async def test_an_answer_reaches_whoever_asked_and_only_once() -> None:
    wire = Wire()
    asking = asyncio.ensure_future(wire.ask(request()))
    await asyncio.sleep(0)

    assert wire.answer(ApprovalResponse("r1", "approve"))
    assert not wire.answer(ApprovalResponse("r1", "reject"))
    assert await asking == ApprovalResponse("r1", "approve")


async def test_an_answer_of_another_kind_is_none() -> None:
    wire = Wire()
    asking = asyncio.ensure_future(wire.ask(request()))
    await asyncio.sleep(0)

    assert not wire.answer(QuestionResponse("r1", {}))
    assert wire.answer(ApprovalResponse("r1", "approve"))
    assert await asking == ApprovalResponse("r1", "approve")


async def test_an_answer_that_comes_along_with_the_interrupt_is_too_late() -> None:
    wire = Wire()
    subscription = wire.subscribe()
    asking = asyncio.ensure_future(wire.ask(request()))
    await asyncio.sleep(0)

    wire.answer(ApprovalResponse("r1", "approve"))
    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await subscription.drain() == [request(), RequestClosed("r1")]


async def test_a_request_that_nobody_asks_any_more_can_not_be_answered() -> None:
    assert not Wire().answer(ApprovalResponse("replayed", "approve"))


async def test_an_interrupted_request_is_closed_for_the_front_ends() -> None:
    wire = Wire()
    subscription = wire.subscribe()
    asking = asyncio.ensure_future(wire.ask(request()))
    await asyncio.sleep(0)

    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await subscription.drain() == [request(), RequestClosed("r1")]


async def test_closing_delivers_what_was_sent_and_then_ends() -> None:
    wire = Wire()
    subscription = wire.subscribe()
    wire.send(StepBegin(1))
    wire.close()

    assert [message async for message in subscription] == [StepBegin(1)]
    with pytest.raises(WireClosed):
        await wire.ask(request())


async def test_commands_come_in_order_until_the_wire_closes() -> None:
    wire = Wire()
    wire.command(Prompt("hi"))
    wire.command(Interrupt())
    wire.close()
    wire.command(Prompt("too late"))

    assert [command async for command in wire.commands()] == [Prompt("hi"), Interrupt()]
