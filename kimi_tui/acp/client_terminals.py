"""Commands in the client's terminals. The user can watch them run."""

import asyncio
import logging
import signal
from contextlib import suppress
from pathlib import Path

from acp.schema import WaitForTerminalExitResponse

from kimi_tui.acp.client import AcpClient, ClientRequestError
from kimi_tui.acp.session import AcpSession
from kimi_tui.base.shielding import run_shielded
from kimi_tui.tools.shell.output_pipe import OutputReceiver
from kimi_tui.tools.shell.shell import COMMAND_ENVIRONMENT, ExitStatus, find_shell

logger = logging.getLogger(__name__)

OUTPUT_LIMIT = 4 * 1024 * 1024
"""Maximum bytes of a command's output that the client keeps."""
KILL_TIMEOUT_S = 5.0
"""Seconds to wait for the client to kill a command and return its output."""


class ClientTerminals:
    """Implements `tools.shell.client_terminals.Terminals`."""

    def __init__(self, client: AcpClient, session: AcpSession) -> None:
        self._client = client
        self._session = session

    @property
    def is_available(self) -> bool:
        """Whether the client has terminals."""
        return self._client.has_terminals

    async def run(
        self,
        command: str,
        *,
        call_id: str,
        work_dir: Path,
        timeout_s: float,
        output: OutputReceiver,
    ) -> ExitStatus | None:
        """Run `command` and return its exit status; None if the client has no terminal and nothing was run.

        A timeout or a cancellation kills the command. `output` receives the output after the command has
        exited. Clients start programs, not command lines, so this method starts a shell. The permission rules
        assume the syntax of this shell.
        """
        if not self.is_available:
            return None
        try:
            terminal_id = await self._client.create_terminal(
                self._session.id,
                command=Path(find_shell()).name,
                args=["-c", command],
                env=dict(COMMAND_ENVIRONMENT),
                cwd=str(work_dir),
                output_byte_limit=OUTPUT_LIMIT,
            )
        except ClientRequestError as error:
            logger.warning("the client can't create a terminal: %s", error)
            return None
        self._session.attach_terminal(call_id, terminal_id)
        has_exited = False
        try:
            async with asyncio.timeout(timeout_s):
                response = await self._client.wait_for_exit(self._session.id, terminal_id)
            has_exited = True
        except TimeoutError:
            return ExitStatus(-signal.SIGKILL, timed_out=True)
        except ClientRequestError as error:
            logger.warning("the client lost a terminal: %s", error)
            output.receive(b"\n[The client lost the terminal of this command.]\n")
            return ExitStatus(1)
        finally:
            await run_shielded(self._end(terminal_id, output, kill=not has_exited))
        return ExitStatus(_exit_status(response))

    async def _end(self, terminal_id: str, output: OutputReceiver, *, kill: bool) -> None:
        """Kill the command if requested, pass its output to `output` and release the terminal."""
        session_id = self._session.id
        with suppress(ClientRequestError, TimeoutError):
            async with asyncio.timeout(KILL_TIMEOUT_S):
                if kill:
                    await self._client.kill_terminal(session_id, terminal_id)
                response = await self._client.terminal_output(session_id, terminal_id)
                if response.truncated:
                    output.receive(b"[... output truncated by the client ...]\n")
                output.receive(response.output.encode("utf-8", "replace"))
        with suppress(ClientRequestError, TimeoutError):
            async with asyncio.timeout(KILL_TIMEOUT_S):
                await self._client.release_terminal(session_id, terminal_id)


def _exit_status(response: WaitForTerminalExitResponse) -> int:
    """Return the exit code, or the negative number of the signal that killed the command."""
    if response.exit_code is not None:
        return response.exit_code
    name = (response.signal or "").upper()
    numbers = {str(it.name): int(it) for it in signal.Signals}
    number = numbers.get(name) or numbers.get(f"SIG{name}") or (int(name) if name.isdecimal() else None)
    return -number if number else 1
