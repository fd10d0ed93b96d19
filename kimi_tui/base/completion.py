"""Work that is carried to its end, come what may."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def carry_out(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` to its end, also when cancelled meanwhile.

    A cancellation takes effect afterwards; an exception of `work` is then logged nowhere else, so it becomes
    the cancellation's cause.
    """
    running = asyncio.ensure_future(work)
    cancellation: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation is not None:
        raise cancellation from None if running.cancelled() else running.exception()
    return running.result()


async def run_to_end(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in a thread and wait until it has ended, as `carry_out` does."""
    return await carry_out(asyncio.to_thread(function, *args, **kwargs))
