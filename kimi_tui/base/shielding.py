"""Work that finishes even if the caller is canceled."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def run_shielded(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` until it finishes, even if this task is canceled.

    The cancellation is raised afterwards. An exception of `work` becomes its cause, since it isn't reported
    anywhere else.
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


async def run_in_thread_shielded(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in a thread and wait until it finishes, like `run_shielded`."""
    return await run_shielded(asyncio.to_thread(function, *args, **kwargs))
