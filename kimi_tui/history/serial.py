"""Serial work: one thing at a time, each to its end."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from kimi_tui.base.completion import carry_out

T = TypeVar("T")
P = ParamSpec("P")


class Serial:
    """Runs pieces of work one after another.

    A caller that is cancelled meanwhile is cancelled when its work is done: what a write does to the disk and
    what it does to memory are never torn apart.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` and return its result. Raises what it raises; a CancelledError goes first."""
        return await carry_out(self._alone(work))

    async def _alone(self, work: Coroutine[Any, Any, T]) -> T:
        async with self._lock:
            return await work


class HasSerial(Protocol):
    """An object whose changes are serial work."""

    _serial: Serial


S = TypeVar("S", bound=HasSerial)


def serially(
    method: Callable[Concatenate[S, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """A method that is one piece of its object's serial work. It must not call another one."""

    @wraps(method)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._serial.run(method(self, *args, **kwargs))

    return run
