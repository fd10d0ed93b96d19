"""Commands in terminals of the client's, where the user watches them."""

import asyncio
import logging
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from acp.schema import WaitForTerminalExitResponse

from kimi_tui.acp.client import Client, ClientRefused
from kimi_tui.base.completion import carry_out
from kimi_tui.tools.shell.process import ENVIRONMENT, Exit, shell_path

logger = logging.getLogger(__name__)

OUTPUT_LIMIT = 4 * 1024 * 1024
"""Bytes of a command's output that the client keeps for us."""
ENDING_S = 5.0
"""How long the client may take to end a command and to give its output."""


class ClientTerminals:
    """As `tools.shell.terminals.Terminals`."""

    def __init__(
        self, client: Client, session_id: Callable[[], str], *, attach: Callable[[str, str], None]
    ) -> None:
        self._client = client
        self._session_id = session_id
        self._attach = attach
        """Called with a call's id and the terminal in which it runs."""

    async def run(
        self,
        command: str,
        *,
        call_id: str,
        work_dir: Path,
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Exit | None:
        """Run `command` to its end; None when the client has no terminal for it: then nothing was run.

        A time-out or a cancellation ends it. Its output is handed on when it has ended. Clients start a
        program, not a line, so it is the shell that is started: the one whose syntax consent was given by.
        """
        if not self._client.has_terminals:
            return None
        try:
            terminal = await self._client.create_terminal(
                self._session_id(),
                command=Path(shell_path()).name,
                args=["-c", command],
                env=dict(ENVIRONMENT),
                cwd=str(work_dir),
                output_byte_limit=OUTPUT_LIMIT,
            )
        except ClientRefused as error:
            logger.warning("the client has no terminal for a command: %s", error)
            return None
        self._attach(call_id, terminal)
        ended = False
        try:
            async with asyncio.timeout(timeout_s):
                answer = await self._client.wait_for_exit(self._session_id(), terminal)
            ended = True
        except TimeoutError:
            return Exit(-signal.SIGKILL, timed_out=True)
        except ClientRefused as error:
            logger.warning("the client lost a command: %s", error)
            on_output(b"\n[The client lost the terminal that this ran in.]\n")
            return Exit(1)
        finally:
            await carry_out(self._end(terminal, on_output, kill=not ended))
        return Exit(_status(answer))

    async def _end(self, terminal: str, on_output: Callable[[bytes], None], *, kill: bool) -> None:
        """End the command if need be, hand on what it printed, and let go of its terminal."""
        session_id = self._session_id()
        with suppress(ClientRefused, TimeoutError):
            async with asyncio.timeout(ENDING_S):
                if kill:
                    await self._client.kill_terminal(session_id, terminal)
                shown = await self._client.terminal_output(session_id, terminal)
                if shown.truncated:
                    on_output(b"[... the client has kept the end of the output only ...]\n")
                on_output(shown.output.encode("utf-8", "replace"))
        with suppress(ClientRefused, TimeoutError):
            async with asyncio.timeout(ENDING_S):
                await self._client.release_terminal(session_id, terminal)


def _status(answer: WaitForTerminalExitResponse) -> int:
    """As a process tells it: the exit code, or a signal's number, negative."""
    if answer.exit_code is not None:
        return answer.exit_code
    name = (answer.signal or "").upper()
    known = {str(it.name): int(it) for it in signal.Signals}
    number = known.get(name) or known.get(f"SIG{name}") or (int(name) if name.isdecimal() else None)
    return -number if number else 1
