"""Runs the ACP server until the client disconnects."""

import asyncio
import logging

from kimi_tui.acp.agent import AcpAgent
from kimi_tui.acp.canceling_connection import CancelingConnection
from kimi_tui.acp.client import AcpClient
from kimi_tui.acp.model_login import ModelLogin
from kimi_tui.acp.session_lifecycle import SessionLifecycle
from kimi_tui.acp.session_registry import AcpEngines, SessionRegistry
from kimi_tui.acp.transport import AcpLineReader, LineTransport
from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.output_stream import OutputStream, RawStream
from kimi_tui.history.session import SessionStore

logger = logging.getLogger(__name__)

READ_TIMEOUT_S = 5.0
"""Seconds to wait for the client to read the remaining output when the server stops."""


async def run_acp_server(
    *,
    version: str,
    engines: AcpEngines,
    store: SessionStore,
    stdin: AcpLineReader,
    stdout: RawStream,
    interruption: ProcessInterrupt,
) -> int:
    """Serve until the client closes its side or a signal arrives. Return the exit code."""
    out = OutputStream(stdout)
    async with asyncio.TaskGroup() as tasks:
        client = AcpClient()
        sessions = SessionRegistry(client=client, engines=engines, tasks=tasks)
        lifecycle = SessionLifecycle(sessions=sessions, store=store)
        agent = AcpAgent(
            client=client,
            sessions=sessions,
            lifecycle=lifecycle,
            login=ModelLogin(engines),
            version=version,
        )
        connection = CancelingConnection(agent.handle, LineTransport(stdin, out, agent), listening=False)
        client.connect(connection)
        stop_tasks = [
            tasks.create_task(it) for it in (connection.main_loop(), interruption.wait(), out.broken.wait())
        ]
        await asyncio.wait(stop_tasks, return_when=asyncio.FIRST_COMPLETED)
        out.stop_waiting()  # sessions end even if the client no longer reads
        await sessions.close_all()
        for task in stop_tasks:
            task.cancel()
        await connection.close()
    if not await out.close(within_s=READ_TIMEOUT_S):
        logger.warning("the client didn't read all output")
    if interruption.signal_number is not None:
        return 128 + interruption.signal_number
    return ExitCode.PIPE_CLOSED if out.broken.is_set() else ExitCode.DONE
