"""Thresholds of compaction."""

import pytest

from kimi_tui.compaction.trigger import CompactionTrigger


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
    assert CompactionTrigger(reserved_context_size=reserved, ratio=ratio).threshold(window) == threshold
