"""Formatting of token counts, costs and durations."""

import pytest

from kimi_tui.frontend.number_format import format_cost, format_duration, format_tokens


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
def test_token_counts_are_abbreviated_from_1000(count: int, text: str) -> None:
    assert format_tokens(count) == text


@pytest.mark.parametrize(
    ("amount", "text"), [(0, "$0.00"), (0.0042, "$0.0042"), (0.11, "$0.11"), (12, "$12.00")]
)
def test_small_amounts_keep_four_decimals(amount: float, text: str) -> None:
    assert format_cost(amount) == text


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
def test_long_durations_omit_small_units(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
