"""Delivery of messages from the wire to the screen."""

import asyncio

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.frontend.pump import pump
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.events import StepBegin, TurnBegin
from tests.loop_clock import LoopClock


async def test_the_first_message_is_shown_immediately_and_the_rest_of_the_frame_in_one_batch() -> None:
    wire, batches = Wire(), []
    clock = LoopClock()
    pumping = asyncio.create_task(pump(wire.subscribe(), batches.append, frame_s=1000))
    wire.send(TurnBegin("hi"))
    while not batches:
        await asyncio.sleep(0)
    assert batches == [[TurnBegin("hi")]]
    for word in ("a", "b", "c"):
        wire.send(TextPart(word))
        await asyncio.sleep(0)
    assert len(batches) == 1
    clock.advance(1000)
    while len(batches) < 2:
        await asyncio.sleep(0)
    assert batches[1] == [TextPart("abc")]
    wire.close()
    clock.advance(1000)
    await pumping


async def test_everything_is_shown_when_the_wire_closes() -> None:
    wire = Wire()
    seen: list[Outgoing] = []
    subscription = wire.subscribe()
    wire.send(StepBegin(1))
    wire.send(TextPart("last words"))
    wire.close()
    await pump(subscription, seen.extend)
    assert seen == [StepBegin(1), TextPart("last words")]


async def test_a_batch_that_cannot_be_shown_does_not_stop_the_next(caplog: pytest.LogCaptureFixture) -> None:
    wire = Wire()
    subscription = wire.subscribe()
    seen: list[Outgoing] = []

    def show(batch: list[Outgoing]) -> None:
        seen.extend(batch)
        if batch == [StepBegin(1)]:
            raise ValueError("no")

    pumping = asyncio.create_task(pump(subscription, show, frame_s=0))
    wire.send(StepBegin(1))
    while not seen:
        await asyncio.sleep(0)
    wire.send(StepBegin(2))
    wire.close()
    await pumping
    assert seen == [StepBegin(1), StepBegin(2)]
    assert "could not be shown" in caplog.text
