"""Retries: which errors are retried, how often, and how retries are reported."""

from typing import Any

import pytest

from kimi_tui.base.errors import (
    APIConnectionError,
    APIEmptyResponseError,
    APIStatusError,
    APITimeoutError,
    ChatProviderError,
    ContextTooLong,
)
from kimi_tui.soul.retry import CONNECTION_LOST_WAITS_S, MAX_COMPACTION_WAIT_S, MAX_WAIT_S, run_with_retries
from kimi_tui.wire.events import StepRetry


class Flaky:
    """Raises its errors in order, then returns a response."""

    def __init__(self, *errors: ChatProviderError) -> None:
        self.errors = list(errors)
        self.attempts = 0
        self.retries: list[StepRetry] = []
        self.waits: list[float] = []

    async def __call__(self) -> str:
        self.attempts += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"

    async def run(self, *, max_attempts: int = 3, **options: Any) -> str:
        return await run_with_retries(
            self, step=1, max_attempts=max_attempts, on_retry=self.retries.append, sleep=self.sleep, **options
        )

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def status(code: int, retry_after: float | None = None) -> APIStatusError:
    return APIStatusError("no", status_code=code, retry_after=retry_after)


def connection_lost() -> APIConnectionError:
    error = APIConnectionError("nobody there")
    error.dropped = True
    return error


@pytest.mark.parametrize(
    "error",
    [APIConnectionError("x"), APITimeoutError("x"), APIEmptyResponseError("x")]
    + [status(code) for code in (408, 409, 429, 500, 502, 503, 504, 520, 529)],
    ids=repr,
)
async def test_temporary_errors_are_retried(error: ChatProviderError) -> None:
    flaky = Flaky(error)
    assert await flaky.run() == "answer"
    assert flaky.attempts == 2


@pytest.mark.parametrize(
    "error",
    [status(400), status(401), status(403), status(404), ContextTooLong("x", status_code=413)],
    ids=repr,
)
async def test_permanent_errors_are_not_retried(error: ChatProviderError) -> None:
    flaky = Flaky(error)
    with pytest.raises(type(error)):
        await flaky.run()
    assert flaky.attempts == 1
    assert not flaky.retries


async def test_the_error_of_the_last_attempt_is_raised() -> None:
    flaky = Flaky(status(500), status(502), status(503))
    with pytest.raises(APIStatusError) as raised:
        await flaky.run()
    assert raised.value.status_code == 503
    assert flaky.attempts == 3


async def test_each_retry_is_reported_with_its_number_and_reason() -> None:
    flaky = Flaky(status(429), APITimeoutError("x"))
    await flaky.run()
    assert [(e.next_attempt, e.max_attempts, e.error_type, e.status_code) for e in flaky.retries] == [
        (2, 3, "APIStatusError", 429),
        (3, 3, "APITimeoutError", None),
    ]


async def test_waits_grow_within_bounds() -> None:
    flaky = Flaky(status(500), status(500))
    await flaky.run()
    first, second = flaky.waits
    assert 0.3 <= first <= 0.8
    assert 0.6 <= second <= 1.1


@pytest.mark.parametrize("max_wait_s", [MAX_WAIT_S, MAX_COMPACTION_WAIT_S])
async def test_no_wait_exceeds_the_maximum(max_wait_s: float) -> None:
    flaky = Flaky(*(status(500) for _ in range(9)))
    await flaky.run(max_attempts=10, max_wait_s=max_wait_s)
    assert max(flaky.waits) == max_wait_s


async def test_the_server_can_ask_for_a_longer_wait() -> None:
    flaky = Flaky(status(429, retry_after=7))
    await flaky.run()
    assert flaky.waits == [7]
    assert flaky.retries[0].wait_s == 7


async def test_a_requested_wait_that_is_too_long_raises_the_error() -> None:
    flaky = Flaky(status(429, retry_after=3600))
    with pytest.raises(APIStatusError):
        await flaky.run()
    assert flaky.attempts == 1


async def test_an_unreachable_server_is_retried_for_a_minute() -> None:
    flaky = Flaky(*(connection_lost() for _ in range(20)))
    with pytest.raises(APIConnectionError):
        await flaky.run()
    assert flaky.attempts == 1 + len(CONNECTION_LOST_WAITS_S)
    assert all(
        base <= wait <= base + 0.5 for base, wait in zip(CONNECTION_LOST_WAITS_S, flaky.waits, strict=True)
    )
    assert flaky.waits[0] < 2 < 4 < flaky.waits[3]
    assert 60 <= sum(flaky.waits) < 70
    assert [(it.next_attempt, it.max_attempts) for it in flaky.retries] == [(n, 8) for n in range(2, 9)]


async def test_attempts_that_do_not_reach_the_server_do_not_count() -> None:
    flaky = Flaky(
        APIConnectionError("connection reset"),
        connection_lost(),
        connection_lost(),
        connection_lost(),
        status(503),
    )
    assert await flaky.run() == "answer"
    assert [(it.next_attempt, it.max_attempts) for it in flaky.retries] == [
        (2, 3),
        (3, 9),
        (4, 9),
        (5, 9),
        (6, 6),
    ]
    flaky = Flaky(status(503), connection_lost(), status(503), connection_lost(), status(503), status(503))
    with pytest.raises(APIStatusError):
        await flaky.run()
    assert flaky.attempts == 5


async def test_with_one_attempt_nothing_is_retried() -> None:
    flaky = Flaky(connection_lost())
    with pytest.raises(APIConnectionError):
        await flaky.run(max_attempts=1)
    assert flaky.attempts == 1
