"""Crash safety of the journal: the process is killed at every file system call, in three ways."""

import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from kimi_tui.history.context import Context
from tests.history.crash_runner import SESSION, SYNCED, play_session
from tests.history.file_systems import CrashMode
from tests.history.messages import assert_sendable, history_texts, reopen

CHECKOUT = Path(__file__).parents[2]
ALL_MESSAGES = {3: "fix it", 9: "it is fixed", 12: "another way", 13: "a summary", 14: "go on", 18: "new"}
"""Number of actions after which each message has been written."""


@dataclass(frozen=True)
class State:
    """The observable state of a context."""

    messages: tuple[str, ...]
    checkpoints: tuple[int, ...]
    next_id: int


def state_of(context: Context) -> State:
    return State(
        tuple(history_texts(context)),
        tuple(checkpoint.id for checkpoint in context.checkpoints),
        context.n_checkpoints,
    )


@pytest.fixture
async def expected_states(tmp_path) -> list[State]:
    """States that a restore finds after each number of actions without a crash."""
    states = [State((), (), 0)]
    folder = tmp_path / "expected_states"
    folder.mkdir()

    async def record_state(context: Context) -> None:
        copy = tmp_path / "copies" / str(len(states)) / "context.jsonl"
        copy.parent.mkdir(parents=True)
        if context_of(folder).exists():
            copy.write_bytes(context_of(folder).read_bytes())
        states.append(state_of(await reopen(copy)))

    await play_session(folder, after=record_state)
    return states


def context_of(folder: Path) -> Path:
    return folder / "session" / "context.jsonl"


def crash_at_every_call(folder: Path, mode: CrashMode) -> list[tuple[Path, int]]:
    """Crash at every call. Return the directories, each with its number of completed actions."""
    folder.mkdir()
    subprocess.run(
        [sys.executable, "-m", "tests.history.crash_runner", folder, mode], cwd=CHECKOUT, check=True
    )
    folders = sorted(folder.iterdir(), key=lambda folder: int(folder.name))
    return [
        (folder, (folder / "done").stat().st_size if (folder / "done").exists() else 0) for folder in folders
    ]


def is_in_order(texts: tuple[str, ...], among: tuple[str, ...]) -> bool:
    rest = iter(among)
    return all(text in rest for text in texts)


def is_part_of_an_append(state: State, before: State, after: State) -> bool:
    """Return whether `state` is `before` plus a part of the messages that an append added in `after`."""
    return state.messages[: len(before.messages)] == before.messages and is_in_order(
        state.messages, after.messages
    )


def assert_possible(state: State, expected_states: list[State], safe: int, done: int) -> None:
    """Assert that `state` follows `safe` to `done` actions, the next one, or a part of the next one."""
    possible = expected_states[safe : done + 2]
    assert state in possible or any(is_part_of_an_append(state, *pair) for pair in pairwise(possible))


async def assert_all_messages_are_kept(context: Context, done: int) -> None:
    """Assert that every message is on the current branch or on another one."""
    texts = history_texts(context)
    for branch in await context.branches():
        texts += [message.text for message in (await context.read_branch(branch.number)).history]
    for act, text in ALL_MESSAGES.items():
        assert done < act or any(one.startswith(text) for one in texts), text


async def assert_can_continue(context: Context, context_file: Path) -> None:
    """Assert that no id is reused, and that nothing remains of interrupted operations."""
    used = {each.id for branch in await context.branches() for each in branch.checkpoints}
    used |= {each.id for each in context.checkpoints}
    assert (await context.checkpoint(False)).id not in used
    await context.clear()
    again = await reopen(context_file)
    assert (history_texts(again), again.repairs) == ([], ())
    files = list(context_file.parent.iterdir())
    assert not [path for path in files if path.name.endswith(".new")]
    assert len({path.stat().st_ino for path in files}) == len(files), (
        "a branch is a hard link to the current file"
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["before", "halfway", "power cut"])
async def test_a_process_killed_at_any_call_loses_no_completed_action(tmp_path, expected_states, mode):
    """In a power cut, only actions that promise to be synced count as completed."""
    folders = crash_at_every_call(tmp_path / "crash_at_every_call", mode)
    assert len(folders) > 3 * len(SESSION)
    assert folders[-1][1] == len(SESSION)
    for folder, done in folders:
        safe = max([0, *(act + 1 for act in SYNCED if act < done)]) if mode == "power cut" else done
        context = await reopen(context_of(folder))
        assert_sendable(context.history)
        assert_possible(state_of(context), expected_states, safe, done)
        await assert_all_messages_are_kept(context, safe)
        await assert_can_continue(context, context_of(folder))
