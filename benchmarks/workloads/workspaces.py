"""Workspaces: what a private view of a large project adds to a command.

The first baseline is the same command run directly. The second is a bare walk of the project: the least that
a scan for changes needs.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.baselines import bare_disk
from benchmarks.figure import Figure, median
from benchmarks.project import make_project, sample_files
from benchmarks.scale import Scale
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.permission.effect_review import review_changes
from kimi_tui.permission.rule_set import RuleSet
from kimi_tui.permission.secret_file_index import SecretFileIndex
from kimi_tui.tools.shell.effect_summary import build_changes
from kimi_tui.tools.shell.shell import Shell
from kimi_tui.workspaces.command_process import DirectStarter, ProcessStarter
from kimi_tui.workspaces.open_record import WorkspaceOwner
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy, build_policy
from kimi_tui.workspaces.sandbox.read_bounds import restrict_reads
from kimi_tui.workspaces.workspace import Workspace
from kimi_tui.workspaces.workspaces import Workspaces

OWNER = WorkspaceOwner(author=ChangeAuthor(who="call", session="bench", call="c", command="bench"))
_EXTRA_MS = 30
_OPEN_MS = 50
_RUN_FIRST_MS = 50


def measure(scale: Scale) -> list[Figure]:
    """Measure opening a workspace, an empty command in it, and the commit of one changed file."""
    n_files, rounds = scale.choose((100_000, 30), (5_000, 15), (100, 3))
    with tempfile.TemporaryDirectory(prefix="kimi-tui-bench-") as folder:
        work_dir = Path(folder, "work")
        make_project(work_dir, n_files)
        return asyncio.run(_measure(Path(folder, "share"), work_dir, n_files, rounds))


@dataclass(slots=True)
class Durations:
    """Durations of the rounds, in milliseconds."""

    walk: list[float] = field(default_factory=list)
    direct_true: list[float] = field(default_factory=list)
    direct_edit: list[float] = field(default_factory=list)
    opening: list[float] = field(default_factory=list)
    private_true: list[float] = field(default_factory=list)
    private_edit: list[float] = field(default_factory=list)
    """A command that changes one file, in a workspace that is opened for it, and the commit."""
    commit: list[float] = field(default_factory=list)
    trial_edit: list[float] = field(default_factory=list)
    """A command that changes one file and runs before it is allowed: bounds, command, review, commit."""


class DroppedOutput:
    """Drops the output of a command."""

    def receive(self, data: bytes) -> None:
        """Implement `OutputReceiver.receive`."""


async def _measure(data_dir: Path, work_dir: Path, n_files: int, rounds: int) -> list[Figure]:
    workspaces = Workspaces(data_dir)
    status = await workspaces.status(work_dir)
    durations = Durations()
    shell = Shell()
    files = sample_files(work_dir, 3 * rounds)
    trials = Trials(workspaces, shell, data_dir, work_dir)
    has_bounds = not await workspaces.find_bounds_problem()
    try:
        for number in range(rounds):
            direct, private, trial = (
                f"echo '# changed' >> {file}" for file in files[3 * number : 3 * number + 3]
            )
            durations.walk.append(await _timed(lambda: asyncio.to_thread(bare_disk.walk, work_dir)))
            durations.direct_true.append(await _timed(lambda: _run(shell, "true", work_dir)))
            durations.direct_edit.append(await _timed(lambda: _run(shell, direct, work_dir)))  # noqa: B023
            if status.backend != "none":
                await _measure_workspace(workspaces, shell, work_dir, private, durations)
            if has_bounds:
                durations.trial_edit.append(await _timed(lambda: trials.run(trial)))  # noqa: B023
    finally:
        await shell.close()
        await workspaces.close()
    if status.backend == "none":
        return [Figure("workspaces", f"no private views: {status.problem}", 0, "ms")]
    return _figures(durations, f"{n_files:,} files")


async def _measure_workspace(
    workspaces: Workspaces, shell: Shell, work_dir: Path, command: str, durations: Durations
) -> None:
    began = time.perf_counter()
    async with workspaces.open(work_dir, owner=OWNER) as workspace:
        durations.opening.append(_ms_since(began))
        durations.private_true.append(await _timed(lambda: _run(shell, "true", work_dir, workspace)))
    began = time.perf_counter()
    async with workspaces.open(work_dir, owner=OWNER) as workspace:
        await _run(shell, command, work_dir, workspace)
        durations.commit.append(await _timed(lambda: _commit(workspace)))
    durations.private_edit.append(_ms_since(began))


class Trials:
    """Runs commands before they are allowed, with the steps of `TrialRuns`, and commits their effects."""

    def __init__(self, workspaces: Workspaces, shell: Shell, data_dir: Path, work_dir: Path) -> None:
        self._workspaces = workspaces
        self._shell = shell
        self._data_dir = data_dir
        self._work_dir = work_dir
        self._secret_files = SecretFileIndex()
        self._rules = RuleSet(work_dir=work_dir)

    async def run(self, command: str) -> None:
        """Run a command that changes one file."""
        bounds = await asyncio.to_thread(self._build_bounds)
        watched = await asyncio.to_thread(self._secret_files.find, (self._work_dir,))
        async with self._workspaces.open(
            self._work_dir, owner=OWNER, bounds=bounds, watched=watched
        ) as workspace:
            await _run(self._shell, command, self._work_dir, workspace)
            assert not await workspace.finish()
            plan = await workspace.plan()
            changes = build_changes([item.effect for item in plan.items])
            review = await asyncio.to_thread(
                review_changes, self._rules, changes, accepts_edits=True, created=()
            )
            assert not review.needs_consent
            await workspace.commit(plan)

    def _build_bounds(self) -> SandboxPolicy:
        temp = self._data_dir / "temp"
        temp.mkdir(parents=True, exist_ok=True)
        policy = build_policy(
            work_dir=self._work_dir,
            additional_dirs=(),
            writable=(),
            readable=(),
            hidden=(self._data_dir,),
            home=Path.home(),
            temp=temp,
            network=False,
            environment=(),
            secrets=frozenset(),
            is_reviewed=True,
        )
        return restrict_reads(policy, home=Path.home(), program_path=os.environ.get("PATH", ""))


async def _commit(workspace: Workspace) -> None:
    plan = await workspace.plan()
    assert len(plan.takes) == 1
    result = await workspace.commit(plan)
    assert not result.failed


async def _run(shell: Shell, command: str, work_dir: Path, starter: ProcessStarter | None = None) -> None:
    status = await shell.run(
        command,
        work_dir=work_dir,
        timeout_s=600,
        output=DroppedOutput(),
        starter=starter or DirectStarter(),
    )
    assert status.status == 0


async def _timed(action: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await action()
    return _ms_since(began)


def _ms_since(began: float) -> float:
    return (time.perf_counter() - began) * 1e3


def _figures(durations: Durations, files: str) -> list[Figure]:
    walk, direct_true = median(durations.walk), median(durations.direct_true)
    direct_edit, private_edit = median(durations.direct_edit), median(durations.private_edit)
    directly = "run directly"
    return [
        Figure(
            "workspaces", f"opening a workspace of {files}", median(durations.opening), "ms", target=_OPEN_MS
        ),
        Figure(
            "workspaces",
            "`true` in an open workspace",
            median(durations.private_true),
            "ms",
            direct_true,
            directly,
        ),
        Figure("workspaces", "commit of one changed file", median(durations.commit), "ms"),
        Figure("workspaces", "a command that changes one file", private_edit, "ms", direct_edit, directly),
        Figure(
            "workspaces", "the same, compared with a walk", private_edit, "ms", walk, "a bare walk with stat"
        ),
        Figure(
            "workspaces",
            "what privacy adds to that command",
            private_edit - direct_edit,
            "ms",
            target=_EXTRA_MS,
        ),
        *_trial_figures(durations, direct_edit),
    ]


def _trial_figures(durations: Durations, direct_edit: float) -> list[Figure]:
    if not durations.trial_edit:
        return [Figure("workspaces", "commands can't run first here", 0, "ms")]
    trial_edit = median(durations.trial_edit)
    return [
        Figure("workspaces", "the same, run first", trial_edit, "ms", direct_edit, "run directly"),
        Figure(
            "workspaces",
            "what running first adds to that command",
            trial_edit - direct_edit,
            "ms",
            target=_RUN_FIRST_MS,
        ),
    ]
