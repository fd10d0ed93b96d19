"""Binary search for the first file state at which a command's result is that of the newest state."""

from collections.abc import Sequence
from typing import Literal

from kimi_tui.base.frozen import frozen

Verdict = Literal["pass", "fail", "skip"]
"""Result of one run of the command; `skip` if it can't tell."""
FLAKY_RUNS = 3
"""How often a flaky command runs for each state; the majority decides."""


def max_runs_of(n_states: int) -> int:
    """Return how many runs a search among `n_states` takes at most: ⌈log₂ n⌉ + 1."""
    return (n_states - 1).bit_length() + 1


@frozen(kw_only=True)
class Transition:
    """Outcome of a search. States are indices, oldest first."""

    newest: int | None
    """The newest state for which the command didn't skip; None if it skipped everywhere."""
    verdict: Verdict = "skip"
    """The result at `newest`."""
    before: int | None = None
    """The last state with the opposite result; None if the oldest state has the result of `newest`."""
    first: int | None = None
    """The first state known to have the result of `newest`. States between `before` and it were skipped."""


class StateSearch:
    """One search among states in order of time.

    Ask for `next_state`, run the command there, and `record` the verdict, until there is no next state. At
    most `max_runs` runs are needed unless the command skips or is flaky. Runs that are left over repeat the
    two results that decide; if one differs, the command is flaky, and each decision takes several runs.
    """

    def __init__(self, n_states: int, *, max_runs: int | None = None) -> None:
        """Create a search. `max_runs` is `max_runs_of` the states, or more if equal ones were left out."""
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
        """Skip a state without a run: its files aren't known."""
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
        """Return what the runs so far have shown."""
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
        """Return the last state with another result than `reference`, or -1, and the first with it."""
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
        """Return a state whose only result decides, if there are runs left to confirm it."""
        if self.is_flaky or self.n_runs >= self.max_runs or before < 0:
            return None
        return next((state for state in (first, before) if len(self._verdicts[state]) == 1), None)


def _majority(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the most frequent verdict; of equally frequent ones, a failure first."""
    order: tuple[Verdict, ...] = ("fail", "pass", "skip")
    return max(order, key=lambda verdict: (verdicts.count(verdict), -order.index(verdict)))
