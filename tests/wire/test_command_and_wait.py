"""Waiting for the engine to finish a command."""

import asyncio

import pytest

from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import Interrupt, RunSlash
from kimi_tui.wire.events import StepBegin


async def test_events_of_a_command_are_queued_when_it_is_done() -> None:
    wire = Wire()
    subscription = wire.subscribe()

    async def engine() -> None:
        async for command in wire.commands():
            if isinstance(command, RunSlash):
                await asyncio.sleep(0)
                wire.send(StepBegin(1))

    engine_task = asyncio.ensure_future(engine())
    wire.command(Interrupt())
    await wire.command_and_wait(RunSlash("go"))
    assert subscription.has_pending
    assert subscription.pop_pending() == [StepBegin(1)]
    assert not subscription.has_pending
    wire.close()
    await engine_task


async def test_a_deferred_command_is_done_when_its_work_has_finished() -> None:
    wire = Wire()
    work = asyncio.get_running_loop().create_future()

    async def engine() -> None:
        async for command in wire.commands():
            if isinstance(command, RunSlash):
                wire.defer_completion(work)
            else:
                work.set_result(None)

    engine_task = asyncio.ensure_future(engine())
    deferred = asyncio.ensure_future(wire.command_and_wait(RunSlash("go")))
    await asyncio.sleep(0)
    assert not deferred.done()
    await wire.command_and_wait(Interrupt())
    await deferred
    wire.close()
    await engine_task


async def test_waiting_ends_when_the_engine_closes_the_wire() -> None:
    wire = Wire()
    pending = asyncio.ensure_future(wire.command_and_wait(RunSlash("go")))
    await asyncio.sleep(0)
    wire.close()
    with pytest.raises(WireClosed):
        await pending
    with pytest.raises(WireClosed):
        await wire.command_and_wait(RunSlash("again"))
