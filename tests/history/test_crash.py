"""The crash rules of the journal: the process is killed at every call to the disk, in three ways."""

import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from kimi_tui.history.context import Context
from tests.history.disks import Death
from tests.history.dying import SESSION, SYNCED, play
from tests.history.words import assert_sendable, reopened, said

CHECKOUT = Path(__file__).parents[2]
SAID = {3: "fix it", 9: "it is fixed", 12: "another way", 13: "a summary", 14: "go on", 18: "anew"}
"""How many acts it takes until something was said."""


@dataclass(frozen=True)
class State:
    """What a context holds."""

    said: tuple[str, ...]
    checkpoints: tuple[int, ...]
    next_id: int


def state_of(context: Context) -> State:
    return State(
        tuple(said(context)),
        tuple(checkpoint.id for checkpoint in context.checkpoints),
        context.n_checkpoints,
    )


@pytest.fixture
async def course(tmp_path) -> list[State]:
    """What a restore finds after each number of acts when nobody dies."""
    states = [State((), (), 0)]
    folder = tmp_path / "course"
    folder.mkdir()

    async def note(context: Context) -> None:
        copy = tmp_path / "copies" / str(len(states)) / "context.jsonl"
        copy.parent.mkdir(parents=True)
        if context_of(folder).exists():
            copy.write_bytes(context_of(folder).read_bytes())
        states.append(state_of(await reopened(copy)))

    await play(folder, after=note)
    return states


def context_of(folder: Path) -> Path:
    return folder / "session" / "context.jsonl"


def deaths(folder: Path, death: Death) -> list[tuple[Path, int]]:
    """Die everywhere; the folders, and how many acts each had carried out."""
    folder.mkdir()
    subprocess.run([sys.executable, "-m", "tests.history.dying", folder, death], cwd=CHECKOUT, check=True)
    places = sorted(folder.iterdir(), key=lambda place: int(place.name))
    return [(place, (place / "done").stat().st_size if (place / "done").exists() else 0) for place in places]


def in_order(texts: tuple[str, ...], among: tuple[str, ...]) -> bool:
    rest = iter(among)
    return all(text in rest for text in texts)


def is_part_of_an_append(state: State, before: State, after: State) -> bool:
    """Whether `state` is `before` and some of what an append made `after` of it."""
    return state.said[: len(before.said)] == before.said and in_order(state.said, after.said)


def assert_possible(state: State, course: list[State], safe: int, done: int) -> None:
    """That it is the state after `safe` to `done` acts, or after the next, or after a part of the next."""
    possible = course[safe : done + 2]
    assert state in possible or any(is_part_of_an_append(state, *pair) for pair in pairwise(possible))


async def assert_all_said_is_kept(context: Context, done: int) -> None:
    """That everything that was ever said is on the live line or on a branch."""
    everything = said(context)
    for branch in await context.branches():
        everything += [message.text for message in (await context.read_branch(branch.number)).history]
    for act, text in SAID.items():
        assert done < act or any(one.startswith(text) for one in everything), text


async def assert_it_goes_on(context: Context, context_file: Path) -> None:
    """That no id is used again, and that nothing is left of what was interrupted."""
    used = {known.id for branch in await context.branches() for known in branch.checkpoints}
    used |= {known.id for known in context.checkpoints}
    assert (await context.checkpoint(False)).id not in used
    await context.clear()
    again = await reopened(context_file)
    assert (said(again), again.repairs) == ([], ())
    files = list(context_file.parent.iterdir())
    assert not [path for path in files if path.name.endswith(".new")]
    assert len({path.stat().st_ino for path in files}) == len(files), (
        "a branch is another name of the live file"
    )


@pytest.mark.slow
@pytest.mark.parametrize("death", ["before", "halfway", "power cut"])
async def test_a_process_killed_at_any_call_loses_nothing_that_was_done(tmp_path, course, death):
    """Rules 1, 3, 4, 5 and 8. In a power cut only what was promised to be on the medium counts as done."""
    places = deaths(tmp_path / "deaths", death)
    assert len(places) > 3 * len(SESSION)
    assert places[-1][1] == len(SESSION)
    for place, done in places:
        safe = max([0, *(act + 1 for act in SYNCED if act < done)]) if death == "power cut" else done
        context = await reopened(context_of(place))
        assert_sendable(context.history)
        assert_possible(state_of(context), course, safe, done)
        await assert_all_said_is_kept(context, safe)
        await assert_it_goes_on(context, context_of(place))
