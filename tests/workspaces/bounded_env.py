"""Runs commands in bounded workspaces."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.workspaces.effects import Effects
from kimi_tui.workspaces.run_report import RunReport
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy, build_policy
from tests.workspaces.workspace_env import OWNER, WorkspaceEnv


@dataclass
class BoundedRun:
    """What a bounded command printed, and what it did."""

    status: int
    output: str
    reason: str
    """Why it must run directly."""
    report: RunReport
    effects: Effects


class BoundedEnv:
    """A home directory with a project and a folder outside of both."""

    def __init__(self, env: WorkspaceEnv) -> None:
        self.env = env
        self.work = env.work
        self.home = env.folder / "home"
        self.temp = env.folder / "temp"
        self.outside = env.folder / "outside"
        for folder in (self.home, self.temp, self.outside):
            folder.mkdir()

    def build_policy(self, *, network: bool = False, hidden: Sequence[Path] = ()) -> SandboxPolicy:
        return build_policy(
            work_dir=self.work,
            additional_dirs=(),
            writable=(),
            readable=(self.outside, Path(sys.prefix), Path(sys.base_prefix)),
            hidden=(self.env.data, *hidden),
            home=self.home,
            temp=self.temp,
            network=network,
            environment=(),
            secrets=frozenset(),
            is_reviewed=True,
        )

    async def run(
        self,
        command: str,
        *,
        watched: Sequence[Path] = (),
        policy: SandboxPolicy | None = None,
        cwd: Path | None = None,
        added: Sequence[Path] = (),
    ) -> BoundedRun:
        """Run a command, and discard its effects."""
        bounds = policy or self.build_policy()
        async with self.env.workspaces.open(
            self.work, added_dirs=added, owner=OWNER, bounds=bounds, watched=watched
        ) as workspace:
            assert workspace.is_private, self.env.workspaces.problem
            ran = await self.env.run(workspace, command, cwd=cwd)
            reason = await workspace.finish(ran.output)
            return BoundedRun(
                ran.exit.status, ran.output, reason, workspace.report, await workspace.effects()
            )
