"""Blocking work that is carried to its end, come what may."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def run_to_end(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in a thread and wait until it has ended, also when cancelled meanwhile.

    A cancellation takes effect afterwards; an exception of `function` is then logged nowhere else, so it
    becomes the cancellation's cause.
    """
    work = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError as cancellation:
        while not work.done():
            try:
                await asyncio.wait([work])
            except asyncio.CancelledError:
                continue
        if not work.cancelled() and (error := work.exception()) is not None:
            raise cancellation from error
        raise
