"""The tool calls of one step: run together, change things in order, and each gets exactly one result."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from kimi_tui.base.message import ToolCall
from kimi_tui.base.value import value
from kimi_tui.hooks.hooks import NO_HOOKS, Firing
from kimi_tui.tools.approval import ToolRejected
from kimi_tui.tools.hooked_call import HookedCall
from kimi_tui.tools.tool import RunningCall, Tool, failed
from kimi_tui.tools.toolset import BadCall, Toolset
from kimi_tui.wire.events import ToolOutput, ToolResult, ToolReturn

logger = logging.getLogger(__name__)

_INTERRUPTED = (
    "The call was interrupted before it ended. Its effects may be incomplete: check before you repeat it."
)
SKIPPED = failed("The call was not run, since the user rejected another call of this step.", brief="not run")


@value
class Change:
    """What a call that has its turn may change."""

    files: tuple[str, ...] | None
    """The only files, as its parameters name them; None when it may be any."""
    command: str
    """The shell command that it runs, if it does."""


class Around(Protocol):
    """What is done before and after a call changes anything."""

    def __call__(self, call: ToolCall, change: Change, /) -> AbstractAsyncContextManager[None]:
        """Enter before `call` changes anything; exit when it has."""
        ...


class Gate(Protocol):
    """What keeps calls from running for now."""

    def refusal(self, tool: Tool[Any], params: BaseModel, /) -> str:
        """Why the call may not run; empty when it may."""
        ...


@dataclass(slots=True, eq=False)
class _Slot:
    """One call's place in the step."""

    call: ToolCall
    state: Literal["waiting", "begun", "ended"] = "waiting"
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    word: str = ""
    """What the call left to be said, should it be interrupted."""

    @property
    def interrupted(self) -> ToolReturn:
        """Its result, should it end here."""
        return failed(f"{_INTERRUPTED} {self.word}".rstrip(), brief="interrupted")


