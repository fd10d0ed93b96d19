"""Output to a slow or closed pipe."""

import asyncio
import io
import os
import threading

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.output_stream import OutputStream

from .conftest import HANG, STEP

BIG = "x" * 100_000


class Pipe:
    """A pipe that is read only on request."""

    def __init__(self):
        self.read_end, write_end = os.pipe()
        self.stream = io.FileIO(write_end, "wb")

    def read_all(self):
        with os.fdopen(self.read_end, "rb") as reader:
            return reader.read()


@pytest.fixture
def pipe():
    pipe = Pipe()
    yield pipe
    pipe.stream.close()


async def test_a_slow_reader_blocks_the_writer_but_not_the_event_loop(pipe):
    output = OutputStream(pipe.stream, limit=1000)
    writing = asyncio.create_task(output.write(BIG))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not writing.done()
    reader = threading.Thread(target=pipe.read_all)
    reader.start()
    await writing
    await output.close()
    pipe.stream.close()
    reader.join()


async def test_output_arrives_in_order_through_a_nonblocking_pipe(pipe):
    os.set_blocking(pipe.stream.fileno(), False)
    output = OutputStream(pipe.stream)
    reading = asyncio.create_task(asyncio.to_thread(pipe.read_all))
    for number in range(50):
        await output.write(f"{number}:{BIG}\n")
    await output.close()
    pipe.stream.close()
    lines = (await reading).decode().splitlines()
    assert [line.partition(":")[0] for line in lines] == [str(number) for number in range(50)]
    assert all(line.endswith(BIG) for line in lines)


async def test_a_closed_pipe_breaks_the_output_and_unblocks_the_writer(pipe):
    os.close(pipe.read_end)
    output = OutputStream(pipe.stream, limit=1000)
    await output.write(BIG)
    await output.broken.wait()
    assert isinstance(output.error, BrokenPipeError)
    await output.write(BIG)
    await output.close()


async def test_a_closed_stdout_stops_the_turn_silently(run, pipe):
    os.close(pipe.read_end)
    run.stdout = pipe.stream
    await run.play([STEP, TextPart("Half"), HANG])
    assert run.exit_code == 141
    assert run.stderr.text == ""
    assert run.wire.is_closed


async def test_a_full_disk_is_reported(run):
    with io.FileIO("/dev/full", "wb") as full:
        run.stdout = full
        await run.play([STEP, TextPart("Half"), HANG])
    assert run.exit_code == 1
    assert "Can't write the output: No space left" in run.stderr.text


async def test_a_signal_ends_a_run_with_unread_output(run, pipe):
    run.stdout = pipe.stream

    async with asyncio.TaskGroup() as group:
        group.create_task(run.play([STEP, TextPart(BIG)]))
        await asyncio.sleep(0)
        while not run.wire.is_closed:
            await asyncio.sleep(0.01)
        run.interruption.request_stop(15)
    assert run.exit_code == 143
    os.close(pipe.read_end)
