"""The sandbox of a session's commands, opened by looking whether the system has one."""

import asyncio
import os
import shutil
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.sandbox.bounds import Bounds
from kimi_tui.tools.sandbox.bubblewrap import bubblewrap_command
from kimi_tui.tools.sandbox.seatbelt import seatbelt_command
from kimi_tui.tools.shell.process import ShellUnavailable

_PATIENCE_S = 10.0
"""How long the look may take."""
_WITHOUT = "or have commands run without one, with --no-sandbox."
_Wrapped = Callable[[str, Bounds, Sequence[str]], list[str]]
_PROGRAMS: Mapping[str, tuple[str, _Wrapped, str]] = {
    "linux": ("bwrap", bubblewrap_command, "Install bubblewrap"),
    "darwin": ("sandbox-exec", seatbelt_command, "Have /usr/bin on the PATH"),
}
"""By platform: the program that makes a sandbox, how it is called, and how one comes by it."""


class Sandbox:
    """Runs commands within bounds, or refuses to run them."""

    def __init__(self, bounds: Bounds, *, platform: str = sys.platform, path: str | None = None) -> None:
        """`path` is where programs are looked for; None for the PATH."""
        self._bounds = bounds
        self._platform = platform
        self._path = path
        self._program = ""
        self.problem: ShellUnavailable | None = ShellUnavailable(
            "The sandbox isn't open.", hint="Ask the user to open the session again."
        )
        """Why commands can't run."""

    async def open(self) -> None:
        """See whether a sandbox can be made; `problem` says so."""
        self.problem = await self._look()

    async def close(self) -> None:
        """Drop the commands' temporary files."""
        await asyncio.to_thread(shutil.rmtree, self._bounds.temp, ignore_errors=True)

    @property
    def told(self) -> str:
        """What the model should know."""
        writable = [str(path) for path, access in self._bounds.access.items() if access == "write"]
        folders = ", ".join(name for name in writable if not name.endswith("/.git"))
        network = "" if self._bounds.network else " There is no network."
        temp = "/tmp" if self._platform == "linux" else "$TMPDIR"  # noqa: S108
        return (
            f"Commands run in a sandbox. They can change only what is in {folders} (but not git's hooks and "
            f"settings) and in {temp}, which the file tools don't see, and can't read credentials.{network} "
            "What fails for that fails however it is tried: don't look for a way "
            "around it, but tell the user what is needed; `[sandbox]` in their settings can allow it."
        )

    def around(self, command: Sequence[str]) -> list[str]:
        """The program and arguments that run `command` within the bounds. Raises ShellUnavailable."""
        if self.problem is not None:
            raise self.problem
        return self._wrapped(command)

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """What of `environment` commands see."""
        return self._bounds.visible(environment)

    def _wrapped(self, command: Sequence[str]) -> list[str]:
        _, wrapped, _ = _PROGRAMS[self._platform]
        return wrapped(self._program, self._bounds, command)

    async def _look(self) -> ShellUnavailable | None:
        if self._platform not in _PROGRAMS:
            return ShellUnavailable(
                "Commands are to run in a sandbox, and there is none for this system.",
                hint=f"Run kimi-tui on Linux, macOS or WSL, {_WITHOUT}",
            )
        name, _, remedy = _PROGRAMS[self._platform]
        self._program = shutil.which(name, path=self._path) or ""
        if not self._program:
            return ShellUnavailable(
                f"Commands are to run in a sandbox, and {name}, which makes it, isn't on the PATH.",
                hint=f"{remedy}, {_WITHOUT}",
            )
        try:
            process = await asyncio.create_subprocess_exec(
                *self._wrapped(["/bin/sh", "-c", ":"]),
                stdin=DEVNULL,
                stdout=DEVNULL,
                stderr=PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return _unusable(name, error.strerror or str(error))
        try:
            async with asyncio.timeout(_PATIENCE_S):
                _, said = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            return _unusable(name, "it doesn't answer")
        return _unusable(name, said.decode("utf-8", "replace")) if process.returncode else None


def new_temp() -> Path:
    """A folder for what commands write to `/tmp`."""
    return Path(os.path.realpath(tempfile.mkdtemp(prefix="kimi-tui-sandbox-")))


def _unusable(name: str, said: str) -> ShellUnavailable:
    why = plain_line(said.strip().partition("\n")[0]).removeprefix(f"{name}: ").rstrip(".")
    return ShellUnavailable(
        f"Commands are to run in a sandbox, and {name} can't make one here: {why}.",
        hint=f"Let users make namespaces (in a container, its own settings decide), {_WITHOUT}",
    )
