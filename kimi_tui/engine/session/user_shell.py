"""The user's shell: directory, variables, functions and aliases persist from one command to the next.

Each command is a separate process that starts from the state file of the previous one. So a command
can be stopped, or use the terminal exclusively, without ending the shell.
"""

import asyncio
import os
import shlex
import shutil
import signal
import tempfile
from pathlib import Path

import aiofiles

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.session.pending_notes import PendingNotes
from kimi_tui.tools.shell.captured_output import CapturedOutput, OutputFolder
from kimi_tui.tools.shell.command_output import CommandOutput
from kimi_tui.tools.shell.shell import ExitStatus, Shell
from kimi_tui.wire.commands import RunShell
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import ToolOutput
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd

_TIMEOUT_S = 7 * 86_400.0
_MAX_NOTE_CHARACTERS = 8_000
"""Maximum number of characters of a command's output that the model gets."""
_MAX_OUTPUT_CHARACTERS = 50_000

_SCRIPT = r"""
__kimi_save() {
  __kimi_status=$?
  trap - EXIT
  {
    if [ -n "$BASH_VERSION" ]; then
      declare -p 2>/dev/null | grep -v -e '^declare -[a-zA-Z]*r' -e '^declare [^ ]* BASH' -e '__kimi_'
      declare -f
      shopt -p
      set +o
    else
      export -p
    fi
    alias
  } >"$__kimi_state.new" 2>/dev/null
  pwd >"$__kimi_state.dir"
  mv -f -- "$__kimi_state.new" "$__kimi_state"
  if [ -n "$__kimi_waits" ] && { [ "$SECONDS" -lt 2 ] || [ "$__kimi_status" -ne 0 ]; }; then
    printf '\n[exit code %s; press enter to return]' "$__kimi_status" >/dev/tty
    read -r __kimi_line </dev/tty
  fi
  exit "$__kimi_status"
}
[ -n "$BASH_VERSION" ] && shopt -s expand_aliases
[ -r "$__kimi_state" ] && . "$__kimi_state" >/dev/null 2>&1
cd -- "$__kimi_dir" || exit
SECONDS=0
trap __kimi_save EXIT
eval "$__kimi_command"
"""


class _SentOutput(CommandOutput):
    """Captures output and sends it to the front ends."""

    def __init__(self, captured: CapturedOutput, sender: EventSender, command_id: str) -> None:
        super().__init__()
        self._captured = captured
        self._sender = sender
        self._command_id = command_id

    def add_text(self, text: str) -> None:
        self._captured.add(text)
        self._sender.send(ToolOutput(self._command_id, text))


