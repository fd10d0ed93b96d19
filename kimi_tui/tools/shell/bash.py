"""Bash: runs a command in the work dir."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self, TypedDict

from pydantic import Field, model_validator

from kimi_tui.base.terminal import hides_something, plain_line
from kimi_tui.tools.approval import Approval, CommandSubject
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.permission.danger import danger_of
from kimi_tui.tools.permission.places import Places
from kimi_tui.tools.permission.reading import only_reads
from kimi_tui.tools.shell.background_command import BackgroundCommand, ending_in_words
from kimi_tui.tools.shell.output import OutputFolder, OutputKeeper
from kimi_tui.tools.shell.process import Exit, Shell, ShellUnavailable
from kimi_tui.tools.shell.stream import PlainStream
from kimi_tui.tools.shell.terminals import Terminals
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.display import ShellBlock
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Proposal

_TIMEOUT_S = 60
_MAX_TIMEOUT_S = 300
_MAX_BACKGROUND_TIMEOUT_S = 86_400
_SHOWN_LIMIT = 1_000_000
"""Characters of one command that are shown while it runs."""


class _How(TypedDict):
    """What running a command takes, wherever it runs."""

    work_dir: Path
    timeout_s: float
    on_output: Callable[[bytes], None]


class BashParams(ToolParams):
    """What Bash takes."""

    command: str = Field(description="The command line, for bash.")
    timeout: int | None = Field(
        None,
        ge=1,
        le=_MAX_BACKGROUND_TIMEOUT_S,
        description=f"Seconds after which the command is stopped: {_TIMEOUT_S} unless given, at most "
        f"{_MAX_TIMEOUT_S}; in the background {_MAX_BACKGROUND_TIMEOUT_S}, which is also the most.",
    )
    run_in_background: bool = Field(
        False, description="Return at once, and let the command run behind the conversation."
    )
    description: str = Field("", description="What the command is for, in a few words, for the user.")

    @model_validator(mode="after")
    def _ends_in_time(self) -> Self:
        if not self.run_in_background and (self.timeout or 0) > _MAX_TIMEOUT_S:
            raise ValueError(f"more than {_MAX_TIMEOUT_S} seconds need run_in_background")
        return self


class Bash(Tool[BashParams]):
    """Runs a command, once the user agrees."""

    name = "Bash"
    Params = BashParams
    changes_things = True

    def __init__(
        self,
        workspace: Workspace,
        approval: Approval,
        shell: Shell,
        output_folder: OutputFolder,
        tasks: BackgroundTasks,
        terminals: Terminals,
    ) -> None:
        self._workspace = workspace
        self._approval = approval
        self._shell = shell
        self._output_folder = output_folder
        self._tasks = tasks
        self._terminals = terminals

    @property
    def description(self) -> str:
        """What the model reads: of the bounds, too, that commands run in."""
        confinement = self._shell.confinement
        return super().description if confinement is None else f"{super().description}\n- {confinement.told}"

    def only_reads(self, params: BashParams) -> bool:
        """Whether the command line can do nothing but read."""
        return only_reads(
            params.command, Places.of(self._workspace.work_dir, self._workspace.additional_dirs)
        )

    def command(self, params: BashParams) -> str:
        """The command line."""
        return params.command

    async def run(self, params: BashParams, call: RunningCall) -> ToolReturn:
        """Ask, then run, and give back what the command printed and how it ended."""
        command = params.command.replace("\r\n", "\n")
        if (problem := _problem(command)) is not None:
            return failed(problem, brief="not run")
        edited = await self._ask(command, params, call)
        if edited is None or edited.strip() == command.strip():
            async with call.turn():
                return await self._started(command, params, call)
        edited = edited.rstrip("\n")
        if (problem := _problem(edited)) is not None:
            return failed(f"The user changed the command, but it can't be run so. {problem}", brief="not run")
        params.command = edited  # what `command` says that the call runs
        async with call.turn():
            result = await self._started(edited, params, call)
        note = f"The user changed the command before it ran. What ran is: `{edited}`"
        return replace(result, message=f"{note}\n{result.message}")

    async def _ask(self, command: str, params: BashParams, call: RunningCall) -> str | None:
        purpose = plain_line(params.description) or (
            "Run in the background" if params.run_in_background else ""
        )
        danger = danger_of(
            CommandSubject(command),
            work_dir=self._workspace.work_dir,
            additional_dirs=self._workspace.additional_dirs,
        )
        return await self._approval.request(
            call,
            action="run command in the background" if params.run_in_background else "run command",
            description=f"{purpose}: `{command}`" if purpose else f"Run `{command}`",
            subject=CommandSubject(command),
            display=(ShellBlock(command, danger=danger or ""),),
            proposal=Proposal(command, "command.sh"),
        )

    async def _started(self, command: str, params: BashParams, call: RunningCall) -> ToolReturn:
        if not params.run_in_background:
            return await self._run(command, params.timeout or _TIMEOUT_S, call)
        background = BackgroundCommand(
            command,
            shell=self._shell,
            work_dir=self._workspace.work_dir,
            timeout_s=params.timeout or _MAX_BACKGROUND_TIMEOUT_S,
        )
        return await background.start(self._tasks, purpose=params.description, call_id=call.id)

    async def _run(self, command: str, timeout_s: int, call: RunningCall) -> ToolReturn:
        stream = PlainStream()
        output = OutputKeeper(self._output_folder)
        show = _limited(call.show_output)

        def take(text: str) -> None:
            output.add(text)
            show(text)

        try:
            how: _How = {
                "work_dir": self._workspace.work_dir,
                "timeout_s": timeout_s,
                "on_output": lambda data: take(stream.feed(data)),
            }
            exit_ = None
            if self._shell.confinement is None:  # nobody else's terminal is within the bounds
                exit_ = await self._terminals.run(command, call_id=call.id, **how)
            if exit_ is None:
                exit_ = await self._shell.run(command, **how)
        except ShellUnavailable as problem:
            return failed(str(problem), brief=problem.what)
        finally:
            take(stream.end())
            output.close()
        result = _result(exit_, output, timeout_s, in_sandbox=self._shell.confinement is not None)
        if result.is_error and (withheld := self._shell.withheld_of(f"{command}\n{result.output}")):
            return replace(result, message=f"{result.message} {_withheld(withheld)}")
        return result


def _problem(command: str) -> str | None:
    """Why `command` isn't run at all: what the user approves must be all that runs."""
    if not command.strip():
        return "The command is empty. Give the command line to run."
    if hides_something(command):
        return (
            "The command holds control, direction or invisible characters, which the user can not see before "
            "agreeing. Write them as escapes, for example with printf '\\033'."
        )
    return None


def _withheld(names: Sequence[str]) -> str:
    """Why a variable is missing that the user has, so that nobody searches for long."""
    return (
        f"Commands don't see {', '.join(names)}, since the model's key is in it. Tell the user, if the work "
        f"needs it: `env = {json.dumps(list(names))}` under [sandbox] in the config lets it through."
    )


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


def _result(exit_: Exit, output: OutputKeeper, timeout_s: int, *, in_sandbox: bool) -> ToolReturn:
    text = output.text()
    if exit_.timed_out:
        return failed(
            f"The command was stopped after {timeout_s} s, with all that it had started. What it printed "
            f"until then follows. Give it more time (timeout, {_MAX_TIMEOUT_S} s at most), or less to do, or "
            "run it in the background.",
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
    ending = ending_in_words(exit_.status)
    where = " It ran in the sandbox." if in_sandbox else ""
    return failed(f"The command ended with {ending}.{where}{left}", output=text, brief=ending)
