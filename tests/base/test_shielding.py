"""Blocking work finishes even if its caller is canceled."""

import asyncio
import threading

import pytest

from kimi_tui.base.shielding import run_in_thread_shielded
from tests.timeouts import TEST_TIMEOUT_S


class Disk:
    """A write that blocks until `may_end` is set."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.may_end = threading.Event()
        self.is_done = False

    def write(self) -> str:
        self.began.set()
        self.may_end.wait(TEST_TIMEOUT_S)
        self.is_done = True
        return "written"


@pytest.mark.timeout(60)
async def test_a_running_write_finishes_before_the_cancellation() -> None:
    disk = Disk()
    running = asyncio.ensure_future(run_in_thread_shielded(disk.write))
    await asyncio.to_thread(disk.began.wait, TEST_TIMEOUT_S)
    for _ in range(3):
        running.cancel()
        await asyncio.sleep(0)
    assert not running.done()

    disk.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert disk.is_done


class DiskFull(Exception):
    """Error of the shielded work."""


@pytest.mark.timeout(60)
async def test_an_error_after_the_cancellation_becomes_its_cause() -> None:
    disk = Disk()

    def fail() -> None:
        disk.write()
        raise DiskFull

    running = asyncio.ensure_future(run_in_thread_shielded(fail))
    await asyncio.to_thread(disk.began.wait, TEST_TIMEOUT_S)
    running.cancel()
    await asyncio.sleep(0)
    disk.may_end.set()
    with pytest.raises(asyncio.CancelledError) as caught:
        await running
    assert isinstance(caught.value.__cause__, DiskFull)
