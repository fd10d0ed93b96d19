"""Processes of the shell: started in a group of their own, ended together."""

import asyncio
import os
import shutil
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Protocol

from kimi_tui.base.child_environment import Environment, whole_environment
from kimi_tui.base.child_groups import keep_in_sight, let_go
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.value import value
from kimi_tui.tools.shell.orphans import MARK, runs
from kimi_tui.tools.shell.pipe import OutputPipe
from kimi_tui.tools.shell.survivors import Survivors

_TERM_GRACE_S = 2.0
"""How long a process may take to end after it was told to."""
_CLOSE_GRACE_S = 1.0
"""How long the program waits at its end for what runs on."""
_DRAIN_GRACE_S = 0.1
"""How long output is awaited from children that outlive the shell."""
_POLL_S = 0.02
ENVIRONMENT = {
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "TERM": "dumb",
}
"""What commands find set: nobody is there to page or to answer, and no terminal to colour."""


class ShellUnavailable(KimiTuiError):
    """A command could not be started."""


@value
class Exit:
    """How a command ended."""

    status: int
    """The shell's exit status; negative for the signal that ended it."""
    timed_out: bool = False
    left_children: bool = False
    """Whether it left processes behind that go on."""


class Confinement(Protocol):
    """Bounds that the system holds commands to."""

    @property
    def told(self) -> str:
        """What the model should know of them."""
        ...

    def around(self, command: Sequence[str]) -> list[str]:
        """The program and arguments that run `command` within them. Raises ShellUnavailable."""
        ...

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """What of `environment` commands see."""
        ...


