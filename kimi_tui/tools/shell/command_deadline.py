"""Time limit of a command, which can change while the command runs."""

import asyncio

from kimi_tui.workspaces.command_process import CommandProcess


class CommandDeadline:
    """Limits how long a command may run."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._timeout: asyncio.Timeout | None = None

    async def wait_for(self, process: CommandProcess) -> int | None:
        """Return the exit status of `process`; None if it doesn't end in time."""
        try:
            async with asyncio.timeout(self.timeout_s) as self._timeout:
                return await process.wait()
        except TimeoutError:
            return None
        finally:
            self._timeout = None

    def restart(self, timeout_s: float) -> None:
        """Allow the command another `timeout_s` seconds."""
        self.timeout_s = timeout_s
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time() + timeout_s)
