"""Execution of the tool calls of one step."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from kimi_tui.base.message import ToolCall
from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.hooks.dispatcher import NO_HOOKS, HookDispatcher
from kimi_tui.tools.approval import ToolRejected
from kimi_tui.tools.change_tracker import ChangeTracker, PendingChange, PendingCommit
from kimi_tui.tools.hooked_call import HookedCall
from kimi_tui.tools.tool import CallContext, Tool, failure, not_run
from kimi_tui.tools.toolset import InvalidToolCall, ResolvedCall, Toolset
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import ToolOutput, ToolResult, ToolReturn

logger = logging.getLogger(__name__)

_NOT_BEGUN_RESULT = not_run("The call was interrupted before it began. Nothing was done.")
_TRIAL_RESULT = not_run("The call was interrupted before its changes were allowed. They were discarded.")
_INTERRUPTED_TEXT = "The call was interrupted. Its effects may be incomplete: check before you repeat it."
SKIPPED_RESULT = not_run("The call was not run because the user rejected another call of this step.")


class ResultStore(Protocol):
    """Saves the results of calls as they end."""

    async def save_result(self, call: ToolCall, result: ToolReturn) -> None:
        """Save the result of `call`, which replaces an earlier one. Raises JournalWriteError."""
        ...


class CallGate(Protocol):
    """Decides which calls may run at the moment."""

    def refusal_reason(self, tool: Tool[Any], params: BaseModel, /) -> str:
        """Return why the call may not run; empty if it may."""
        ...


@dataclass(slots=True, eq=False)
class _PendingCall:
    """State of one call of the step."""

    call: ToolCall
    state: Literal["waiting", "trying", "begun", "ended"] = "waiting"
    """`trying`: it runs in a workspace, and has changed nothing yet."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    interrupted_note: str = ""
    """Note that the call adds to its result if it is interrupted."""

    @property
    def interrupted_result(self) -> ToolReturn:
        """Result of the call if it is interrupted now. It changes nothing before it has begun."""
        if self.state == "waiting":
            return _NOT_BEGUN_RESULT
        if self.state == "trying":
            return _TRIAL_RESULT
        return failure(f"{_INTERRUPTED_TEXT} {self.interrupted_note}".rstrip(), brief="interrupted")


class ToolBatch:
    """Runs the calls of one step, with exactly one result each.

    The permission requests of all calls are open together. Side effects happen one call after another, in the
    order of the calls. Calls without side effects run in parallel after the earlier changes; some tools run
    their calls one by one. A rejection without feedback cancels the calls that haven't started. A call that
    the gate refuses doesn't run. If the gate closes while the call awaits approval, the call changes nothing.
    """

    def __init__(
        self,
        toolset: Toolset,
        calls: Sequence[ToolCall],
        *,
        sender: EventSender,
        results: ResultStore,
        change_tracker: ChangeTracker | None = None,
        gate: CallGate | None = None,
        hooks: HookDispatcher = NO_HOOKS,
    ) -> None:
        self._toolset = toolset
        self._pending = [_PendingCall(call) for call in calls]
        self._sender = sender
        self._result_store = results
        self._change_tracker = change_tracker
        self._gate = gate
        self._hooks = hooks
        self._results: dict[int, ToolReturn] = {}
        self._failure: Exception | None = None
        self.rejected = False
        """Whether the user rejected a call without feedback, which ends the turn."""

    @property
    def results(self) -> list[tuple[ToolCall, ToolReturn]]:
        """Every call with its result, in the order of the calls. Complete once `run` returns or raises."""
        return [
            (pending.call, self._results.get(index, pending.interrupted_result))
            for index, pending in enumerate(self._pending)
        ]

    async def run(self) -> None:
        """Run all calls. Each result is saved before it is sent.

        If canceled, stop the calls, give the unfinished ones their result and re-raise. Raises the error of
        `ResultStore.save_result` after the other calls have ended.
        """
        try:
            async with asyncio.TaskGroup() as group:
                for index, pending in enumerate(self._pending):
                    pending.task = group.create_task(self._run_call(index, pending))
        finally:
            for index, pending in enumerate(self._pending):
                if pending.state != "ended":  # canceled before its task started
                    self._finish_call(index, pending)
        if self._failure is not None:
            raise self._failure

    async def _run_call(self, index: int, pending: _PendingCall) -> None:
        try:
            hooked = HookedCall(self._hooks, pending.call)
            self._results[index] = await self._compute_result(index, pending, hooked)
            self._results[index] = await hooked.run_after(self._results[index])
            await self._result_store.save_result(pending.call, self._results[index])
        except asyncio.CancelledError:
            skipped = self.rejected and pending.state == "waiting"
            self._results.setdefault(index, SKIPPED_RESULT if skipped else pending.interrupted_result)
            raise
        except Exception as error:  # noqa: BLE001 - `run` raises it
            self._failure = error
        finally:
            self._finish_call(index, pending)

    async def _compute_result(self, index: int, pending: _PendingCall, hooked_call: HookedCall) -> ToolReturn:
        try:
            resolved = self._toolset.resolve_call(pending.call)
            tool, params = resolved.tool, resolved.params
            if refusal := self._refusal_reason(tool, params):
                return failure(refusal, brief="not allowed now")
            if not tool.has_side_effects:
                await self._wait_for_earlier_calls(index, self._toolset.has_side_effects)
                if tool.runs_sequentially:
                    name = pending.call.function.name
                    await self._wait_for_earlier_calls(index, lambda it: it.function.name == name)
                pending.state = "begun"
            return await hooked_call.run_before(resolved) or await _run_tool(
                tool, params, _BatchCall(self, index, pending, resolved)
            )
        except InvalidToolCall as error:
            return failure(str(error), brief="invalid call")
        except ToolRejected as rejection:
            if rejection.ends_turn:
                self._cancel_waiting_calls(pending)
            return _rejected_result(rejection)
        except Exception as error:
            logger.exception("tool %s failed", pending.call.function.name)
            return failure(f"{pending.call.function.name} failed: {type(error).__name__}: {error}")

    def _refusal_reason(self, tool: Tool[Any], params: BaseModel) -> str:
        return self._gate.refusal_reason(tool, params) if self._gate is not None else ""

    async def _wait_for_earlier_calls(
        self, index: int, matches: Callable[[ToolCall], bool] = lambda _: True
    ) -> None:
        """Wait for the earlier calls that `matches` accepts."""
        for earlier in self._pending[:index]:
            if matches(earlier.call):
                await earlier.ended.wait()

    def _cancel_waiting_calls(self, rejected: _PendingCall) -> None:
        self.rejected = True
        for pending in self._pending:
            if pending is not rejected and pending.state == "waiting" and pending.task is not None:
                pending.task.cancel()

    def _finish_call(self, index: int, pending: _PendingCall) -> None:
        result = self._results.setdefault(index, pending.interrupted_result)
        pending.state = "ended"
        pending.ended.set()
        self._sender.send(ToolResult(pending.call.id, result))


