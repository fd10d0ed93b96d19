"""Bash: runs a command in the working directory."""

import asyncio
import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Self

from pydantic import Field, model_validator

from kimi_tui.base.errors import KimiTuiError, ShellUnavailable
from kimi_tui.base.message_text import msg, msg_n
from kimi_tui.base.terminal_text import has_invisible, sanitize_line
from kimi_tui.permission.bash.command_line import BashCommandLine, parse_command
from kimi_tui.permission.read_only_commands import is_read_only
from kimi_tui.permission.subject import CommandSubject
from kimi_tui.permission.writable_roots import WritableRoots
from kimi_tui.tools.approval import Approval, ToolRejected
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.plan.plan_mode import REFUSAL
from kimi_tui.tools.shell.background_command import BackgroundCommand, format_exit_status
from kimi_tui.tools.shell.captured_output import CapturedOutput, OutputFolder
from kimi_tui.tools.shell.client_terminals import Terminals
from kimi_tui.tools.shell.foreground_command import ForegroundCommand, ShownOutput
from kimi_tui.tools.shell.private_command import MustRunDirectly, PrivateCommands, PrivateRun
from kimi_tui.tools.shell.shell import ExitStatus, Shell
from kimi_tui.tools.shell.trial_runs import (
    MovedToBackground,
    MustAskFirst,
    RunsDirectly,
    TrialRequest,
    TrialRuns,
)
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.display_blocks import ShellBlock
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Proposal

logger = logging.getLogger(__name__)

_TIMEOUT_S = 60
_MAX_TIMEOUT_S = 300
_MAX_BACKGROUND_TIMEOUT_S = 86_400


class BashParams(ToolParams):
    """Parameters of Bash."""

    command: str = Field(description="The command line, for bash.")
    timeout: int | None = Field(
        None,
        ge=1,
        le=_MAX_BACKGROUND_TIMEOUT_S,
        description=f"Timeout in seconds. Default: {_TIMEOUT_S}, maximum: {_MAX_TIMEOUT_S}. "
        f"In the background, both are {_MAX_BACKGROUND_TIMEOUT_S}.",
    )
    run_in_background: bool = Field(
        False, description="Return immediately, and let the command run as a background task."
    )
    description: str = Field("", description="The command's purpose in a few words, for the user.")

    @model_validator(mode="after")
    def _check_timeout(self) -> Self:
        if not self.run_in_background and (self.timeout or 0) > _MAX_TIMEOUT_S:
            raise ValueError(f"more than {_MAX_TIMEOUT_S} seconds require run_in_background")
        return self


