"""Numbers of tests in the output of test runners."""

import pytest

from kimi_tui.engine.goal.run_counts import RunCounts, read_counts


@pytest.mark.parametrize(
    ("output", "ran", "skipped"),
    [
        ("..F\n1 failed, 2 passed, 3 skipped in 0.12s", 3, 3),
        ("== \x1b[32m12 passed\x1b[0m, 1 xfailed, 4 deselected in 3.2s ==", 12, 5),
        ("Ran 5 tests in 0.001s\n\nOK (skipped=2)", 3, 2),
        ("Tests:       1 failed, 2 skipped, 3 passed, 6 total", 4, 2),
        ("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished", 3, 3),
        ("  4 passing (10ms)\n  1 pending", 4, 1),
        ("8 examples, 0 failures, 1 pending", 7, 1),
        ("E   assert '7 passed' == '8 passed'", 0, 0),
        ("", 0, 0),
    ],
)
def test_the_summaries_of_runners(output: str, ran: int, skipped: int) -> None:
    assert read_counts(output) == RunCounts(ran, skipped)


@pytest.mark.parametrize(
    ("before", "now", "is_fewer"),
    [
        (RunCounts(3, 0), RunCounts(3, 0), False),
        (RunCounts(3, 0), RunCounts(2, 0), True),
        (RunCounts(3, 0), RunCounts(2, 1), True),
        (RunCounts(3, 0), RunCounts(0, 0), True),
        (RunCounts(3, 0), RunCounts(5, 1), False),
        (RunCounts(1, 0), RunCounts(3, 2), False),
        (RunCounts(3, 0), RunCounts(3, 1), False),
        (RunCounts(0, 0), RunCounts(3, 2), False),
        (RunCounts(0, 0), RunCounts(0, 0), False),
    ],
)
def test_fewer_tests_than_at_the_start_are_noticed(before: RunCounts, now: RunCounts, is_fewer: bool) -> None:
    assert bool(before.compare(now)) == is_fewer
