"""Bisect in long sessions: each planted bug is found exactly, in the promised number of runs.

`make faults` plants 100 bugs in sessions of 1,000 checkpoints.
"""

import math
import os
import random
from pathlib import Path

import pytest

from kimi_tui.wire.bisect import Bisect, BisectResult
from kimi_tui.workspaces.workspaces import Workspaces
from tests.engine.timeline_harness import TimelineHarness
from tests.workspaces.workspace_env import read_tree

VARIABLE = "KIMI_TUI_PLANTED_BUGS"
N_BUGS = int(os.environ.get(VARIABLE, "6"))
N_TURNS = 500 if VARIABLE in os.environ else 20
"""Each turn has two checkpoints."""
BUGS_PER_SESSION = 25
SESSIONS = range(math.ceil(N_BUGS / BUGS_PER_SESSION))


async def run_long_session(harness: TimelineHarness, randomness: random.Random) -> list[int]:
    """Run turns that count in `n.txt` and change other files. Return the checkpoint of each turn's step."""
    steps = []
    for turn in range(N_TURNS):
        other: dict[str, str | None] = {
            f"{randomness.randrange(20)}.txt": randomness.choice([f"text {turn}\n", None])
        }
        _, step = await harness.turn({**other, "n.txt": f"{turn}\n"})
        steps.append(step)
    return steps


@pytest.mark.parametrize("number", SESSIONS)
async def test_planted_bugs_are_found_exactly(tmp_path: Path, number: int) -> None:
    randomness = random.Random(number)
    harness = TimelineHarness(tmp_path, workspaces=Workspaces(tmp_path / "data"))
    await harness.open()
    steps = await run_long_session(harness, randomness)
    before = read_tree(harness.work, times=True)
    most = (2 * N_TURNS - 1).bit_length() + 1
    for bug in randomness.sample(range(1, N_TURNS), min(BUGS_PER_SESSION, N_BUGS)):
        await harness.timeline.bisect.run(Bisect(f'rm -rf *.txt.bak; [ "$(cat n.txt)" -lt {bug} ]'))
        result = harness.events[-1]
        assert isinstance(result, BisectResult)
        assert (result.outcome, result.step and result.step.id) == ("pass_to_fail", steps[bug])
        assert result.runs <= most
    assert read_tree(harness.work, times=True) == before
    await harness.close()
