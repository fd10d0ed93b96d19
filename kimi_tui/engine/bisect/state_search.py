"""Binary search for the first file state with the same command result as the newest state."""

from collections.abc import Sequence
from typing import Literal

from kimi_tui.base.frozen import frozen

Verdict = Literal["pass", "fail", "skip"]
"""Result of one run of the command. `skip`: the command can't tell."""
FLAKY_RUNS = 3
"""Number of runs per state if the command is flaky. The majority decides."""


def max_runs_of(n_states: int) -> int:
    """Return the maximum number of runs of a search among `n_states`: ⌈log₂ n⌉ + 1."""
    return (n_states - 1).bit_length() + 1


@frozen(kw_only=True)
class Transition:
    """Outcome of a search. States are indices, oldest first."""

    newest: int | None
    """The newest state with a result other than `skip`; None if all runs were skipped."""
    verdict: Verdict = "skip"
    """The result at `newest`."""
    before: int | None = None
    """The last state with the opposite result; None if the oldest state has the result of `newest`."""
    first: int | None = None
    """The first state known to have the result of `newest`. States between `before` and `first` were skipped.
    """


class StateSearch:
    """One search among states in order of time.

    Ask for `next_state`, run the command there, and `record` the verdict, until `next_state` is None. At most
    `max_runs` runs are needed unless the command skips or is flaky.
    Unused runs repeat the two results that decide. If a repeated result differs, the command is flaky, and
    each state is decided by FLAKY_RUNS runs.
    """

    def __init__(self, n_states: int, *, max_runs: int | None = None) -> None:
        """Create a search. `max_runs` is `max_runs_of(n_states)`, or more if equal states were merged."""
        self._n_states = n_states
        self.max_runs = max_runs if max_runs is not None else max_runs_of(n_states)
        self._verdicts: dict[int, list[Verdict]] = {}
        self.is_flaky = False
        self.n_runs = 0

    def record(self, state: int, verdict: Verdict) -> None:
        """Record the result of a run."""
        self.n_runs += 1
        known = self._verdicts.setdefault(state, [])
        known.append(verdict)
        self.is_flaky |= len(set(known)) > 1

    def exclude(self, state: int) -> None:
        """Skip a state without a run, because its files are unknown."""
        self._verdicts[state] = ["skip"] * FLAKY_RUNS

    @property
    def next_state(self) -> int | None:
        """The state to run the command at; None if the search is over."""
        reference = self._n_states - 1
        while reference >= 0 and (verdict := self._verdict_at(reference)) != "pass" and verdict != "fail":
            if verdict is None:
                return reference
            reference -= 1
        if reference < 0:
            return None
        before, first = self._bounds(reference)
        untested = [state for state in range(before + 1, first) if self._verdict_at(state) is None]
        if untested:
            middle = (before + first) / 2
            return min(untested, key=lambda state: (abs(state - middle), state))
        return self._state_to_repeat(before, first)

    def outcome(self) -> Transition:
        """Return the outcome of the runs so far."""
        for reference in range(self._n_states - 1, -1, -1):
            verdict = self._verdict_at(reference)
            if verdict in ("pass", "fail"):
                before, first = self._bounds(reference)
                return Transition(
                    newest=reference, verdict=verdict, before=before if before >= 0 else None, first=first
                )
        return Transition(newest=None)

    def _verdict_at(self, state: int) -> Verdict | None:
        """Return the decided result at a state; None if more runs are needed."""
        known = self._verdicts.get(state, ())
        if not known or (self.is_flaky and len(known) < FLAKY_RUNS):
            return None
        return _majority(known)

    def _bounds(self, reference: int) -> tuple[int, int]:
        """Return `before` and `first` as in `Transition` for the newest state `reference`; -1 instead of
        None.
        """
        wanted = self._verdict_at(reference)
        first, before = reference, -1
        for state in sorted(self._verdicts, reverse=True):
            verdict = self._verdict_at(state)
            if state > reference or verdict is None or verdict == "skip":
                continue
            if verdict != wanted:
                before = state
                break
            first = state
        return before, first

    def _state_to_repeat(self, before: int, first: int) -> int | None:
        """Return a deciding state with only one run, if another run is left to confirm its result."""
        if self.is_flaky or self.n_runs >= self.max_runs or before < 0:
            return None
        return next((state for state in (first, before) if len(self._verdicts[state]) == 1), None)


def _majority(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the most frequent verdict. In a tie, `fail` precedes `pass`, and `pass` precedes `skip`."""
    order: tuple[Verdict, ...] = ("fail", "pass", "skip")
    return max(order, key=lambda verdict: (verdicts.count(verdict), -order.index(verdict)))
