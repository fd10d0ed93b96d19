"""Commands of the corpus leave the same tree in a workspace as directly."""

import asyncio
import os
from collections import Counter
from pathlib import Path

import pytest

from kimi_tui.workspaces.workspaces import Workspaces
from tests.workspaces.corpus.command_corpus import command_corpus
from tests.workspaces.corpus.corpus_command import CorpusCommand
from tests.workspaces.corpus.declared_differences import (
    ALWAYS_DIFFERENT,
    DIFFERENT_WITHOUT_ROOT,
    ORDINARY_DIRECTLY_WITHOUT_ROOT,
)
from tests.workspaces.corpus_environment import CorpusEnvironment
from tests.workspaces.corpus_runner import CorpusResult, CorpusRunner

IS_WHOLE = os.environ.get("KIMI_TUI_CORPUS") == "all"
"""Whether all commands run, as in `make faults`. Otherwise a sample does."""
IS_ROOT = os.geteuid() == 0
PARTS = 24 if IS_WHOLE else 4
SAMPLE = 60
SLOW = ("npm", "pip", "cmake", "timeout", "10,000", "2,000", "left behind", "1,000", "--aggressive")


def test_the_corpus_has_a_thousand_commands_and_a_third_are_awkward() -> None:
    commands = command_corpus()
    repeated = [name for name, count in Counter(it.name for it in commands).items() if count > 1]
    assert repeated == []
    assert len(commands) >= 1000
    assert 3 * sum(it.is_awkward for it in commands) >= len(commands)


def sample() -> list[CorpusCommand]:
    """Return commands from all parts of the corpus, without slow ones; all if asked for."""
    commands = command_corpus()
    if IS_WHOLE:
        return commands
    fast = [it for it in commands if not any(text in it.name for text in SLOW) and not it.awaits]
    return fast[:: len(fast) // SAMPLE]


@pytest.mark.parametrize("part", range(PARTS))
def test_commands_leave_the_same_tree_in_a_workspace_as_directly(part: int, tmp_path: Path) -> None:
    commands = sample()[part::PARTS]
    results = asyncio.run(run_in_workspaces(commands, tmp_path))
    declared = ALWAYS_DIFFERENT if IS_ROOT else ALWAYS_DIFFERENT | DIFFERENT_WITHOUT_ROOT
    different = [it for it in results if it.differences and it.command.name not in declared]
    assert [(it.command.name, it.differences) for it in different] == []
    expected = {} if IS_ROOT else ORDINARY_DIRECTLY_WITHOUT_ROOT
    directly = [it for it in results if it.how == "detected" and not it.command.is_awkward]
    assert [(it.command.name, it.reason) for it in directly if it.command.name not in expected] == []
    assert any(it.how == "private" for it in results)


def test_at_least_96_of_100_ordinary_commands_are_private() -> None:
    names = {it.name for it in command_corpus() if not it.is_awkward}
    assert names >= ORDINARY_DIRECTLY_WITHOUT_ROOT.keys()
    assert len(ORDINARY_DIRECTLY_WITHOUT_ROOT) <= len(names) * 0.04
    assert not names & (ALWAYS_DIFFERENT | DIFFERENT_WITHOUT_ROOT).keys()


async def run_in_workspaces(commands: list[CorpusCommand], folder: Path) -> list[CorpusResult]:
    """Run commands directly and in workspaces. Skips the test if nothing is private here."""
    workspaces = Workspaces(folder / "data")
    try:
        status = await workspaces.status(folder)
        if status.backend == "none":
            pytest.skip(f"No workspaces here: {status.problem}")
        environment = CorpusEnvironment(folder / "corpus")
        runner = CorpusRunner(environment)
        results = [await runner.compare_with_workspace(it, workspaces) for it in commands]
        environment.remove(environment.area)
        return results
    finally:
        await workspaces.close()


def test_two_direct_runs_leave_the_same_tree(tmp_path: Path) -> None:
    environment = CorpusEnvironment(tmp_path / "corpus")
    runner = CorpusRunner(environment)

    async def run() -> list[CorpusResult]:
        return [await runner.compare_direct_runs(it) for it in sample()[:: SAMPLE // 6]]

    results = asyncio.run(run())
    assert [(it.command.name, it.differences) for it in results if it.differences] == []
    assert {it.how for it in results} <= {"direct", "skipped"}


async def test_a_command_that_behaves_differently_the_second_time_is_noticed(tmp_path: Path) -> None:
    environment = CorpusEnvironment(tmp_path / "corpus")
    counter = tmp_path / "counter"
    command = CorpusCommand(name="counts", script=f"echo x >> {counter}; wc -l < {counter} > count.txt")
    result = await CorpusRunner(environment).compare_direct_runs(command)
    (difference,) = result.differences
    assert "count.txt" in difference
