"""The search for the state that changed a command's result."""

import random
from collections.abc import Callable
from math import ceil, log2

import pytest

from kimi_tui.engine.bisect.state_search import StateSearch, Verdict, max_runs_of


def run_search(search: StateSearch, verdict_at: Callable[[int], Verdict]) -> list[int]:
    """Run the search to its end. Return the states at which the command ran."""
    runs: list[int] = []
    while (state := search.next_state) is not None:
        search.record(state, verdict_at(state))
        runs.append(state)
        assert len(runs) < 5_000
    return runs


def fails_from(first: int) -> Callable[[int], Verdict]:
    return lambda state: "fail" if state >= first else "pass"


@pytest.mark.parametrize("n_states", [1, 2, 3, 4, 5, 8, 9, 31, 33])
def test_each_planted_failure_is_found_in_at_most_log2_plus_1_runs(n_states: int) -> None:
    for first in range(n_states):
        search = StateSearch(n_states)
        runs = run_search(search, fails_from(first))
        found = search.outcome()
        assert (found.before, found.first) == (first - 1 if first else None, first)
        assert found.verdict == "fail"
        assert len(runs) <= (ceil(log2(n_states)) + 1)


def test_a_hundred_bugs_among_1000_states_are_found_in_at_most_11_runs() -> None:
    assert max_runs_of(1_000) == 11
    for first in random.Random(7).sample(range(1, 1_000), 100):
        search = StateSearch(1_000)
        runs = run_search(search, fails_from(first))
        assert (search.outcome().before, search.outcome().first) == (first - 1, first)
        assert len(runs) <= 11


def test_a_step_that_made_the_command_pass_is_found_too() -> None:
    search = StateSearch(20)
    run_search(search, lambda state: "pass" if state >= 13 else "fail")
    found = search.outcome()
    assert (found.verdict, found.before, found.first) == ("pass", 12, 13)


def test_a_command_that_fails_everywhere_fails_at_the_first_state() -> None:
    search = StateSearch(10)
    runs = run_search(search, lambda _: "fail")
    found = search.outcome()
    assert (found.verdict, found.before, found.first) == ("fail", None, 0)
    assert 0 in runs


def test_skipped_states_are_avoided() -> None:
    generator = random.Random(3)
    for _ in range(200):
        n_states = generator.randint(2, 60)
        first = generator.randrange(1, n_states)
        skipped = {state for state in range(n_states) if generator.random() < 0.3} - {first - 1, first}
        search = StateSearch(n_states)
        run_search(search, lambda it, skip=skipped, bad=first: "skip" if it in skip else fails_from(bad)(it))
        assert (search.outcome().before, search.outcome().first) == (first - 1, first)


def test_if_the_deciding_states_are_skipped_the_range_is_found() -> None:
    search = StateSearch(20)
    run_search(search, lambda state: "skip" if 8 <= state <= 11 else fails_from(10)(state))
    assert (search.outcome().before, search.outcome().first) == (7, 12)


def test_a_command_that_always_skips_has_no_result() -> None:
    search = StateSearch(4)
    assert sorted(run_search(search, lambda _: "skip")) == [0, 1, 2, 3]
    assert search.outcome().newest is None


def test_states_without_files_cost_no_run() -> None:
    search = StateSearch(3)
    search.exclude(1)
    assert run_search(search, fails_from(2)) == [2, 0, 2]  # the last one confirms the first
    assert search.n_runs == 3


def test_runs_that_are_left_over_confirm_the_result() -> None:
    search = StateSearch(2, max_runs=11)
    runs = run_search(search, fails_from(1))
    assert sorted(runs) == [0, 0, 1, 1]
    assert not search.is_flaky


def test_a_flaky_command_runs_three_times_and_the_majority_decides() -> None:
    counts: dict[int, int] = {}

    def verdict_at(state: int) -> Verdict:
        counts[state] = counts.get(state, 0) + 1
        if state == 4 and counts[state] == 2:
            return "fail"  # once in three runs
        return fails_from(5)(state)

    search = StateSearch(8, max_runs=20)
    run_search(search, verdict_at)
    assert search.is_flaky
    assert (search.outcome().before, search.outcome().first) == (4, 5)
    assert max(counts.values()) == 3
