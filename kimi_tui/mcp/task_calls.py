"""Calls of tools that run as tasks (MCP 2025-11-25, “Tasks”): start, poll, fetch the result, or cancel."""

import asyncio
from contextlib import suppress
from typing import Any

import mcp_types
from mcp import ClientSession, MCPError

from kimi_tui.base.shielding import run_shielded
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.pending_call import PendingCall
from kimi_tui.mcp.tolerant_session import TASK_META_KEY

TASK_TTL_MS = 24 * 3600 * 1000
"""Time for which the server should keep a task and its result, in milliseconds."""
_DEFAULT_POLL_S = 1.0
_MIN_POLL_S, _MAX_POLL_S = 0.05, 10.0
_CANCEL_TIMEOUT_S = 2.0


async def call_as_task(
    session: ClientSession,
    name: str,
    arguments: dict[str, Any],
    pending_call: PendingCall,
    *,
    on_progress: Any,
) -> mcp_types.CallToolResult:
    """Call a tool as a task and wait for its result. Canceling the call also cancels the task.

    Each message from the server restarts the timeout of `pending_call`. Status messages are reported as
    progress. Raises McpServerError and MCPError.
    """
    params = mcp_types.CallToolRequestParams(
        name=name, arguments=arguments, task=mcp_types.TaskMetadata(ttl=TASK_TTL_MS)
    )
    response = await session.send_request(
        mcp_types.CallToolRequest(params=params), mcp_types.CallToolResult, progress_callback=on_progress
    )
    task = (response.meta or {}).get(TASK_META_KEY)
    if task is None:
        return response
    running_task = _RunningTask(session, mcp_types.Task.model_validate(task), pending_call)
    try:
        return await running_task.wait_for_result()
    except BaseException:
        await run_shielded(running_task.cancel())
        raise


class _RunningTask:
    """A task running on the server."""

    def __init__(self, session: ClientSession, task: mcp_types.Task, pending_call: PendingCall) -> None:
        self._session = session
        self._task: mcp_types.Task = task
        self._pending_call = pending_call

    async def wait_for_result(self) -> mcp_types.CallToolResult:
        """Return the result. If the task needs input, the server sends a request before the result."""
        self._report_status("")
        while self._task.status == "working":
            await asyncio.sleep(self._poll_interval_s())
            await self._poll()
        if self._task.status == "cancelled":
            raise McpServerError(
                "The server canceled the task.", hint="Try something else, or continue without it."
            )
        payload = mcp_types.GetTaskPayloadRequest(
            params=mcp_types.GetTaskPayloadRequestParams(task_id=self._task.task_id)
        )
        return await self._session.send_request(payload, mcp_types.CallToolResult)

    async def cancel(self) -> None:
        """Ask the server to cancel the task, if it still responds."""
        if self._task.status in ("completed", "failed", "cancelled"):
            return
        with suppress(MCPError, TimeoutError, ValueError, RuntimeError):
            async with asyncio.timeout(_CANCEL_TIMEOUT_S):
                request = mcp_types.CancelTaskRequest(
                    params=mcp_types.CancelTaskRequestParams(task_id=self._task.task_id)
                )
                await self._session.send_request(request, mcp_types.Result)

    async def _poll(self) -> None:
        previous = self._task.status_message or ""
        request = mcp_types.GetTaskRequest(params=mcp_types.GetTaskRequestParams(task_id=self._task.task_id))
        self._task = await self._session.send_request(request, mcp_types.GetTaskResult)
        self._pending_call.reset_timeout()
        self._report_status(previous)

    def _report_status(self, previous: str) -> None:
        current = self._task.status_message or ""
        if current and current != previous:
            self._pending_call.report_progress(None, None, current)

    def _poll_interval_s(self) -> float:
        requested_ms = self._task.poll_interval
        interval_s = _DEFAULT_POLL_S if requested_ms is None else requested_ms / 1000
        return min(max(interval_s, _MIN_POLL_S), _MAX_POLL_S)
