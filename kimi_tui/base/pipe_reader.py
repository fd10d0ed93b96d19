"""Reading from a pipe without blocking the event loop."""

import asyncio
import contextlib
import threading
from collections.abc import Callable

from kimi_tui.base.raw_input import LineTooLong


async def read_in_thread(read: Callable[[], bytes]) -> bytes:
    """Call `read` in a thread and return its result. Raises its OSError or LineTooLong.

    If canceled, the thread continues on its own. The loop's executor isn't suitable: it is joined when the
    loop ends, and a read from an open pipe would block the process.
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
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, data, failure)

    threading.Thread(target=work, daemon=True).start()
    return await future
