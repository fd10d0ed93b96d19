"""Tool calls of a session, as the tool pane lists them: an immutable value."""

from dataclasses import replace
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.tool_arguments import replace_command
from kimi_tui.wire.events import ToolResult, ToolReturn

RunStatus = Literal["running", "done", "failed", "stopped"]

MAX_RUNS = 500
"""Maximum number of calls to keep. The transcript has all calls."""
SHELL_TOOLS = frozenset({"Bash", "Shell", "CMD", "PowerShell"})
"""Tools that run commands."""


@frozen(kw_only=True)
class ToolRun:
    """One tool call."""

    id: str
    name: str
    arguments: str = ""
    """JSON text, incomplete while it streams."""
    status: RunStatus = "running"
    started_at: float | None = None
    """Time at which the call started or was approved. None in a replay."""
    duration_s: float | None = None


@frozen
class ToolRuns:
    """The latest calls, oldest first, and the running ones among them."""

    calls: tuple[ToolRun, ...] = ()
    running_ids: frozenset[str] = frozenset()

    def begin_call(self, call: ToolCall, *, now: float | None) -> "ToolRuns":
        """Add a call that starts at `now`. None if the time is unknown."""
        arguments = call.function.arguments or ""
        run = ToolRun(id=call.id, name=call.function.name, arguments=arguments, started_at=now)
        return ToolRuns((*self.calls[-MAX_RUNS + 1 :], run), self.running_ids | {call.id})

    def append_arguments(self, part: ToolCallPart) -> "ToolRuns":
        """Append to the arguments of a call, or of the last one if `part` has no id."""
        index = len(self.calls) - 1 if part.tool_call_id is None else self._index_of(part.tool_call_id)
        if index < 0:
            return self
        run = self.calls[index]
        return self._replace_at(index, replace(run, arguments=run.arguments + (part.arguments_part or "")))

    def restart_clock(self, call_id: str, *, now: float) -> "ToolRuns":
        """Restart a call's time at `now`, because the user has answered the call's request."""
        index = self._index_of(call_id)
        return self if index < 0 else self._replace_at(index, replace(self.calls[index], started_at=now))

    def replace_command(self, call_id: str, command: str) -> "ToolRuns":
        """Replace the command of a call with the command as the user edited it."""
        index = self._index_of(call_id)
        if index < 0:
            return self
        run = self.calls[index]
        return self._replace_at(index, replace(run, arguments=replace_command(run.arguments, command)))

    def end_call(self, result: ToolResult, *, now: float) -> "ToolRuns":
        """Record the result of a call."""
        index = self._index_of(result.tool_call_id)
        if index < 0:
            return self
        run = self.calls[index]
        run = replace(
            run,
            status=_status_of(result.return_value),
            duration_s=None if run.started_at is None else now - run.started_at,
        )
        return ToolRuns(self._replace_at(index, run).calls, self.running_ids - {run.id})

    def stop_running(self) -> "ToolRuns":
        """Mark running calls as stopped."""
        if not self.running_ids:
            return self
        return ToolRuns(
            tuple(replace(run, status="stopped") if run.id in self.running_ids else run for run in self.calls)
        )

    def drop_running(self) -> "ToolRuns":
        """Remove running calls, because the response that contained them is retried."""
        return (
            ToolRuns(tuple(run for run in self.calls if run.id not in self.running_ids))
            if self.running_ids
            else self
        )

    def is_command_running(self, since: float) -> bool:
        """Return whether a command that started at `since` or earlier is running."""
        return bool(self.running_ids) and any(
            run.name in SHELL_TOOLS and run.started_at is not None and run.started_at <= since
            for run in reversed(self.calls)
            if run.id in self.running_ids
        )

    def position_of(self, call_id: str) -> int:
        """Return a call's position. Calls of sub-agents aren't listed: their position is after all others."""
        index = self._index_of(call_id)
        return index if index >= 0 else len(self.calls)

    def _index_of(self, call_id: str) -> int:
        # Search from the end, because events usually concern the latest calls.
        return next((n for n in range(len(self.calls) - 1, -1, -1) if self.calls[n].id == call_id), -1)

    def _replace_at(self, index: int, run: ToolRun) -> "ToolRuns":
        return ToolRuns((*self.calls[:index], run, *self.calls[index + 1 :]), self.running_ids)


def _status_of(result: ToolReturn) -> RunStatus:
    if result.was_not_run:
        return "stopped"
    return "failed" if result.is_error else "done"
