"""A command that waits between its steps, so that a test can do something in between."""

import asyncio
import os
from pathlib import Path

from kimi_tui.tools.shell.shell import ExitStatus, Shell
from kimi_tui.workspaces.workspace import Workspace
from tests.timeouts import TEST_TIMEOUT_S

_LOOP = 'exec 3< {steps} 4> {answers}; while IFS= read -r step <&3; do eval "$step"; echo done >&4; done'


class SteppedCommand:
    """Runs the steps of one command in a workspace, each when it is asked to."""

    def __init__(self, folder: Path, workspace: Workspace, work_dir: Path) -> None:
        """Create the command. `folder` is outside of the work dir; pipes are created there."""
        self._workspace = workspace
        self._work_dir = work_dir
        self._steps, self._answers = folder / "steps", folder / "answers"
        for pipe in (self._steps, self._answers):
            pipe.unlink(missing_ok=True)
            os.mkfifo(pipe)
        self._to_command = os.open(self._steps, os.O_RDWR)
        self._from_command = os.open(self._answers, os.O_RDWR | os.O_NONBLOCK)
        self._shell = Shell(term_grace_s=0.1)
        self._is_closed = False
        self._run: asyncio.Task[ExitStatus] | None = None

    async def start(self) -> None:
        """Start the command, without any step."""
        script = _LOOP.format(steps=self._steps, answers=self._answers)
        self._run = asyncio.ensure_future(
            self._shell.run(
                script, work_dir=self._work_dir, timeout_s=600, output=self, starter=self._workspace
            )
        )
        await self.step("true")

    def receive(self, data: bytes) -> None:
        """Implement `OutputReceiver.receive`."""

    async def step(self, script: str) -> None:
        """Run one step, a line for bash, and wait for its end."""
        os.write(self._to_command, script.encode() + b"\n")
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._from_command, _set_done, answered)
        try:
            async with asyncio.timeout(TEST_TIMEOUT_S):
                await answered
        finally:
            loop.remove_reader(self._from_command)
        assert os.read(self._from_command, 100) == b"done\n"

    async def end(self) -> None:
        """Let the command end by itself."""
        await self.step("exec 3< /dev/null")
        assert self._run is not None
        assert (await self._run).status == 0
        await self.close()

    async def close(self) -> None:
        """End the command if it still runs."""
        if self._run is not None and not self._run.done():
            self._run.cancel()
            await asyncio.gather(self._run, return_exceptions=True)
        await self._shell.close()
        if not self._is_closed:
            self._is_closed = True
            os.close(self._to_command)
            os.close(self._from_command)


def _set_done(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
