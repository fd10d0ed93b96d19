"""The user's own shell: folder, variables, functions and aliases last from one command to the next.

Each command is a process of its own, which begins with what the one before it left behind in a state file. So
a command can be stopped, or have the terminal to itself, and takes the shell down with it in no case.
"""

import asyncio
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.tools.shell.output import OutputFolder, OutputKeeper
from kimi_tui.tools.shell.process import Exit, Shell
from kimi_tui.tools.shell.stream import PlainStream
from kimi_tui.wire.commands import RunShell
from kimi_tui.wire.events import Event, ToolOutput
from kimi_tui.wire.shell import ShellCommandBegin, ShellCommandEnd

_LONGEST_S = 7 * 86_400.0
_TOLD = 8_000
"""Characters of one command's output that the model is told."""
_SHOWN = 50_000

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
    printf '\n[exit code %s; enter goes back]' "$__kimi_status" >/dev/tty
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


class UserShell:
    """Runs what the user types, several commands at once if need be."""

    def __init__(
        self,
        *,
        work_dir: Path,
        output_folder: OutputFolder,
        send: Callable[[Event], None],
        theirs: Callable[[str], AbstractAsyncContextManager[None]],
        remark: Callable[[str], None],
    ) -> None:
        """`theirs` is entered around a command: what changes within is the user's doing.

        `remark` gets what the model should know of a command that has ended.
        """
        self._home = work_dir
        self._work_dir = work_dir
        self._output_folder = output_folder
        self._send = send
        self._theirs = theirs
        self._remark = remark
        self._shell = Shell()
        self._state: Path | None = None
        self._running: dict[str, asyncio.Task[None]] = {}

    async def run(self, command: RunShell) -> None:
        """Run a command to its end. Raises KimiTuiError when it can't be started."""
        if self._running and command.on_terminal:
            raise KimiTuiError("A command of yours still runs.", hint="Stop it, or wait for its end.")
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
        """Stop what runs; whether something did."""
        for task in self._running.values():
            task.cancel()
        return bool(self._running)

    async def close(self) -> None:
        """Stop what runs and what it left behind."""
        self.stop()
        if self._running:
            await asyncio.wait(list(self._running.values()))
        await self._shell.close()
        if self._state is not None:
            await asyncio.to_thread(shutil.rmtree, self._state.parent, ignore_errors=True)

    async def _run(self, command: RunShell) -> None:
        began = self._folder()
        self._send(ShellCommandBegin(command.id, command.command, str(began), command.on_terminal))
        output = OutputKeeper(self._output_folder, limit=_SHOWN)
        ended, stopped = Exit(-signal.SIGTERM), True
        try:
            async with self._theirs(command.command):
                if command.on_terminal:
                    ended = await self._on_terminal(command, began)
                else:
                    ended = await self._captured(command, began, output)
            stopped = False
        finally:
            output.close()
            self._work_dir = await asyncio.to_thread(self._left_in, began)
            text = output.text()
            self._send(ShellCommandEnd(command.id, ended.status, text, str(self._work_dir), stopped))
            self._remark(_told(command, began, text, ended.status, stopped=stopped))

    async def _captured(self, command: RunShell, folder: Path, output: OutputKeeper) -> Exit:
        stream = PlainStream()

        def take(text: str) -> None:
            if text:
                output.add(text)
                self._send(ToolOutput(command.id, text))

        try:
            return await self._shell.run(
                self._script(command.command, folder, waits=False),
                work_dir=folder,
                timeout_s=_LONGEST_S,
                on_output=lambda data: take(stream.feed(data)),
            )
        finally:
            take(stream.end())

    async def _on_terminal(self, command: RunShell, folder: Path) -> Exit:
        program = shutil.which("bash") or "/bin/sh"
        script = self._script(command.command, folder, waits=True)
        try:
            process = await asyncio.create_subprocess_exec(program, "-c", script, cwd=folder)
        except (OSError, ValueError) as error:
            raise KimiTuiError(
                f"The command could not be started: {reason_of(error)}.", hint="Try again."
            ) from error
        try:
            return Exit(await process.wait())
        except asyncio.CancelledError:
            process.terminate()
            raise

    def _script(self, command: str, folder: Path, *, waits: bool) -> str:
        if self._state is None:
            self._state = Path(tempfile.mkdtemp(prefix="kimi-tui-shell-")) / "state"
        values = {
            "state": str(self._state),
            "waits": "1" if waits else "",
            "dir": str(folder),
            "command": command,
        }
        head = "".join(f"__kimi_{name}={shlex.quote(value)}\n" for name, value in values.items())
        return head + _SCRIPT

    def _folder(self) -> Path:
        return self._work_dir if self._work_dir.is_dir() else self._home

    def _left_in(self, began: Path) -> Path:
        if self._state is None:
            return began
        try:
            left = Path(os.fsdecode(self._state.with_name("state.dir").read_bytes().rstrip(b"\n")))
        except OSError:
            return began
        return left if left.is_dir() else began


def _told(command: RunShell, folder: Path, output: str, status: int, *, stopped: bool) -> str:
    how = "The user stopped it." if stopped else f"Exit code {status}."
    lines = ["The user ran a command in their own shell, beside the conversation:"]
    lines.append(f"{folder}$ {command.command}")
    if command.on_terminal:
        lines.append("(It had the terminal; what it printed was not recorded.)")
    elif output:
        lines.append(_cut(output.rstrip("\n")))
    return "\n".join((*lines, how))


def _cut(text: str) -> str:
    if len(text) <= _TOLD:
        return text
    half = _TOLD // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters are left out here …]\n{text[-half:]}"
