"""Reading from a pipe beside the event loop."""

import asyncio
import contextlib
import threading
from collections.abc import Callable

from kimi_tui.base.raw_input import LineTooLong


async def read_in_thread(read: Callable[[], bytes]) -> bytes:
    """What `read` returns. Raises its OSError and LineTooLong. Cancelled, its thread is left to itself.

    The loop's own executor won't do: it is joined when the loop ends, and a read from a pipe that nobody
    closes would hold the process.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[bytes] = loop.create_future()

    def settle(data: bytes, error: Exception | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(data)
        else:
            future.set_exception(error)

    def work() -> None:
        data: bytes = b""
        failure: Exception | None = None
        try:
            data = read()
        except (OSError, LineTooLong) as error:
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits any more
            loop.call_soon_threadsafe(settle, data, failure)

    threading.Thread(target=work, daemon=True).start()
    return await future