class StepCalls:
    """Runs the calls of one step.

    Approvals of all calls are open together. What changes anything runs one after another in the order of the
    calls; what only reads runs beside its like, after the changes asked for before it, and some tools' calls
    one by one. A rejection without feedback cancels the calls that have not begun. What the gate refuses
    doesn't run, and changes nothing when the gate closes only after it has begun to ask.
    """

    def __init__(
        self,
        toolset: Toolset,
        calls: Sequence[ToolCall],
        *,
        send: Callable[[ToolResult | ToolOutput], None],
        keep: Callable[[ToolCall, ToolReturn], Awaitable[None]],
        around: Around | None = None,
        gate: Gate | None = None,
        hooks: Firing = NO_HOOKS,
    ) -> None:
        self._toolset = toolset
        self._slots = [_Slot(call) for call in calls]
        self._send = send
        self._keep = keep
        self._around = around
        self._gate = gate
        self._hooks = hooks
        self._results: dict[int, ToolReturn] = {}
        self._failure: Exception | None = None
        self.rejected = False
        """Whether the user rejected a call without feedback: the turn ends."""

    @property
    def results(self) -> list[tuple[ToolCall, ToolReturn]]:
        """Every call with its result, in the order of the calls. Complete once `run` has ended or raised."""
        return [
            (slot.call, self._results.get(index, slot.interrupted)) for index, slot in enumerate(self._slots)
        ]

    async def run(self) -> None:
        """Run all calls. Each result is kept before it is sent.

        Cancelled, it stops the calls, gives the unfinished ones their result and raises on. Raises what
        `keep` raised, after the other calls have ended.
        """
        try:
            async with asyncio.TaskGroup() as group:
                for index, slot in enumerate(self._slots):
                    slot.task = group.create_task(self._run_slot(index, slot))
        finally:
            for index, slot in enumerate(self._slots):
                if slot.state != "ended":  # cancelled before its task began
                    self._end(index, slot)
        if self._failure is not None:
            raise self._failure

    async def _run_slot(self, index: int, slot: _Slot) -> None:
        try:
            hooked = HookedCall(self._hooks, slot.call)
            self._results[index] = await self._result_of(index, slot, hooked)
            self._results[index] = await hooked.after(self._results[index])
            await self._keep(slot.call, self._results[index])
        except asyncio.CancelledError:
            skipped = self.rejected and slot.state == "waiting"
            self._results.setdefault(index, SKIPPED if skipped else slot.interrupted)
            raise
        except Exception as error:  # noqa: BLE001 - `run` raises it
            self._failure = error
        finally:
            self._end(index, slot)

    async def _result_of(self, index: int, slot: _Slot, hooked: HookedCall) -> ToolReturn:
        call = RunningCall(
            slot.call.id,
            slot.call.function.name,
            lambda text: self._show(slot, text),
            lambda: self._turn_of(index, slot, tool, params),
            lambda text: self._leave_word(slot, text),
        )
        try:
            tool, params = self._toolset.find(slot.call)
            if refusal := self._refusal(tool, params):
                return failed(refusal, brief="not allowed now")
            if not tool.changes_things:
                await self._earlier_calls(index, self._toolset.changes_things)
                if tool.one_by_one:
                    await self._earlier_calls(index, lambda name: name == slot.call.function.name)
                slot.state = "begun"
            return await hooked.before(tool, params) or await _returned(tool, params, call)
        except BadCall as error:
            return failed(str(error), brief="invalid call")
        except ToolRejected as rejection:
            if rejection.ends_turn:
                self._skip_waiting(slot)
            return _rejection(rejection)
        except Exception as error:
            logger.exception("tool %s failed", slot.call.function.name)
            return failed(f"{slot.call.function.name} failed: {type(error).__name__}: {error}")

    async def _leave_word(self, slot: _Slot, text: str) -> None:
        slot.word = text
        await self._keep(slot.call, slot.interrupted)

    def _show(self, slot: _Slot, text: str) -> None:
        if slot.state != "ended":  # a tool may leave something behind that goes on
            self._send(ToolOutput(slot.call.id, text))

    def _refusal(self, tool: Tool[Any], params: BaseModel) -> str:
        return self._gate.refusal(tool, params) if self._gate is not None else ""

    def _turn_of(
        self, index: int, slot: _Slot, tool: Tool[Any], params: BaseModel
    ) -> AbstractAsyncContextManager[None]:
        @asynccontextmanager
        async def turn() -> AsyncIterator[None]:
            await self._earlier_calls(index)
            if refusal := self._refusal(tool, params):
                raise ToolRejected(refusal, ends_turn=False)
            slot.state = "begun"
            change = Change(tool.changed_files(params), tool.command(params))
            async with self._around(slot.call, change) if self._around is not None else nullcontext():
                yield

        return turn()

    async def _earlier_calls(self, index: int, of: Callable[[str], bool] = lambda _: True) -> None:
        """Wait for the end of the calls before it, of the tools that `of` names."""
        for earlier in self._slots[:index]:
            if of(earlier.call.function.name):
                await earlier.ended.wait()

    def _skip_waiting(self, rejected: _Slot) -> None:
        self.rejected = True
        for slot in self._slots:
            if slot is not rejected and slot.state == "waiting" and slot.task is not None:
                slot.task.cancel()

    def _end(self, index: int, slot: _Slot) -> None:
        slot.state = "ended"
        slot.ended.set()
        self._send(ToolResult(slot.call.id, self._results.setdefault(index, slot.interrupted)))


async def _returned(tool: Tool[Any], params: BaseModel, call: RunningCall) -> ToolReturn:
    result: object = await tool.run(params, call)
    if not isinstance(result, ToolReturn):  # a user's own tool may return anything
        raise TypeError(f"it returned {type(result).__name__}, not a ToolReturn")
    return result


def _rejection(rejection: ToolRejected) -> ToolReturn:
    if rejection.feedback:
        result = failed(
            f"The call was rejected: {rejection.feedback}", brief=f"rejected: {rejection.feedback}"
        )
    else:
        result = failed(
            "The user rejected the call. Stop what you are doing and wait for what the user says next.",
            brief="rejected",
        )
    return replace(result, extras={"rejected": True})
