"""The app ended at random moments, in every way a terminal program is: nothing lost, nothing left behind.

A few rounds belong to the suite; `make faults` plays a thousand (`tests/e2e/rounds.py`).
"""

import itertools
import os
import random
from pathlib import Path

import pytest

from tests.e2e.moments import ENDINGS, MOMENTS, Round
from tests.e2e.program import Program

ROUNDS = int(os.environ.get("KIMI_TUI_END_ROUNDS", "2"))
SEED = int(os.environ.get("KIMI_TUI_KILL_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)


@pytest.mark.timeout(1800)
def test_ended_at_any_moment_the_app_loses_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    pairs = list(itertools.product(MOMENTS, ENDINGS))
    chance.shuffle(pairs)
    for number, (moment, ending) in enumerate(itertools.islice(itertools.cycle(pairs), ROUNDS)):
        round_ = Round(moment, ending, chance.uniform(0, 0.4))
        try:
            round_.play(Program(tmp_path / str(number)))
        except AssertionError as error:
            raise AssertionError(f"{round_} (seed {SEED}): {error}") from error
