"""Waiting until the engine is done with a command."""

import asyncio

import pytest

from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import Interrupt, RunSlash
from kimi_tui.wire.events import StepBegin


async def test_what_a_command_sends_is_there_once_it_is_carried_out() -> None:
    wire = Wire()
    subscription = wire.subscribe()

    async def engine() -> None:
        async for command in wire.commands():
            if isinstance(command, RunSlash):
                await asyncio.sleep(0)
                wire.send(StepBegin(1))

    serving = asyncio.ensure_future(engine())
    wire.command(Interrupt())
    await wire.carry_out(RunSlash("go"))
    assert subscription.has_pending
    assert subscription.take() == [StepBegin(1)]
    assert not subscription.has_pending
    wire.close()
    await serving


async def test_a_command_that_goes_on_beside_the_others_is_carried_out_when_its_work_has_ended() -> None:
    wire = Wire()
    work = asyncio.get_running_loop().create_future()

    async def engine() -> None:
        async for command in wire.commands():
            if isinstance(command, RunSlash):
                wire.goes_on(work)
            else:
                work.set_result(None)

    serving = asyncio.ensure_future(engine())
    long = asyncio.ensure_future(wire.carry_out(RunSlash("go")))
    await asyncio.sleep(0)
    assert not long.done()
    await wire.carry_out(Interrupt())
    await long
    wire.close()
    await serving


async def test_nobody_waits_for_an_engine_that_has_gone() -> None:
    wire = Wire()
    waiting = asyncio.ensure_future(wire.carry_out(RunSlash("go")))
    await asyncio.sleep(0)
    wire.close()
    with pytest.raises(WireClosed):
        await waiting
    with pytest.raises(WireClosed):
        await wire.carry_out(RunSlash("again"))
