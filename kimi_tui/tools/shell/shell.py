"""Runs shell commands, each in its own process group, so that all of its processes end together."""

import asyncio
import os
import shutil
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from kimi_tui.base.child_environment import ChildEnvironment
from kimi_tui.base.errors import ShellUnavailable
from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_uid
from kimi_tui.base.message_text import msg
from kimi_tui.base.process_groups import register_group, unregister_group
from kimi_tui.tools.shell.command_deadline import CommandDeadline
from kimi_tui.tools.shell.orphan_processes import (
    COMMAND_VARIABLE,
    MARKER_VARIABLE,
    is_group_running,
    kill_commands,
)
from kimi_tui.tools.shell.output_pipe import OutputPipe, OutputReceiver
from kimi_tui.tools.shell.process_registry import ProcessRegistry
from kimi_tui.workspaces.command_process import CommandProcess, DirectStarter, ProcessStarter
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy

_TERM_GRACE_S = 2.0
"""How long a process may take to end after SIGTERM."""
_CLOSE_GRACE_S = 1.0
"""How long `close` waits for processes to end."""
_DRAIN_GRACE_S = 0.1
"""How long to wait for output of children that outlive the shell."""
_POLL_S = 0.02
COMMAND_ENVIRONMENT = {
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "TERM": "dumb",
}
"""Variables set for all commands: no pager, no prompts, no colors."""
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


@frozen
class ExitStatus:
    """How a command ended."""

    status: int
    """The shell's exit status; for a signal, its negative number."""
    timed_out: bool = False
    left_children: bool = False
    """Whether processes it started are still running."""


