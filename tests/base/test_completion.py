"""Blocking work that is carried to its end."""

import asyncio
import threading

import pytest

from kimi_tui.base.completion import run_to_end
from tests.patience import PATIENCE_S


class Disk:
    """A write that goes on until it is let go."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.may_end = threading.Event()
        self.is_done = False

    def write(self) -> str:
        self.began.set()
        self.may_end.wait(PATIENCE_S)
        self.is_done = True
        return "written"


@pytest.mark.timeout(60)
async def test_a_write_that_began_is_finished_before_the_cancellation() -> None:
    disk = Disk()
    running = asyncio.ensure_future(run_to_end(disk.write))
    await asyncio.to_thread(disk.began.wait, PATIENCE_S)
    for _ in range(3):
        running.cancel()
        await asyncio.sleep(0)
    assert not running.done()

    disk.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert disk.is_done


class DiskFull(Exception):
    """What the work failed with."""


@pytest.mark.timeout(60)
async def test_a_failure_after_the_cancellation_is_its_cause() -> None:
    disk = Disk()

    def fail() -> None:
        disk.write()
        raise DiskFull

    running = asyncio.ensure_future(run_to_end(fail))
    await asyncio.to_thread(disk.began.wait, PATIENCE_S)
    running.cancel()
    await asyncio.sleep(0)
    disk.may_end.set()
    with pytest.raises(asyncio.CancelledError) as caught:
        await running
    assert isinstance(caught.value.__cause__, DiskFull)
