"""Which failures are tried again, how often, and how that is announced."""

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
from kimi_tui.soul.retry import DROPPED_WAITS_S, LONGEST_COMPACTION_WAIT_S, LONGEST_WAIT_S, with_retries
from kimi_tui.wire.events import StepRetry


class Flaky:
    """Raises its errors one after another, then answers."""

    def __init__(self, *errors: ChatProviderError) -> None:
        self.errors = list(errors)
        self.attempts = 0
        self.announced: list[StepRetry] = []
        self.waits: list[float] = []

    async def __call__(self) -> str:
        self.attempts += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"

    async def run(self, *, max_attempts: int = 3, **more: Any) -> str:
        return await with_retries(
            self, step=1, max_attempts=max_attempts, on_retry=self.announced.append, sleep=self.sleep, **more
        )

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def status(code: int, retry_after: float | None = None) -> APIStatusError:
    return APIStatusError("no", status_code=code, retry_after=retry_after)


def dropped() -> APIConnectionError:
    error = APIConnectionError("nobody there")
    error.dropped = True
    return error


@pytest.mark.parametrize(
    "error",
    [APIConnectionError("x"), APITimeoutError("x"), APIEmptyResponseError("x")]
    + [status(code) for code in (408, 409, 429, 500, 502, 503, 504, 520, 529)],
    ids=repr,
)
async def test_what_may_pass_is_tried_again(error: ChatProviderError) -> None:
    flaky = Flaky(error)
    assert await flaky.run() == "answer"
    assert flaky.attempts == 2


@pytest.mark.parametrize(
    "error",
    [status(400), status(401), status(403), status(404), ContextTooLong("x", status_code=413)],
    ids=repr,
)
async def test_what_will_not_pass_is_not(error: ChatProviderError) -> None:
    flaky = Flaky(error)
    with pytest.raises(type(error)):
        await flaky.run()
    assert flaky.attempts == 1
    assert not flaky.announced


async def test_the_last_attempts_error_is_what_the_caller_gets() -> None:
    flaky = Flaky(status(500), status(502), status(503))
    with pytest.raises(APIStatusError) as raised:
        await flaky.run()
    assert raised.value.status_code == 503
    assert flaky.attempts == 3


async def test_each_retry_is_announced_with_its_number_and_its_reason() -> None:
    flaky = Flaky(status(429), APITimeoutError("x"))
    await flaky.run()
    assert [(e.next_attempt, e.max_attempts, e.error_type, e.status_code) for e in flaky.announced] == [
        (2, 3, "APIStatusError", 429),
        (3, 3, "APITimeoutError", None),
    ]


async def test_waits_grow_and_stay_within_bounds() -> None:
    flaky = Flaky(status(500), status(500))
    await flaky.run()
    first, second = flaky.waits
    assert 0.3 <= first <= 0.8
    assert 0.6 <= second <= 1.1


@pytest.mark.parametrize("longest", [LONGEST_WAIT_S, LONGEST_COMPACTION_WAIT_S])
async def test_however_often_it_is_tried_no_wait_is_longer_than_asked_for(longest: float) -> None:
    flaky = Flaky(*(status(500) for _ in range(9)))
    await flaky.run(max_attempts=10, longest_wait_s=longest)
    assert max(flaky.waits) == longest


async def test_the_server_may_ask_for_a_longer_wait() -> None:
    flaky = Flaky(status(429, retry_after=7))
    await flaky.run()
    assert flaky.waits == [7]
    assert flaky.announced[0].wait_s == 7


async def test_a_wait_beyond_patience_ends_the_turn_instead() -> None:
    flaky = Flaky(status(429, retry_after=3600))
    with pytest.raises(APIStatusError):
        await flaky.run()
    assert flaky.attempts == 1


async def test_a_server_that_dropped_away_is_waited_for_ever_longer_for_a_minute() -> None:
    flaky = Flaky(*(dropped() for _ in range(20)))
    with pytest.raises(APIConnectionError):
        await flaky.run()
    assert flaky.attempts == 1 + len(DROPPED_WAITS_S)
    assert all(own <= wait <= own + 0.5 for own, wait in zip(DROPPED_WAITS_S, flaky.waits, strict=True))
    assert flaky.waits[0] < 2 < 4 < flaky.waits[3]
    assert 60 <= sum(flaky.waits) < 70
    assert [(it.next_attempt, it.max_attempts) for it in flaky.announced] == [(n, 8) for n in range(2, 9)]


async def test_attempts_that_reach_nobody_do_not_count() -> None:
    flaky = Flaky(APIConnectionError("broke off"), dropped(), dropped(), dropped(), status(503))
    assert await flaky.run() == "answer"
    assert [(it.next_attempt, it.max_attempts) for it in flaky.announced] == [
        (2, 3),
        (3, 9),
        (4, 9),
        (5, 9),
        (6, 6),
    ]
    flaky = Flaky(status(503), dropped(), status(503), dropped(), status(503), status(503))
    with pytest.raises(APIStatusError):
        await flaky.run()
    assert flaky.attempts == 5


async def test_who_wants_one_attempt_gets_one() -> None:
    flaky = Flaky(dropped())
    with pytest.raises(APIConnectionError):
        await flaky.run(max_attempts=1)
    assert flaky.attempts == 1
