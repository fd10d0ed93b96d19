"""When a compaction is due."""

import pytest

from kimi_tui.compaction.trigger import Trigger


@pytest.mark.parametrize(
    ("window", "reserved", "ratio", "due_from"),
    [
        (262_144, 50_000, 0.85, 212_144),
        (1_000_000, 50_000, 0.85, 850_000),
        (1000, 100, 0.85, 850),
        (1000, 100, 0.95, 900),
        (1000, 0, 1.0, 1000),
        (32_000, 50_000, 0.85, 16_000),
    ],
)
def test_the_window_is_full_by_its_share_or_by_the_reserve(
    window: int, reserved: int, ratio: float, due_from: int
) -> None:
    assert Trigger(reserved_context_size=reserved, ratio=ratio).threshold(window) == due_from
