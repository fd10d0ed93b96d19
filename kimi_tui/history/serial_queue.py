"""Serial queue: runs coroutines one at a time, shielded from cancellation."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from kimi_tui.base.shielding import run_shielded

T = TypeVar("T")
P = ParamSpec("P")


class SerialQueue:
    """Runs coroutines one after another.

    If a caller is canceled, it sees the cancellation only when its work is done. So the state on disk and the
    state in memory never differ.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work`. Return its result or raise its error; if the caller was canceled, CancelledError."""
        return await run_shielded(self._run_exclusively(work))

    async def _run_exclusively(self, work: Coroutine[Any, Any, T]) -> T:
        async with self._lock:
            return await work


class HasSerialQueue(Protocol):
    """An object whose changes go through a serial queue."""

    _serial_queue: SerialQueue


S = TypeVar("S", bound=HasSerialQueue)


def run_serially(
    method: Callable[Concatenate[S, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Decorate a method to run in its object's serial queue.

    The method must not call another decorated method of the object: the two would wait for each other.
    """

    @wraps(method)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._serial_queue.run(method(self, *args, **kwargs))

    return run
