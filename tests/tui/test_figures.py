"""Numbers for people."""

import pytest

from kimi_tui.tui.figures import dollars, duration, tokens


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (12_400, "12.4k"),
        (99_960, "100k"),
        (200_000, "200k"),
        (1_048_576, "1M"),
    ],
)
def test_tokens_are_shortened_from_a_thousand_on(count: int, text: str) -> None:
    assert tokens(count) == text


@pytest.mark.parametrize(
    ("amount", "text"), [(0, "$0.00"), (0.0042, "$0.0042"), (0.11, "$0.11"), (12, "$12.00")]
)
def test_small_amounts_keep_four_decimals(amount: float, text: str) -> None:
    assert dollars(amount) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (3.21, "3.2 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (185, "3 min 5 s"),
        (7440, "2 h 4 min"),
    ],
)
def test_durations_lose_their_small_parts_as_they_grow(seconds: float, text: str) -> None:
    assert duration(seconds) == text