class UserShell:
    """Runs the commands that the user types. Several can run at the same time."""

    def __init__(
        self,
        *,
        work_dir: Path,
        output_folder: OutputFolder,
        sender: EventSender,
        files: SessionFiles,
        notes: PendingNotes | None,
    ) -> None:
        """`files` attributes the changes of commands to the user.

        `notes` receives a note for the model about each command that has ended. None: no notes.
        """
        self._home = work_dir
        self._work_dir = work_dir
        self._output_folder = output_folder
        self._sender = sender
        self._files = files
        self._notes = notes
        self._shell = Shell()
        self._state: Path | None = None
        self._running: dict[str, asyncio.Task[None]] = {}

    async def run(self, command: RunShell) -> None:
        """Run a command until it exits. Raises KimiTuiError if the command can't be started."""
        if self._running and command.on_terminal:
            raise KimiTuiError("Another command is running.", hint="Stop it, or wait until it exits.")
        task = asyncio.ensure_future(self._run(command))
        self._running[command.id] = task
        try:
            await task
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait([task])
            if (current := asyncio.current_task()) is not None and current.cancelling():
                raise
        finally:
            del self._running[command.id]

    def stop(self) -> bool:
        """Stop all running commands. Return whether any command was running."""
        for task in self._running.values():
            task.cancel()
        return bool(self._running)

    async def close(self) -> None:
        """Stop all commands and the processes that they started."""
        self.stop()
        if self._running:
            await asyncio.wait(list(self._running.values()))
        await self._shell.close()
        if self._state is not None:
            await asyncio.to_thread(shutil.rmtree, self._state.parent, ignore_errors=True)

    async def _run(self, command: RunShell) -> None:
        work_dir = self._current_work_dir()
        self._sender.send(ShellCommandBegin(command.id, command.command, str(work_dir), command.on_terminal))
        output = CapturedOutput(self._output_folder, limit=_MAX_OUTPUT_CHARACTERS)
        exit_status, stopped = ExitStatus(-signal.SIGTERM), True
        try:
            async with self._files.tracking_user_command(command.command):
                if command.on_terminal:
                    exit_status = await self._run_on_terminal(command, work_dir)
                else:
                    exit_status = await self._run_captured(command, work_dir, output)
            stopped = False
        finally:
            output.close()
            self._work_dir = await self._read_final_work_dir(work_dir)
            text = output.text()
            self._sender.send(
                ShellCommandEnd(command.id, exit_status.status, text, str(self._work_dir), stopped)
            )
            if self._notes is not None:
                self._notes.add(_format_note(command, work_dir, text, exit_status.status, stopped=stopped))

    async def _run_captured(self, command: RunShell, folder: Path, output: CapturedOutput) -> ExitStatus:
        sent_output = _SentOutput(output, self._sender, command.id)
        try:
            return await self._shell.run(
                self._build_script(command.command, folder, wait_for_key=False),
                work_dir=folder,
                timeout_s=_TIMEOUT_S,
                output=sent_output,
            )
        finally:
            sent_output.flush()

    async def _run_on_terminal(self, command: RunShell, folder: Path) -> ExitStatus:
        program = shutil.which("bash") or "/bin/sh"
        script = self._build_script(command.command, folder, wait_for_key=True)
        try:
            process = await asyncio.create_subprocess_exec(program, "-c", script, cwd=folder)
        except (OSError, ValueError) as error:
            raise KimiTuiError(
                msg("Can't run the command: {reason}.", reason=reason_of(error)), hint="Try again."
            ) from error
        try:
            return ExitStatus(await process.wait())
        except asyncio.CancelledError:
            process.terminate()
            raise

    def _build_script(self, command: str, folder: Path, *, wait_for_key: bool) -> str:
        if self._state is None:
            self._state = Path(tempfile.mkdtemp(prefix="kimi-tui-shell-")) / "state"
        values = {
            "state": str(self._state),
            "waits": "1" if wait_for_key else "",
            "dir": str(folder),
            "command": command,
        }
        head = "".join(f"__kimi_{name}={shlex.quote(value)}\n" for name, value in values.items())
        return head + _SCRIPT

    def _current_work_dir(self) -> Path:
        return self._work_dir if self._work_dir.is_dir() else self._home

    async def _read_final_work_dir(self, default: Path) -> Path:
        if self._state is None:
            return default
        try:
            async with aiofiles.open(self._state.with_name("state.dir"), "rb") as file:
                work_dir = Path(os.fsdecode((await file.read()).rstrip(b"\n")))
        except OSError:
            return default
        return work_dir if work_dir.is_dir() else default


def _format_note(command: RunShell, folder: Path, output: str, status: int, *, stopped: bool) -> str:
    outcome = "The user stopped it." if stopped else f"Exit code {status}."
    lines = ["The user ran a command in their own shell, outside the conversation:"]
    lines.append(f"{folder}$ {command.command}")
    if command.on_terminal:
        lines.append("(It ran in the terminal. Its output wasn't recorded.)")
    elif output:
        lines.append(_truncate(output.rstrip("\n")))
    return "\n".join((*lines, outcome))


def _truncate(text: str) -> str:
    if len(text) <= _MAX_NOTE_CHARACTERS:
        return text
    half = _MAX_NOTE_CHARACTERS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters omitted …]\n{text[-half:]}"
