"""The ACP server from its first line to its end."""

import asyncio
import logging

from acp.connection import Connection

from kimi_tui.acp.agent import Agent
from kimi_tui.acp.client import Client
from kimi_tui.acp.lifecycle import Lifecycle
from kimi_tui.acp.lines import LineReader, Lines
from kimi_tui.acp.login import Login
from kimi_tui.acp.sessions import Serve, Sessions
from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.interruption import Interruption
from kimi_tui.base.output import ByteStream, Output
from kimi_tui.history.session import SessionStore

logger = logging.getLogger(__name__)

READING_S = 5.0
"""How long the client may take for what is left when the server ends."""


async def run_acp_server(
    *,
    version: str,
    serve: Serve,
    store: SessionStore,
    login: Login,
    stdin: LineReader,
    stdout: ByteStream,
    interruption: Interruption,
) -> int:
    """Serve until the client closes its side or a signal comes; returns the exit code."""
    out = Output(stdout)
    async with asyncio.TaskGroup() as tasks:
        client = Client()
        sessions = Sessions(client=client, serve=serve, tasks=tasks)
        lifecycle = Lifecycle(sessions=sessions, store=store)
        agent = Agent(client=client, sessions=sessions, lifecycle=lifecycle, login=login, version=version)
        connection = Connection(agent.handle, Lines(stdin, out, cancel=agent.cancel_request), listening=False)
        client.connect(connection)
        ends = [
            tasks.create_task(it) for it in (connection.main_loop(), interruption.wait(), out.broken.wait())
        ]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        await sessions.close_all()
        for end in ends:
            end.cancel()
        await connection.close()
    if not await out.close(within_s=READING_S):
        logger.warning("the client didn't read to the end")
    if interruption.signal_number is not None:
        return 128 + interruption.signal_number
    return ExitCode.PIPE_CLOSED if out.broken.is_set() else ExitCode.DONE
