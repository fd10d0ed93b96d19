"""Retries of failed model calls."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import tenacity

from kimi_tui.base.errors import APIConnectionError, APIStatusError, ChatProviderError
from kimi_tui.wire.events import StepRetry

T = TypeVar("T")

MAX_WAIT_S = 5.0
MAX_COMPACTION_WAIT_S = 10.0
MAX_RETRY_AFTER_S = 120.0
"""Longest wait that a server may request. If the server requests a longer wait, the call isn't retried."""
CONNECTION_LOST_WAITS_S = (1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0)
"""Waits in seconds for a server that has become unreachable: one minute in total, for the network to recover.

Attempts that don't reach the server don't count toward `max_attempts`.
"""


async def run_with_retries(
    attempt: Callable[[], Awaitable[T]],
    *,
    step: int,
    max_attempts: int,
    on_retry: Callable[[StepRetry], None],
    max_wait_s: float = MAX_WAIT_S,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> T:
    """Await `attempt()` up to `max_attempts` times while it raises retryable provider errors.

    The wait between two attempts grows from 0.3 s to `max_wait_s`. If the server requests a longer wait, that
    wait applies. If the server has become unreachable, the waits are CONNECTION_LOST_WAITS_S, unless
    `max_attempts` is 1.

    Raises: the last attempt's error.
    """
    backoff = tenacity.wait_exponential_jitter(multiplier=0.3, max=max_wait_s, jitter=0.5)
    jitter = tenacity.wait_random(0, 0.5)
    failed = 0
    """Failed attempts that reached the server."""
    unreached = 0
    """Attempts since then that didn't reach the server."""

    async def run_attempt() -> T:
        nonlocal failed, unreached
        try:
            return await attempt()
        except Exception as error:
            if _is_connection_lost(error) and max_attempts > 1:
                unreached += 1
            else:
                failed, unreached = failed + 1, 0
            raise

    def attempts_left() -> int:
        return len(CONNECTION_LOST_WAITS_S) + 1 - unreached if unreached else max_attempts - failed

    def wait(state: tenacity.RetryCallState) -> float:
        if unreached:
            return CONNECTION_LOST_WAITS_S[min(unreached, len(CONNECTION_LOST_WAITS_S)) - 1] + jitter(state)
        return max(backoff(state), _retry_after(_attempt_error(state)) or 0.0)

    def report_retry(state: tenacity.RetryCallState) -> None:
        error = _attempt_error(state)
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
        retry=tenacity.retry_if_exception(_is_retryable),
        wait=wait,
        stop=lambda _: attempts_left() <= 0,
        before_sleep=report_retry,
        sleep=sleep,
        reraise=True,
    )
    return await retrying(run_attempt)


def _is_retryable(error: BaseException) -> bool:
    return (
        isinstance(error, ChatProviderError)
        and error.retryable
        and (_retry_after(error) or 0.0) <= MAX_RETRY_AFTER_S
    )


def _is_connection_lost(error: Exception) -> bool:
    return isinstance(error, APIConnectionError) and error.dropped


def _retry_after(error: BaseException | None) -> float | None:
    return error.retry_after if isinstance(error, APIStatusError) else None


def _attempt_error(state: tenacity.RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None
