"""The tool calls of a session as the tool pane lists them: a value, replaced as calls go on."""

from dataclasses import replace
from typing import Literal

from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.value import value
from kimi_tui.wire.events import ToolResult

RunStatus = Literal["running", "done", "failed", "stopped"]

KEPT = 500
"""How many calls the pane remembers; the transcript has them all."""


@value(kw_only=True)
class ToolRun:
    """One tool call."""

    id: str
    name: str
    arguments: str = ""
    """JSON text; incomplete while it streams."""
    status: RunStatus = "running"
    started: float | None = None
    """When it began, or was allowed to begin; None in a replay."""
    seconds: float | None = None


@value
class ToolRuns:
    """The latest calls, oldest first, and which of them go on."""

    all: tuple[ToolRun, ...] = ()
    running: frozenset[str] = frozenset()
    """Ids."""

    def begun(self, call: ToolCall, *, now: float | None) -> "ToolRuns":
        """One more, which begins `now`; None when that is not known."""
        arguments = call.function.arguments or ""
        run = ToolRun(id=call.id, name=call.function.name, arguments=arguments, started=now)
        return ToolRuns((*self.all[-KEPT + 1 :], run), self.running | {call.id})

    def fed(self, part: ToolCallPart) -> "ToolRuns":
        """More of the arguments of a call, the last one when the part names none."""
        index = len(self.all) - 1 if part.tool_call_id is None else self._place(part.tool_call_id)
        if index < 0:
            return self
        run = self.all[index]
        return self._with(index, replace(run, arguments=run.arguments + (part.arguments_part or "")))

    def allowed(self, call_id: str, *, now: float) -> "ToolRuns":
        """The call waited for the user until `now`; that time is not its own."""
        index = self._place(call_id)
        return self if index < 0 else self._with(index, replace(self.all[index], started=now))

    def ended(self, result: ToolResult, *, now: float) -> "ToolRuns":
        """A call has its result."""
        index = self._place(result.tool_call_id)
        if index < 0:
            return self
        run = self.all[index]
        run = replace(
            run,
            status="failed" if result.return_value.is_error else "done",
            seconds=None if run.started is None else now - run.started,
        )
        return ToolRuns(self._with(index, run).all, self.running - {run.id})

    def stopped(self) -> "ToolRuns":
        """What still ran was cut short."""
        if not self.running:
            return self
        return ToolRuns(
            tuple(replace(run, status="stopped") if run.id in self.running else run for run in self.all)
        )

    def dropped(self) -> "ToolRuns":
        """What still ran never was: the answer that asked for it is made anew."""
        return (
            ToolRuns(tuple(run for run in self.all if run.id not in self.running)) if self.running else self
        )

    def order(self, call_id: str) -> int:
        """Which in line a call is; those of sub-agents, which are not listed, come after all others."""
        index = self._place(call_id)
        return index if index >= 0 else len(self.all)

    def _place(self, call_id: str) -> int:
        # From the end: what happens concerns the latest calls.
        return next((n for n in range(len(self.all) - 1, -1, -1) if self.all[n].id == call_id), -1)

    def _with(self, index: int, run: ToolRun) -> "ToolRuns":
        return ToolRuns((*self.all[:index], run, *self.all[index + 1 :]), self.running)