class Shell:
    """Runs commands under bash, or sh where there is no bash.

    A command that leaves processes behind returns nevertheless; `close` ends them.
    """

    def __init__(
        self,
        *,
        environment: Environment = whole_environment,
        survivors: Survivors | None = None,
        confinement: Confinement | None = None,
        term_grace_s: float = _TERM_GRACE_S,
    ) -> None:
        """Commands see `environment`; `survivors` remembers what runs, should the program be killed;
        `confinement` is where it runs.
        """
        self._survivors = survivors
        self.confinement = confinement
        self._environment = environment
        self._term_grace_s = term_grace_s
        self._groups: dict[int, OutputPipe] = {}
        """By process group: those that run, and those that left processes behind."""

    def withheld_of(self, text: str) -> list[str]:
        """The variables of our environment that `text` names and commands don't see."""
        return sorted(name for name in os.environ.keys() - self._environment().keys() if name in text)

    async def run(
        self,
        command: str,
        *,
        work_dir: Path,
        timeout_s: float,
        on_output: Callable[[bytes], None],
        on_start: Callable[[int], Awaitable[None]] | None = None,
        mark: str = "",
    ) -> Exit:
        """Run `command` to its end and hand on its output, both streams in order.

        `on_start` gets its process group, whose environment carries `mark`. A time-out or a cancellation ends
        everything that it started. Raises ShellUnavailable.
        """
        self._forget_ended_groups()
        output = OutputPipe(on_output)
        survivors = self._survivors if not mark else None
        with survivors.starting() if survivors is not None else nullcontext():
            try:
                process = await self._started(command, work_dir, output, mark)
            except BaseException:
                output.close()
                raise
            self._groups[process.pid] = output
            keep_in_sight(process.pid)
            if survivors is not None:
                survivors.keep(process.pid)
        try:
            if on_start is not None:
                await on_start(process.pid)
            status = await _status_within(timeout_s, process)
            if status is None:
                await self._end(process, output)
                return Exit(process.returncode or -signal.SIGKILL, timed_out=True)
            await output.drain(_DRAIN_GRACE_S)
        except BaseException:
            await self._end(process, output)
            raise
        return Exit(status, left_children=await self._leave(process.pid))

    async def close(self) -> None:
        """End every process that is left."""
        for group in self._groups:
            _signal(group, signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(self._term_grace_s, _CLOSE_GRACE_S)):
                while any(map(runs, self._groups)):  # noqa: ASYNC110 - a group's end is no event
                    await asyncio.sleep(_POLL_S)
        for group, output in self._groups.items():
            _signal(group, signal.SIGKILL)
            self._let_go(group)
            output.close()
        self._groups.clear()

    async def _started(self, command: str, work_dir: Path, output: OutputPipe, mark: str) -> Process:
        program = [shell_path(), "-c", command]
        environment = {**self._environment(), **ENVIRONMENT}
        if self.confinement is not None:
            program = self.confinement.around(program)
            environment = self.confinement.environment(environment)
        if mark := mark or (self._survivors.mark if self._survivors is not None else ""):
            environment[MARK] = mark
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *program,
                stdin=DEVNULL,
                stdout=output.write_end,
                stderr=output.write_end,
                cwd=work_dir,
                env=environment,
                start_new_session=True,
            )
        )
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(OSError, ValueError):
                process = await starting
                output.start()
                await self._end(process, output)
            raise
        except (OSError, ValueError) as error:
            raise _unavailable(error, work_dir) from error
        output.start()
        return process

    async def _end(self, process: Process, output: OutputPipe) -> None:
        """End the whole group: first politely, then surely."""
        _signal(process.pid, signal.SIGTERM)
        try:
            async with asyncio.timeout(self._term_grace_s):
                await process.wait()
                await output.ended.wait()
        except TimeoutError:
            pass
        finally:
            _signal(process.pid, signal.SIGKILL)
            output.read_rest()
            output.close()
            self._groups.pop(process.pid, None)
            self._let_go(process.pid)
        await process.wait()

    async def _leave(self, group: int) -> bool:
        """Whether `group` goes on without its shell; its output is read and dropped from now on."""
        output = self._groups[group]
        if not await self._outlives_its_shell(group):
            output.close()
            del self._groups[group]
            self._let_go(group)
            return False
        output.discard()
        return True

    async def _outlives_its_shell(self, group: int) -> bool:
        """Whether something of `group` runs on. A sandbox ends a moment after what ran in it."""
        if self.confinement is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_DRAIN_GRACE_S):
                    while runs(group):  # noqa: ASYNC110 - a group's end is no event
                        await asyncio.sleep(_POLL_S / 4)
        return runs(group)

    def _forget_ended_groups(self) -> None:
        for group, output in list(self._groups.items()):
            if not output.is_wanted and not runs(group):
                output.close()
                del self._groups[group]
                self._let_go(group)

    def _let_go(self, group: int) -> None:
        let_go(group)
        if self._survivors is not None:
            self._survivors.forget(group)


async def _status_within(timeout_s: float, process: Process) -> int | None:
    """How `process` ended; None when it hasn't by then."""
    try:
        async with asyncio.timeout(timeout_s):
            return await process.wait()
    except TimeoutError:
        return None


def shell_path() -> str:
    """The shell that commands run under. Raises ShellUnavailable."""
    if os.name != "posix":
        raise ShellUnavailable(
            "Commands run under bash, and this system has none.", hint="Run kimi-tui on Linux, macOS or WSL."
        )
    path = shutil.which("bash") or shutil.which("sh")
    if path is None:
        raise ShellUnavailable(
            "There is neither bash nor sh on the PATH.", hint="Ask the user to install bash."
        )
    return path


def _unavailable(error: OSError | ValueError, work_dir: Path) -> ShellUnavailable:
    if not work_dir.is_dir():
        return ShellUnavailable(f"The work dir {work_dir} is gone.", hint="Ask the user to bring it back.")
    if isinstance(error, OSError) and error.strerror:
        what = f"The command could not be started: {error.strerror}."
    else:
        what = f"The command could not be started: {error}."
    return ShellUnavailable(
        what, hint="If it is very long, write it to a file with a tool and run that file."
    )


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
