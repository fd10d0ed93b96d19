"""Thresholds of compaction."""

import pytest

from kimi_tui.compaction.trigger import CompactionTrigger
from tests.compaction.conversations import build_llm


@pytest.mark.parametrize(
    ("window", "reserved", "ratio", "threshold"),
    [
        (262_144, 50_000, 0.85, 212_144),
        (1_000_000, 50_000, 0.85, 850_000),
        (1000, 100, 0.85, 850),
        (1000, 100, 0.95, 900),
        (1000, 0, 1.0, 1000),
        (32_000, 50_000, 0.85, 16_000),
    ],
)
def test_the_threshold_depends_on_the_ratio_and_the_reserve(
    window: int, reserved: int, ratio: float, threshold: int
) -> None:
    trigger = CompactionTrigger(reserved_context_size=reserved, ratio=ratio)
    assert trigger.threshold(build_llm(window)) == threshold


@pytest.mark.parametrize("window", [8_000, 65_536, 128_000, 200_000, 262_144, 1_000_000])
@pytest.mark.parametrize("output_limit", [None, 4_096, 64_000])
def test_by_default_every_window_is_used_up_to_85_percent(window: int, output_limit: int | None) -> None:
    threshold = CompactionTrigger().threshold(build_llm(window, max_output_tokens=output_limit))
    assert threshold == pytest.approx(0.85 * window, abs=1)


def test_with_a_higher_ratio_the_output_limit_of_the_model_stays_free() -> None:
    trigger = CompactionTrigger(ratio=0.99)
    assert trigger.threshold(build_llm(100_000, max_output_tokens=4_000)) == 96_000
    assert trigger.threshold(build_llm(100_000, max_output_tokens=64_000)) == 85_000
