"""Usage of commands, kept across sessions."""

import os
from pathlib import Path

import pytest

from kimi_tui.frontend.command_usage import CommandUsage

DAY_S = 86_400.0
NOW = 1_700_000_000.0


def test_uses_are_kept_for_the_next_run(tmp_path: Path) -> None:
    CommandUsage(tmp_path).record("model", NOW)
    later = CommandUsage(tmp_path)
    later.load()
    assert later.score("model", NOW) == 1.0
    assert later.score("theme", NOW) == 0.0


def test_recent_uses_count_more_than_old_ones(tmp_path: Path) -> None:
    usage = CommandUsage(tmp_path)
    for _ in range(3):
        usage.record("export", NOW - 60 * DAY_S)
    usage.record("model", NOW)
    assert usage.score("model", NOW) > usage.score("export", NOW) > 0


def test_frequent_uses_count_more_than_single_ones(tmp_path: Path) -> None:
    usage = CommandUsage(tmp_path)
    for name in ("model", "diff", "diff"):
        usage.record(name, NOW)
    assert usage.score("diff", NOW) > usage.score("model", NOW)


def test_two_processes_do_not_lose_each_others_uses(tmp_path: Path) -> None:
    first, second = CommandUsage(tmp_path), CommandUsage(tmp_path)
    first.load()
    second.load()
    first.record("model", NOW)
    second.record("diff", NOW)
    third = CommandUsage(tmp_path)
    third.load()
    assert third.score("model", NOW) == third.score("diff", NOW) == 1.0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[1]",
        b'{"model": 3}',
        b'{"model": ["a", 1]}',
        b'{"model": [1e999, 1]}',
        b"[" * 9_999,
    ],
)
def test_a_damaged_file_counts_as_empty_and_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "command-usage.json").write_bytes(content)
    usage = CommandUsage(tmp_path)
    usage.load()
    assert usage.score("model", NOW) == 0.0
    usage.record("model", NOW)
    again = CommandUsage(tmp_path)
    again.load()
    assert again.score("model", NOW) == 1.0


def test_the_file_is_private_and_stays_small(tmp_path: Path) -> None:
    usage = CommandUsage(tmp_path)
    for number in range(250):
        usage.record(f"custom-{number}", NOW + number)
    file = tmp_path / "command-usage.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.stat().st_size < 20_000
    assert usage.score("custom-249", NOW + 249) == 1.0
    assert usage.score("custom-0", NOW + 249) == 0.0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_use_counts_in_memory_if_it_cannot_be_saved(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    usage = CommandUsage(tmp_path)
    with pytest.raises(OSError, match="denied"):
        usage.record("model", NOW)
    assert usage.score("model", NOW) == 1.0