class Bash(Tool[BashParams]):
    """Runs a command with the user's approval."""

    name = "Bash"
    Params = BashParams
    has_side_effects = True

    def __init__(
        self,
        path_scope: PathScope,
        approval: Approval,
        shell: Shell,
        output_folder: OutputFolder,
        tasks: BackgroundTasks,
        terminals: Terminals,
        private_commands: PrivateCommands,
        trial_runs: TrialRuns,
    ) -> None:
        self._path_scope = path_scope
        self._approval = approval
        self._shell = shell
        self._output_folder = output_folder
        self._tasks = tasks
        self._terminals = terminals
        self._private_commands = private_commands
        self._trial_runs = trial_runs

    @property
    def description(self) -> str:
        """Description for the model, including that of the sandbox, if there is one."""
        sandbox = self._shell.sandbox
        return super().description if sandbox is None else f"{super().description}\n- {sandbox.description}"

    def is_read_only(self, params: BashParams) -> bool:
        """Return whether the command can do nothing but read."""
        roots = WritableRoots.resolve(self._path_scope.work_dir, self._path_scope.additional_dirs)
        return is_read_only(parse_command(params.command), roots)

    def discards_changes(self, params: BashParams) -> bool:
        """Return whether the command runs in a workspace whose changes are discarded, as in plan mode."""
        if params.run_in_background or self._trial_runs.is_unavailable:
            return False
        return self._approval.command_mode(CommandSubject.parse(params.command)) == "discard"

    def shell_command(self, params: BashParams) -> str:
        """Return the command."""
        return params.command

    async def run(self, params: BashParams, call: CallContext) -> ToolReturn:
        """Request approval, run the command, and return its output and how it ended."""
        command = params.command.replace("\r\n", "\n")
        if (problem := _find_problem(command)) is not None:
            return failure(problem, brief="not run")
        if params.run_in_background and (problem := self._private_commands.no_background_reason):
            return failure(problem, brief="not run")
        subject = CommandSubject.parse(command)
        is_asked = True
        try:
            return await self._run_first(subject, params, call)
        except RunsDirectly as answer:
            edited = answer.edited
        except MustAskFirst as reason:
            params.run_in_background |= isinstance(reason, MovedToBackground)
            if self._is_refused_now(subject, params):
                return failure(f"{REFUSAL} {_sentence(str(reason))}".rstrip(), brief="not allowed now")
            is_asked = not await asyncio.to_thread(self._approval.is_allowed, subject)
            edited = await self._request_approval(subject, params, call, str(reason))
        if edited is None or edited.strip() == command.strip():
            return await self._start(subject, params, call, is_asked=is_asked)
        edited = edited.rstrip("\n")
        if (problem := _find_problem(edited)) is not None:
            return failure(
                f"The user changed the command, but the new command can't be run. {problem}", brief="not run"
            )
        params.command = edited  # `shell_command` returns the command that actually runs
        result = await self._start(CommandSubject.parse(edited), params, call, is_asked=True)
        note = f"The user changed the command before it ran. The new command: `{edited}`"
        return replace(result, message=f"{note}\n{result.message}")

    async def _run_first(self, subject: CommandSubject, params: BashParams, call: CallContext) -> ToolReturn:
        """Run the command before it is allowed, if it needs to be. Raises MustAskFirst and RunsDirectly."""
        mode = self._approval.command_mode(subject)
        if mode == "ask" or self._trial_runs.is_unavailable:
            raise MustAskFirst
        if params.run_in_background:
            raise MustAskFirst(msg("it runs in the background"))
        timeout_s = params.timeout or _TIMEOUT_S
        can_move = mode != "discard" and not self._private_commands.no_background_reason
        trial = TrialRequest(
            subject,
            sanitize_line(params.description),
            discards=mode == "discard",
            movable=self._tasks.movable if can_move else None,
        )
        async with call.exclusive(is_tracked=False, is_trial=True):
            command = ForegroundCommand(call, timeout_s)
            with self._open_output(command) as output:
                try:
                    run = await self._trial_runs.run(trial, output, command=command, approval=self._approval)
                except ShellUnavailable as problem:
                    return failure(str(problem), brief=problem.what)
            return _build_private_result(run, output.captured, command, in_sandbox=False)

    def _is_refused_now(self, subject: CommandSubject, params: BashParams) -> bool:
        """Return whether plan mode forbids to run the command where its changes take effect."""
        mode = self._approval.command_mode(subject)
        return mode == "discard" and not self.is_read_only(params)

    async def _request_approval(
        self,
        subject: CommandSubject,
        params: BashParams,
        call: CallContext,
        reason: str,
        *,
        is_final: bool = False,
    ) -> str | None:
        """Return the command as the user has edited it, which isn't possible if it `is_final`."""
        command = subject.line.text
        purpose = sanitize_line(params.description) or (
            "Run in the background" if params.run_in_background else ""
        )
        return await self._approval.request(
            call,
            action="run command in the background" if params.run_in_background else "run command",
            description=f"{purpose}: `{command}`" if purpose else f"Run `{command}`",
            subject=subject,
            display=(ShellBlock(command),),
            proposal=None if is_final else Proposal(command, "command.sh"),
            reason=reason,
        )

    async def _start(
        self, subject: CommandSubject, params: BashParams, call: CallContext, *, is_asked: bool
    ) -> ToolReturn:
        """Run the command. Without approval by the user, rules must allow it at the moment it starts."""
        line = subject.line
        if not params.run_in_background:
            async with call.exclusive(is_tracked=False):
                if self._is_refused_now(subject, params):
                    raise ToolRejected(REFUSAL, ends_turn=False)
                if not is_asked:
                    await self._check_again(subject, params, call)
                return await self._run_foreground(line, params, call)
        background = BackgroundCommand(
            line.text,
            shell=self._shell,
            work_dir=self._path_scope.work_dir,
            timeout_s=params.timeout or _MAX_BACKGROUND_TIMEOUT_S,
        )
        async with call.exclusive():
            if not is_asked:
                await self._check_again(subject, params, call)
            return await background.start(self._tasks, purpose=params.description, call_id=call.id)

    async def _check_again(self, subject: CommandSubject, params: BashParams, call: CallContext) -> None:
        """Request approval if the rules no longer allow the command: what they allow depends on files, such
        as links and nested repositories, which earlier calls of the step may have changed. Raises
        ToolRejected.
        """
        if not await asyncio.to_thread(self._approval.is_allowed, subject):
            reason = msg("files that it uses have changed since it was allowed")
            await self._request_approval(subject, params, call, reason, is_final=True)

    async def _run_foreground(
        self, line: BashCommandLine, params: BashParams, call: CallContext
    ) -> ToolReturn:
        """Run a command until it ends, or until the user moves it to the background."""
        command = ForegroundCommand(call, params.timeout or _TIMEOUT_S)
        if self._private_commands.no_background_reason:
            return await self._run(line, command)
        work = asyncio.create_task(self._run(line, command))
        with self._tasks.movable.registered(call.id) as move_requested:
            moving = asyncio.create_task(move_requested.wait())
            try:
                await asyncio.wait((work, moving), return_when=asyncio.FIRST_COMPLETED)
                if not work.done():
                    with suppress(KimiTuiError):  # then it stays in the foreground
                        return await command.move(
                            work,
                            self._tasks,
                            command=line.text,
                            purpose=params.description,
                            timeout_s=_MAX_BACKGROUND_TIMEOUT_S,
                        )
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                work.cancel()
                await asyncio.wait((work,))
                raise
            finally:
                moving.cancel()

    async def _run(self, line: BashCommandLine, command: ForegroundCommand) -> ToolReturn:
        try:
            result = await self._run_privately(line, command)
        except MustRunDirectly as reason:
            logger.info("call %s runs directly: %s", command.call.id, reason)
            result = await self._run_directly(line.text, command)
        if result.is_error and (withheld := self._shell.withheld_variables(f"{line.text}\n{result.output}")):
            return replace(result, message=f"{result.message} {_format_withheld(withheld)}")
        return result

    async def _run_privately(self, line: BashCommandLine, command: ForegroundCommand) -> ToolReturn:
        """Run the command in a workspace. Raises MustRunDirectly."""
        with self._open_output(command) as output:
            try:
                run = await self._private_commands.run(line, output=output, command=command)
            except ShellUnavailable as problem:
                return failure(str(problem), brief=problem.what)
        command.exit = run.exit
        in_sandbox = self._shell.sandbox is not None
        return _build_private_result(run, output.captured, command, in_sandbox=in_sandbox)

    async def _run_directly(self, text: str, command: ForegroundCommand) -> ToolReturn:
        work_dir, deadline = self._path_scope.work_dir, command.deadline
        with self._open_output(command) as output:
            try:
                async with command.tracking():
                    exit_ = None
                    if self._shell.sandbox is None:  # a client's terminal would be outside of the sandbox
                        exit_ = await self._terminals.run(
                            text,
                            call_id=command.call.id,
                            work_dir=work_dir,
                            timeout_s=deadline.timeout_s,
                            output=output,
                        )
                    if exit_ is None:
                        exit_ = await self._shell.run(
                            text,
                            work_dir=work_dir,
                            timeout_s=deadline,
                            output=output,
                            may_change_git=await self._private_commands.must_change_git_directly(),
                        )
            except ShellUnavailable as problem:
                return failure(str(problem), brief=problem.what)
        command.exit = exit_
        return _build_result(
            exit_, output.captured, deadline.timeout_s, in_sandbox=self._shell.sandbox is not None
        )

    @contextmanager
    def _open_output(self, command: ForegroundCommand) -> Iterator[ShownOutput]:
        output = ShownOutput(CapturedOutput(self._output_folder), command)
        try:
            yield output
        finally:
            output.flush()
            output.captured.close()


