"""When a failed model call is tried again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import tenacity

from kimi_tui.base.errors import APIConnectionError, APIStatusError, ChatProviderError
from kimi_tui.wire.events import StepRetry

T = TypeVar("T")

LONGEST_WAIT_S = 5.0
LONGEST_COMPACTION_WAIT_S = 10.0
LONGEST_RETRY_AFTER_S = 120.0
"""A server that asks for a longer wait is taken at its word: the turn ends and says so."""
DROPPED_WAITS_S = (1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0)
"""Waits for a server that was there and can't be reached: a minute, in which a network can change or come
back. Attempts that reach nobody don't count among `max_attempts`."""


async def with_retries(
    attempt: Callable[[], Awaitable[T]],
    *,
    step: int,
    max_attempts: int,
    on_retry: Callable[[StepRetry], None],
    longest_wait_s: float = LONGEST_WAIT_S,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> T:
    """Await `attempt()` up to `max_attempts` times while it raises retryable provider errors.

    The wait between two attempts grows from 0.3 s to `longest_wait_s`, or is what the server asks for. A
    server that was there and can't be reached any more is waited for as long as `DROPPED_WAITS_S`, unless
    there is to be one attempt only. Raises the last attempt's error.
    """
    own_wait = tenacity.wait_exponential_jitter(multiplier=0.3, max=longest_wait_s, jitter=0.5)
    jitter = tenacity.wait_random(0, 0.5)
    failed = 0
    """Attempts that count."""
    unreached = 0
    """Attempts since then that reached nobody."""

    async def counted() -> T:
        nonlocal failed, unreached
        try:
            return await attempt()
        except Exception as error:
            if _is_dropped(error) and max_attempts > 1:
                unreached += 1
            else:
                failed, unreached = failed + 1, 0
            raise

    def attempts_left() -> int:
        return len(DROPPED_WAITS_S) + 1 - unreached if unreached else max_attempts - failed

    def wait(state: tenacity.RetryCallState) -> float:
        if unreached:
            return DROPPED_WAITS_S[min(unreached, len(DROPPED_WAITS_S)) - 1] + jitter(state)
        return max(own_wait(state), _retry_after(_error_of(state)) or 0.0)

    def announce(state: tenacity.RetryCallState) -> None:
        error = _error_of(state)
        on_retry(
            StepRetry(
                n=step,
                next_attempt=state.attempt_number + 1,
                max_attempts=state.attempt_number + attempts_left(),
                wait_s=round(state.upcoming_sleep, 2),
                error_type=type(error).__name__,
                status_code=error.status_code if isinstance(error, APIStatusError) else None,
            )
        )

    retrying = tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception(_may_succeed_later),
        wait=wait,
        stop=lambda _: attempts_left() <= 0,
        before_sleep=announce,
        sleep=sleep,
        reraise=True,
    )
    return await retrying(counted)


def _may_succeed_later(error: BaseException) -> bool:
    return (
        isinstance(error, ChatProviderError)
        and error.retryable
        and (_retry_after(error) or 0.0) <= LONGEST_RETRY_AFTER_S
    )


def _is_dropped(error: Exception) -> bool:
    return isinstance(error, APIConnectionError) and error.dropped


def _retry_after(error: BaseException | None) -> float | None:
    return error.retry_after if isinstance(error, APIStatusError) else None


def _error_of(state: tenacity.RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None
