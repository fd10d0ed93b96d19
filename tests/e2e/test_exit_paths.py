"""The app ended at random moments in every way: nothing is lost, and no process is left running.

The suite runs a few rounds; `make faults` runs a thousand (`tests/e2e/rounds.py`).
"""

import itertools
import os
import random
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.e2e.scenarios import ENDINGS, SCENARIOS, Round

ROUNDS = int(os.environ.get("KIMI_TUI_END_ROUNDS", "2"))
SEED = int(os.environ.get("KIMI_TUI_KILL_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)


@pytest.mark.timeout(1800)
def test_an_exit_at_any_moment_loses_nothing_and_leaves_no_process_running(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    pairs = list(itertools.product(SCENARIOS, ENDINGS))
    rng.shuffle(pairs)
    for number, (scenario, ending) in enumerate(itertools.islice(itertools.cycle(pairs), ROUNDS)):
        round_ = Round(scenario, ending, rng.uniform(0, 0.4))
        try:
            round_.run(Program(tmp_path / str(number)))
        except AssertionError as error:
            raise AssertionError(f"{round_} (seed {SEED}): {error}") from error
