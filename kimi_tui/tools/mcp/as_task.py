"""Calls of tools that run as tasks (MCP 2025-11-25, “Tasks”): begun, looked at, fetched, or cancelled."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import mcp_types
from mcp import ClientSession, MCPError

from kimi_tui.base.completion import carry_out
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.session import BEGUN_TASK

KEPT_MS = 24 * 3600 * 1000
"""How long the server is asked to keep a task and its result."""
_PAUSE_S = 1.0
_LEAST_PAUSE_S, _MOST_PAUSE_S = 0.05, 10.0
_CANCELLING_S = 2.0


async def call_as_task(
    session: ClientSession,
    name: str,
    arguments: dict[str, Any],
    *,
    on_progress: Any,
    heard: Callable[[], None],
    told: Callable[[str], None],
) -> mcp_types.CallToolResult:
    """Call a tool as a task and wait for its result; a call that is cancelled has the server cancel it.

    `heard` is called for each sign of life, `told` with what the server says of the task. Raises McpProblem,
    and MCPError as any call does.
    """
    params = mcp_types.CallToolRequestParams(
        name=name, arguments=arguments, task=mcp_types.TaskMetadata(ttl=KEPT_MS)
    )
    begun = await session.send_request(
        mcp_types.CallToolRequest(params=params), mcp_types.CallToolResult, progress_callback=on_progress
    )
    task = (begun.meta or {}).get(BEGUN_TASK)
    if task is None:
        return begun
    running = _Running(session, mcp_types.Task.model_validate(task), heard=heard, told=told)
    try:
        return await running.result()
    except BaseException:
        await carry_out(running.cancel())
        raise


class _Running:
    """One task at the server."""

    def __init__(
        self,
        session: ClientSession,
        task: mcp_types.Task,
        *,
        heard: Callable[[], None],
        told: Callable[[str], None],
    ) -> None:
        self._session = session
        self._task: mcp_types.Task = task
        self._heard = heard
        self._told = told

    async def result(self) -> mcp_types.CallToolResult:
        """What it comes to. While it wants input, the server asks for that before it answers."""
        self._tell("")
        while self._task.status == "working":
            await asyncio.sleep(self._pause_s())
            await self._look()
        if self._task.status == "cancelled":
            raise McpProblem("It cancelled the task.", hint="Ask for something else, or go on without it.")
        payload = mcp_types.GetTaskPayloadRequest(
            params=mcp_types.GetTaskPayloadRequestParams(task_id=self._task.task_id)
        )
        return await self._session.send_request(payload, mcp_types.CallToolResult)

    async def cancel(self) -> None:
        """Have the server give it up, if it still listens."""
        if self._task.status in ("completed", "failed", "cancelled"):
            return
        with suppress(MCPError, TimeoutError, ValueError, RuntimeError):
            async with asyncio.timeout(_CANCELLING_S):
                wish = mcp_types.CancelTaskRequest(
                    params=mcp_types.CancelTaskRequestParams(task_id=self._task.task_id)
                )
                await self._session.send_request(wish, mcp_types.Result)

    async def _look(self) -> None:
        before = self._task.status_message or ""
        asked = mcp_types.GetTaskRequest(params=mcp_types.GetTaskRequestParams(task_id=self._task.task_id))
        self._task = await self._session.send_request(asked, mcp_types.GetTaskResult)
        self._heard()
        self._tell(before)

    def _tell(self, before: str) -> None:
        now = self._task.status_message or ""
        if now and now != before:
            self._told(now)

    def _pause_s(self) -> float:
        wish = self._task.poll_interval
        pause = _PAUSE_S if wish is None else wish / 1000
        return min(max(pause, _LEAST_PAUSE_S), _MOST_PAUSE_S)
