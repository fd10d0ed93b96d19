"""When a failed model call is tried again (`specs/cli.md`, Models)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import tenacity

from kimi_tui.base.errors import APIStatusError, ChatProviderError
from kimi_tui.wire.events import StepRetry

T = TypeVar("T")

LONGEST_WAIT_S = 5.0
LONGEST_COMPACTION_WAIT_S = 10.0
LONGEST_RETRY_AFTER_S = 120.0
"""A server that asks for a longer wait is taken at its word: the turn ends and says so."""


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

    The wait between two attempts grows from 0.3 s to `longest_wait_s`, or is what the server asks for. Raises
    the last attempt's error.
    """
    own_wait = tenacity.wait_exponential_jitter(multiplier=0.3, max=longest_wait_s, jitter=0.5)

    def wait(state: tenacity.RetryCallState) -> float:
        return max(own_wait(state), _retry_after(_error_of(state)) or 0.0)

    def announce(state: tenacity.RetryCallState) -> None:
        error = _error_of(state)
        on_retry(
            StepRetry(
                n=step,
                next_attempt=state.attempt_number + 1,
                max_attempts=max_attempts,
                wait_s=round(state.upcoming_sleep, 2),
                error_type=type(error).__name__,
                status_code=error.status_code if isinstance(error, APIStatusError) else None,
            )
        )

    retrying = tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception(_may_succeed_later),
        wait=wait,
        stop=tenacity.stop_after_attempt(max_attempts),
        before_sleep=announce,
        sleep=sleep,
        reraise=True,
    )
    return await retrying(attempt)


def _may_succeed_later(error: BaseException) -> bool:
    return (
        isinstance(error, ChatProviderError)
        and error.retryable
        and (_retry_after(error) or 0.0) <= LONGEST_RETRY_AFTER_S
    )


def _retry_after(error: BaseException | None) -> float | None:
    return error.retry_after if isinstance(error, APIStatusError) else None


def _error_of(state: tenacity.RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None
