"""Delivery of messages from the wire to the screen."""

import asyncio

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.frontend.pump import pump
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.events import StepBegin, TurnBegin
from tests.loop_clock import LoopClock


class RecordingView:
    """Records the batches that it shows. Each takes `cost_s` seconds."""

    def __init__(self, *, cost_s: float = 0.0) -> None:
        self.batches: list[list[Outgoing]] = []
        self.now = 0.0
        self._cost_s = cost_s

    def clock(self) -> float:
        return self.now

    def show_batch(self, batch: list[Outgoing]) -> None:
        self.batches.append(batch)
        self.now += self._cost_s
        if batch == [StepBegin(404)]:
            raise ValueError("no")

    async def wait_for_batches(self, count: int) -> None:
        while len(self.batches) < count:
            await asyncio.sleep(0)


async def test_the_first_message_is_shown_immediately_and_the_rest_of_the_frame_in_one_batch() -> None:
    wire, view = Wire(), RecordingView()
    clock = LoopClock()
    pumping = asyncio.create_task(pump(wire.subscribe(), view, frame_s=1000))
    wire.send(TurnBegin("hi"))
    await view.wait_for_batches(1)
    assert view.batches == [[TurnBegin("hi")]]
    for word in ("a", "b", "c"):
        wire.send(TextPart(word))
        await asyncio.sleep(0)
    assert len(view.batches) == 1
    clock.advance(1000)
    await view.wait_for_batches(2)
    assert view.batches[1] == [TextPart("abc")]
    wire.close()
    clock.advance(1000)
    await pumping


async def test_slow_batches_leave_most_of_the_time_to_other_work() -> None:
    wire, view = Wire(), RecordingView(cost_s=0.08)
    clock = LoopClock()
    pumping = asyncio.create_task(pump(wire.subscribe(), view, frame_s=0, now=view.clock))
    wire.send(TextPart("a"))
    await view.wait_for_batches(1)
    started_at = asyncio.get_running_loop().time()
    wire.send(TextPart("b"))
    await view.wait_for_batches(2)
    assert asyncio.get_running_loop().time() - started_at >= 0.2
    wire.close()
    clock.advance(1)
    await pumping


async def test_a_long_replay_does_not_delay_the_messages_that_follow() -> None:
    wire, view = Wire(), RecordingView(cost_s=1000)
    pumping = asyncio.create_task(pump(wire.subscribe(), view, frame_s=0, now=view.clock))
    wire.send(TextPart("a"))
    await view.wait_for_batches(1)
    wire.send(TextPart("b"))
    await asyncio.wait_for(view.wait_for_batches(2), 10)
    wire.close()
    await pumping


async def test_everything_is_shown_when_the_wire_closes() -> None:
    wire, view = Wire(), RecordingView()
    subscription = wire.subscribe()
    wire.send(StepBegin(1))
    wire.send(TextPart("last words"))
    wire.close()
    await pump(subscription, view)
    assert view.batches == [[StepBegin(1), TextPart("last words")]]


async def test_a_batch_that_cannot_be_shown_does_not_stop_the_next(caplog: pytest.LogCaptureFixture) -> None:
    wire, view = Wire(), RecordingView()
    pumping = asyncio.create_task(pump(wire.subscribe(), view, frame_s=0))
    wire.send(StepBegin(404))
    await view.wait_for_batches(1)
    wire.send(StepBegin(2))
    wire.close()
    await pumping
    assert view.batches == [[StepBegin(404)], [StepBegin(2)]]
    assert "could not be shown" in caplog.text
