"""The sandbox in which a session's commands run, and which its file tools obey."""

import asyncio
import os
import re
import shutil
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kimi_tui.base.child_environment import helper_environment
from kimi_tui.base.errors import ShellUnavailable
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.workspaces.sandbox.bubblewrap import bubblewrap_command
from kimi_tui.workspaces.sandbox.policy import Access, SandboxPolicy
from kimi_tui.workspaces.sandbox.seatbelt import seatbelt_command

_PROBE_TIMEOUT_S = 10.0
"""Time limit for the check whether the sandbox works."""
_GIT = re.compile(r"(?<![\w.-])git\s")
_WITHOUT_SANDBOX_HINT = "or run commands without a sandbox (--no-sandbox)."
_CommandBuilder = Callable[[str, SandboxPolicy, Sequence[str]], list[str]]
_PROGRAMS: Mapping[str, tuple[str, _CommandBuilder, str]] = {
    "linux": ("bwrap", bubblewrap_command, "Install bubblewrap"),
    "darwin": ("sandbox-exec", seatbelt_command, "Add /usr/bin to the PATH"),
}
"""By platform: the program that creates the sandbox, the builder of its command line, and how to get it."""


class CommandSandbox:
    """Runs commands in a sandbox. If that's impossible, they don't run."""

    def __init__(
        self, policy: SandboxPolicy, *, platform: str = sys.platform, path: str | None = None
    ) -> None:
        """Create the sandbox. `path` is where to look for programs; None for the PATH."""
        self._policy = policy
        self._platform = platform
        self._path = path
        self._program = ""
        self.problem: ShellUnavailable | None = ShellUnavailable(
            "The sandbox isn't ready.", hint="Ask the user to open the session again."
        )
        """Why commands can't run; None if they can."""

    async def open(self) -> None:
        """Check whether the sandbox works, and set `problem`."""
        self.problem = await self._probe()

    async def close(self) -> None:
        """Delete the commands' temporary files."""
        await asyncio.to_thread(shutil.rmtree, self._policy.temp, ignore_errors=True)

    @property
    def policy(self) -> SandboxPolicy:
        """The rules for commands, as bounds of a workspace."""
        return self._policy

    def access_to(self, path: Path) -> Access:
        """Return the access to `path` (absolute, links resolved)."""
        return self._policy.access_to(path)

    def add_root(self, folder: Path) -> None:
        """Make `folder` (absolute, links resolved) writable, as a directory added to the session."""
        self._policy = self._policy.with_roots([folder])

    @property
    def description(self) -> str:
        """What the model should know about the sandbox."""
        writable = [str(path) for path, access in self._policy.access.items() if access == "write"]
        folders = ", ".join(name for name in writable if not name.endswith("/.git"))
        network = "" if self._policy.network else " There is no network access."
        temp = "/tmp" if self._platform == "linux" else "$TMPDIR"  # noqa: S108
        return (
            "Commands and file tools are in a sandbox. "
            f"They can only write in {folders} (except git's hooks and settings), commands also "
            f"in {temp}, which file tools don't see. They can't read credentials.{network} "
            "If the sandbox blocks something, don't look for a way around it: tell the user what is needed. "
            "They can allow it under `[sandbox]` in their config."
        )

    def wrap_command(self, command: Sequence[str], *, may_change_git: bool = False) -> list[str]:
        """Return the program and arguments that run `command` in the sandbox. Raises ShellUnavailable.

        Git directories are read-only unless `may_change_git` is set and the command line names git: nothing
        reviews what it writes there.
        """
        if self.problem is not None:
            raise self.problem
        runs_git = may_change_git and any(_GIT.search(word) for word in command)
        return self._build_command(command, self._policy if runs_git else self._policy.with_read_only_git())

    def filter_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of `environment` that commands may see."""
        return self._policy.filter_environment(environment)

    def _build_command(self, command: Sequence[str], policy: SandboxPolicy) -> list[str]:
        _, build_command, _ = _PROGRAMS[self._platform]
        return build_command(self._program, policy, command)

    async def _probe(self) -> ShellUnavailable | None:
        if self._platform not in _PROGRAMS:
            return ShellUnavailable(
                "Commands must run in a sandbox, but this system isn't supported.",
                hint=f"Run kimi-tui on Linux, macOS or WSL, {_WITHOUT_SANDBOX_HINT}",
            )
        name, _, remedy = _PROGRAMS[self._platform]
        self._program = shutil.which(name, path=self._path) or ""
        if not self._program:
            return ShellUnavailable(
                f"Commands must run in a sandbox, but {name} isn't on the PATH.",
                hint=f"{remedy}, {_WITHOUT_SANDBOX_HINT}",
            )
        try:
            process = await asyncio.create_subprocess_exec(
                *self._build_command(["/bin/sh", "-c", ":"], self._policy),
                env=helper_environment(),
                stdin=DEVNULL,
                stdout=DEVNULL,
                stderr=PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return _unusable_error(name, error.strerror or str(error))
        try:
            async with asyncio.timeout(_PROBE_TIMEOUT_S):
                _, errors = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            return _unusable_error(name, "it timed out")
        return _unusable_error(name, errors.decode("utf-8", "replace")) if process.returncode else None


def create_temp_dir() -> Path:
    """Create the directory that commands use as `/tmp`."""
    return Path(os.path.realpath(tempfile.mkdtemp(prefix="kimi-tui-sandbox-")))


def _unusable_error(name: str, output: str) -> ShellUnavailable:
    reason = sanitize_line(output.strip().partition("\n")[0]).removeprefix(f"{name}: ").rstrip(".")
    return ShellUnavailable(
        f"Commands must run in a sandbox, but {name} can't create one: {reason}.",
        hint=f"Allow users to create namespaces (in a container: in its settings), {_WITHOUT_SANDBOX_HINT}",
    )