class _BatchCall:
    """A running call of a batch, as its tool sees it. Implements `CallContext`."""

    def __init__(self, batch: ToolBatch, index: int, pending: _PendingCall, resolved: ResolvedCall) -> None:
        self.id = pending.call.id
        self.tool_name = resolved.name
        self._batch = batch
        self._index = index
        self._pending = pending
        self._tool = resolved.tool
        self._params = resolved.params

    def show_output(self, text: str) -> None:
        if self._pending.state != "ended":  # what a tool has started may outlive its call
            self._batch._sender.send(ToolOutput(self.id, text))

    @asynccontextmanager
    async def exclusive(self, *, is_tracked: bool = True, is_trial: bool = False) -> AsyncIterator[None]:
        batch, pending = self._batch, self._pending
        await batch._wait_for_earlier_calls(self._index)
        if refusal := batch._refusal_reason(self._tool, self._params):
            raise ToolRejected(refusal, ends_turn=False)
        pending.state = "trying" if is_trial else "begun"
        try:
            async with self.tracking() if is_tracked else nullcontext():
                yield
        except Exception:
            if pending.state == "trying":
                pending.state = "waiting"  # it may ask before it runs now
            raise

    def tracking(self, commit: PendingCommit | None = None) -> AbstractAsyncContextManager[None]:
        tracker = self._batch._change_tracker
        self._pending.state = "begun"
        if tracker is None:
            return nullcontext()
        return tracker.tracking(
            self._pending.call,
            commit
            or PendingChange(self._tool.target_files(self._params), self._tool.shell_command(self._params)),
        )

    @property
    def author(self) -> ChangeAuthor:
        command, tracker = self._tool.shell_command(self._params), self._batch._change_tracker
        if tracker is None:
            return ChangeAuthor(who="call", call=self.id, tool=self.tool_name, command=command)
        return tracker.author(self._pending.call, command)

    async def set_interrupted_note(self, text: str) -> None:
        self._pending.interrupted_note = text
        await self._batch._result_store.save_result(self._pending.call, self._pending.interrupted_result)


async def _run_tool(tool: Tool[Any], params: BaseModel, call: CallContext) -> ToolReturn:
    result: object = await tool.run(params, call)
    if not isinstance(result, ToolReturn):  # a user's own tool may return anything
        raise TypeError(f"it returned {type(result).__name__}, not a ToolReturn")
    return result


def _rejected_result(rejection: ToolRejected) -> ToolReturn:
    if rejection.feedback:
        result = failure(
            f"The call was rejected: {rejection.feedback}",
            brief=msg("rejected: {feedback}", feedback=rejection.feedback),
        )
    else:
        result = failure(
            "The user rejected the call. Stop and wait for the user's next message.",
            brief="rejected",
        )
    return replace(result, extras={"rejected": True})