class ShellSandbox(Protocol):
    """A sandbox that the operating system enforces."""

    @property
    def description(self) -> str:
        """What the model should know about the sandbox."""
        ...

    @property
    def policy(self) -> SandboxPolicy:
        """The rules for commands, as bounds of a workspace."""
        ...

    def wrap_command(self, command: Sequence[str], *, may_change_git: bool = False) -> list[str]:
        """Return the program and arguments that run `command` in the sandbox. Raises ShellUnavailable.

        Without `may_change_git`, git directories are read-only.
        """
        ...

    def filter_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of `environment` that commands may see."""
        ...


class Shell:
    """Runs commands with bash, or with sh if there is no bash.

    A command returns even if it leaves processes running; `close` ends them.
    """

    def __init__(
        self,
        *,
        environment: ChildEnvironment = ChildEnvironment(),
        process_registry: ProcessRegistry | None = None,
        sandbox: ShellSandbox | None = None,
        term_grace_s: float = _TERM_GRACE_S,
    ) -> None:
        """Create a shell. `environment` is that of commands, by default this process's.

        `process_registry` saves the running groups in case the program is killed. `sandbox` is where commands
        run.
        """
        self._process_registry = process_registry
        self.sandbox = sandbox
        self._environment = environment
        self._term_grace_s = term_grace_s
        self._id = new_uid()
        self._n_commands = 0
        self._groups: dict[int, OutputPipe] = {}
        """Output by process group, of running commands and of processes they left running."""
        self._command_ids: dict[int, str] = {}
        """Ids of commands, by process group."""

    def withheld_variables(self, text: str) -> list[str]:
        """Return the environment variables in `text` that the program has but commands don't see."""
        return sorted(
            name for name in os.environ.keys() - self._environment.variables().keys() if name in text
        )

    async def run(
        self,
        command: str,
        *,
        work_dir: Path,
        timeout_s: float | CommandDeadline,
        output: OutputReceiver,
        on_start: Callable[[int], Awaitable[None]] | None = None,
        marker: str = "",
        starter: ProcessStarter = DirectStarter(),
        is_bounded: bool = False,
        may_change_git: bool = False,
        variables: Mapping[str, str] = NO_VARIABLES,
    ) -> ExitStatus:
        """Run `command` and pass on its output. `variables` are added to its environment.

        `on_start` gets the process group, whose environment carries `marker`. `starter` starts the process: a
        workspace does so in its view; `is_bounded` if it also applies the sandbox's rules. `may_change_git`
        is for a sandbox without workspaces. A timeout or a cancellation ends everything the command started.
        Raises ShellUnavailable.
        """
        self._discard_ended_groups()
        pipe = OutputPipe(output)
        registry = self._process_registry if not marker else None
        with registry.starting() if registry is not None else nullcontext():
            try:
                process = await self._start_process(
                    command,
                    work_dir,
                    pipe,
                    marker,
                    starter,
                    variables,
                    is_bounded=is_bounded,
                    may_change_git=may_change_git,
                )
            except BaseException:
                pipe.close()
                raise
            self._groups[process.pid] = pipe
            register_group(process.pid)
            if registry is not None:
                registry.register(process.pid)
        try:
            if on_start is not None:
                await on_start(process.pid)
            deadline = timeout_s if isinstance(timeout_s, CommandDeadline) else CommandDeadline(timeout_s)
            status = await deadline.wait_for(process)
            if status is None:
                await self._terminate(process, pipe)
                return ExitStatus(process.returncode or -signal.SIGKILL, timed_out=True)
            await pipe.drain(_DRAIN_GRACE_S)
        except BaseException:
            await self._terminate(process, pipe)
            raise
        return ExitStatus(status, left_children=await self._detach_if_running(process.pid))

    async def close(self) -> None:
        """End all processes that are still running."""
        for group in self._groups:
            _signal_group(group, signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(self._term_grace_s, _CLOSE_GRACE_S)):
                while any(map(is_group_running, self._groups)):  # noqa: ASYNC110 - a group's end is no event
                    await asyncio.sleep(_POLL_S)
        for group, output in self._groups.items():
            _signal_group(group, signal.SIGKILL)
            self._unregister_group(group)
            output.close()
        self._groups.clear()
        if self._n_commands:
            await asyncio.to_thread(kill_commands, f"{self._id}.")

    async def _start_process(
        self,
        command: str,
        work_dir: Path,
        output: OutputPipe,
        marker: str,
        starter: ProcessStarter,
        variables: Mapping[str, str],
        *,
        is_bounded: bool,
        may_change_git: bool,
    ) -> CommandProcess:
        program = [find_shell(), "-c", command]
        environment = {**self._environment.variables(), **COMMAND_ENVIRONMENT, **variables}
        if self.sandbox is not None and not is_bounded:
            program = self.sandbox.wrap_command(program, may_change_git=may_change_git)
            environment = self.sandbox.filter_environment(environment)
        if marker := marker or (self._process_registry.marker if self._process_registry is not None else ""):
            environment[MARKER_VARIABLE] = marker
        self._n_commands += 1
        environment[COMMAND_VARIABLE] = command_id = f"{self._id}.{self._n_commands}."
        starting = asyncio.ensure_future(
            starter.start_process(program, cwd=work_dir, environment=environment, output=output.write_end)
        )
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(OSError, ValueError):
                process = await starting
                output.start()
                await self._terminate(process, output)
                await asyncio.to_thread(kill_commands, command_id)
            raise
        except (OSError, ValueError) as error:
            raise _to_shell_error(error, work_dir) from error
        output.start()
        self._command_ids[process.pid] = command_id
        return process

    async def _terminate(self, process: CommandProcess, output: OutputPipe) -> None:
        """End the whole group: first with SIGTERM, then with SIGKILL."""
        _signal_group(process.pid, signal.SIGTERM)
        try:
            async with asyncio.timeout(self._term_grace_s):
                await process.wait()
                await output.ended.wait()
        except TimeoutError:
            pass
        finally:
            command_id = self._command_ids.get(process.pid, "")
            _signal_group(process.pid, signal.SIGKILL)
            output.read_rest()
            output.close()
            self._groups.pop(process.pid, None)
            self._unregister_group(process.pid)
        if command_id:
            await asyncio.to_thread(kill_commands, command_id)
        await process.wait()

    async def _detach_if_running(self, group: int) -> bool:
        """Return whether `group` outlives its shell. If it does, its output is dropped from then on."""
        output = self._groups[group]
        if not await self._outlives_its_shell(group):
            output.close()
            del self._groups[group]
            self._unregister_group(group)
            return False
        output.discard()
        return True

    async def _outlives_its_shell(self, group: int) -> bool:
        """Return whether any of `group` is running. A sandbox ends shortly after the processes in it."""
        if self.sandbox is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_DRAIN_GRACE_S):
                    while is_group_running(group):  # noqa: ASYNC110 - a group's end is no event
                        await asyncio.sleep(_POLL_S / 4)
        return is_group_running(group)

    def _discard_ended_groups(self) -> None:
        for group, output in list(self._groups.items()):
            if not output.is_read and not is_group_running(group):
                output.close()
                del self._groups[group]
                self._unregister_group(group)

    def _unregister_group(self, group: int) -> None:
        self._command_ids.pop(group, None)
        unregister_group(group)
        if self._process_registry is not None:
            self._process_registry.unregister(group)


def find_shell() -> str:
    """Return the path of the shell that commands run in. Raises ShellUnavailable."""
    if os.name != "posix":
        raise ShellUnavailable(
            "Commands need bash, which this system doesn't have.", hint="Run kimi-tui on Linux, macOS or WSL."
        )
    path = shutil.which("bash") or shutil.which("sh")
    if path is None:
        raise ShellUnavailable("Neither bash nor sh is on the PATH.", hint="Ask the user to install bash.")
    return path


def _to_shell_error(error: OSError | ValueError, work_dir: Path) -> ShellUnavailable:
    if not work_dir.is_dir():
        return ShellUnavailable(
            f"The working directory {work_dir} doesn't exist.", hint="Ask the user to restore it."
        )
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return ShellUnavailable(
        msg("Can't start the command: {reason}.", reason=reason),
        hint="If it is very long, write it to a file with a tool and run that file.",
    )


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
