"""Bash: runs a command in the work dir."""

import signal
from collections.abc import Callable
from dataclasses import replace

from pydantic import Field

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.tools.approval import Approval, CommandSubject
from kimi_tui.tools.permission.danger import danger_of
from kimi_tui.tools.shell.output import OutputFolder, OutputKeeper
from kimi_tui.tools.shell.process import Exit, Shell, ShellUnavailable
from kimi_tui.tools.shell.stream import PlainStream
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.display import ShellBlock
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Proposal

_MAX_TIMEOUT_S = 300
_SHOWN_LIMIT = 1_000_000
"""Characters of one command that are shown while it runs."""


class BashParams(ToolParams):
    """What Bash takes."""

    command: str = Field(description="The command line, for bash.")
    timeout: int = Field(
        60, ge=1, le=_MAX_TIMEOUT_S, description="Seconds after which the command is stopped, 300 at most."
    )
    description: str = Field("", description="What the command is for, in a few words, for the user.")


class Bash(Tool[BashParams]):
    """Runs a command, once the user agrees."""

    name = "Bash"
    Params = BashParams
    changes_things = True

    def __init__(
        self, workspace: Workspace, approval: Approval, shell: Shell, output_folder: OutputFolder
    ) -> None:
        self._workspace = workspace
        self._approval = approval
        self._shell = shell
        self._output_folder = output_folder

    def command(self, params: BashParams) -> str:
        """The command line."""
        return params.command

    async def run(self, params: BashParams, call: RunningCall) -> ToolReturn:
        """Ask, then run, and give back what the command printed and how it ended."""
        command = params.command.replace("\r\n", "\n")
        if (problem := _problem(command)) is not None:
            return failed(problem, brief="not run")
        edited = await self._ask(command, params.description, call)
        if edited is None or edited.strip() == command.strip():
            async with call.turn():
                return await self._run(command, params.timeout, call)
        edited = edited.rstrip("\n")
        if (problem := _problem(edited)) is not None:
            return failed(f"The user changed the command, but it can't be run so. {problem}", brief="not run")
        params.command = edited  # what `command` says that the call runs
        async with call.turn():
            result = await self._run(edited, params.timeout, call)
        note = f"The user changed the command before it ran. What ran is: `{edited}`"
        return replace(result, message=f"{note}\n{result.message}")

    async def _ask(self, command: str, purpose: str, call: RunningCall) -> str | None:
        danger = danger_of(
            CommandSubject(command),
            work_dir=self._workspace.work_dir,
            additional_dirs=self._workspace.additional_dirs,
        )
        return await self._approval.request(
            call,
            action="run command",
            description=f"{plain_line(purpose)}: `{command}`" if purpose.strip() else f"Run `{command}`",
            subject=CommandSubject(command),
            display=(ShellBlock(command, danger=danger or ""),),
            proposal=Proposal(command, "command.sh"),
        )

    async def _run(self, command: str, timeout_s: int, call: RunningCall) -> ToolReturn:
        stream = PlainStream()
        output = OutputKeeper(self._output_folder)
        show = _limited(call.show_output)

        def take(text: str) -> None:
            output.add(text)
            show(text)

        try:
            exit_ = await self._shell.run(
                command,
                work_dir=self._workspace.work_dir,
                timeout_s=timeout_s,
                on_output=lambda data: take(stream.feed(data)),
            )
        except ShellUnavailable as problem:
            return failed(str(problem), brief=problem.what)
        finally:
            take(stream.end())
            output.close()
        return _result(exit_, output, timeout_s)


def _problem(command: str) -> str | None:
    """Why `command` isn't run at all: what the user approves must be all that runs."""
    if not command.strip():
        return "The command is empty. Give the command line to run."
    if plain(command) != command:
        return (
            "The command holds control or direction characters, which the user can not see before agreeing. "
            "Write them as escapes, for example with printf '\\033'."
        )
    return None


def _limited(show: Callable[[str], None]) -> Callable[[str], None]:
    """`show` for as much as a screen can use."""
    left = _SHOWN_LIMIT

    def show_some(text: str) -> None:
        nonlocal left
        if not text or left <= 0:
            return
        left -= len(text)
        show(text if left > 0 else "\n[… the command prints more than is shown here …]\n")

    return show_some


def _result(exit_: Exit, output: OutputKeeper, timeout_s: int) -> ToolReturn:
    text = output.text()
    if exit_.timed_out:
        return failed(
            f"The command was stopped after {timeout_s} s, with all that it had started. What it printed "
            f"until then follows. Give it more time (timeout, {_MAX_TIMEOUT_S} s at most), or less to do.",
            output=text,
            brief=f"stopped after {timeout_s} s",
        )
    left = " What it left running goes on until the session ends." if exit_.left_children else ""
    if exit_.status == 0:
        lines = output.lines
        return ok(
            text,
            message=f"Exit code 0.{'' if lines else ' It printed nothing.'}{left}",
            brief=f"{lines:,} line{'' if lines == 1 else 's'}" if lines else "no output",
        )
    ending = _ending(exit_.status)
    return failed(f"The command ended with {ending}.{left}", output=text, brief=ending)


def _ending(status: int) -> str:
    number = -status if status < 0 else status - 128
    name = f" ({signal.Signals(number).name})" if number in set(signal.Signals) else ""
    return f"signal {number}{name}" if status < 0 else f"exit code {status}{name}"