def _sentence(reason: str) -> str:
    return f"This command can't run in a private copy of the files: {reason.rstrip('.')}." if reason else ""


def _find_problem(command: str) -> str | None:
    """Return why `command` can't be run. The user must be able to see all of what they approve."""
    if not command.strip():
        return "The command is empty. Give the command line to run."
    if has_invisible(command):
        return (
            "The command contains control, direction or invisible characters, which the user can't see when "
            "approving it. Write them as escapes, for example with printf '\\033'."
        )
    return None


def _format_withheld(names: Sequence[str]) -> str:
    """Return the note that explains missing variables, so that the model doesn't search for the cause."""
    return (
        f"{', '.join(names)} is hidden from commands because it contains the model's API key. If the task "
        f"needs it, tell the user to set `env = {json.dumps(list(names))}` under [sandbox] in the config."
    )


def _build_private_result(
    run: PrivateRun, output: CapturedOutput, command: ForegroundCommand, *, in_sandbox: bool
) -> ToolReturn:
    result = _build_result(run.exit, output, command.deadline.timeout_s, in_sandbox=in_sandbox)
    if not run.note:
        return result
    command.show_output(f"\n[{run.note}]\n")
    return replace(result, message=f"{result.message} {run.note}")


def _build_result(
    exit_: ExitStatus, output: CapturedOutput, timeout_s: float, *, in_sandbox: bool
) -> ToolReturn:
    text = output.text()
    if exit_.timed_out:
        return failure(
            f"The command was stopped after {timeout_s:g} s, together with everything it started. Its output "
            f"until then follows. Increase the timeout (at most {_MAX_TIMEOUT_S} s), split the work, or run "
            "the command in the background.",
            output=text,
            brief=msg("stopped after {seconds} s", seconds=f"{timeout_s:g}"),
        )
    children_note = (
        " Processes it started keep running until the session ends." if exit_.left_children else ""
    )
    if exit_.status == 0:
        lines = output.lines
        return success(
            text,
            message=f"Exit code 0.{'' if lines else ' No output.'}{children_note}",
            brief=msg_n("{count:,} line", "{count:,} lines", lines) if lines else "no output",
        )
    status = format_exit_status(exit_.status)
    sandbox_note = " It ran in the sandbox." if in_sandbox else ""
    return failure(
        f"The command ended with {status}.{sandbox_note}{children_note}", output=text, brief=status
    )
