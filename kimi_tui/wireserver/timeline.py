"""The methods of the timeline: a command each, answered with the event that it brings about."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.codec import encode
from kimi_tui.wire.commands import (
    Compare,
    ForkSession,
    LookIntoBranch,
    NameCheckpoint,
    PlanRevert,
    PlanSwitch,
    Redo,
    Revert,
    ShowTimeline,
    SwitchBranch,
    TravelCommand,
    Undo,
    WritePatch,
)
from kimi_tui.wire.outcome import refusal_in, travelled
from kimi_tui.wire.timeline import (
    BranchContent,
    Comparison,
    PatchWritten,
    Reverted,
    RevertPlan,
    RevertScope,
    SessionForked,
    Timeline,
)
from kimi_tui.wireserver.jsonrpc import Call, ErrorCode, RpcError
from kimi_tui.wireserver.params import Params, params_of

_Id = Field(ge=0)


class _Plan(Params):
    """Where a plan is to lead: `to` a checkpoint, back or forth; or to a `branch`, or `to` in it."""

    to: int | Literal["undo", "redo"] | None = None
    branch: int | None = None
    scope: RevertScope = "both"


class _Revert(Params):
    to: int = _Id
    scope: RevertScope = "both"
    paths: tuple[str, ...] | None = None
    note: str = ""


class _Paths(Params):
    paths: tuple[str, ...] | None = None


class _Switch(Params):
    branch: int = _Id
    to: int | None = None
    scope: RevertScope = "both"
    paths: tuple[str, ...] | None = None


class _Fork(Params):
    to: int | None = None


class _Compare(Params):
    before: int = _Id
    after: int | None = None


class _Patch(Params):
    before: int = _Id
    after: int | None = None
    path: str = ""


class _Branch(Params):
    branch: int = _Id


class _Name(Params):
    id: int = _Id
    name: str = ""


@dataclass(frozen=True, slots=True)
class Method:
    """What a method asks of the engine."""

    command: Callable[[Call], TravelCommand]
    answer: type | None
    """The event whose payload is the result; None when there is nothing to tell."""
    needs_rest: bool = False
    """Whether it is refused while a turn runs."""


def _planned(call: Call) -> TravelCommand:
    params = params_of(_Plan, call)
    if params.branch is not None and not isinstance(params.to, str):
        return PlanSwitch(params.branch, params.to)
    if params.branch is not None or params.to is None:
        raise RpcError(ErrorCode.BAD_PARAMS, "A plan needs a checkpoint, “undo” or “redo”, or a branch.")
    return PlanRevert(params.to, params.scope)


def _switched(call: Call) -> TravelCommand:
    params = params_of(_Switch, call)
    return SwitchBranch(params.branch, params.to, params.scope, params.paths)


def _reverted(call: Call) -> TravelCommand:
    params = params_of(_Revert, call)
    return Revert(params.to, params.scope, params.paths, params.note)


def _compared(call: Call) -> TravelCommand:
    params = params_of(_Compare, call)
    return Compare(params.before, params.after)


def _patched(call: Call) -> TravelCommand:
    params = params_of(_Patch, call)
    return WritePatch(params.before, params.after, params.path)


def _named(call: Call) -> TravelCommand:
    params = params_of(_Name, call)
    return NameCheckpoint(params.id, params.name)


METHODS: Mapping[str, Method] = {
    "timeline": Method(lambda _: ShowTimeline(), Timeline),
    "plan_revert": Method(_planned, RevertPlan),
    "revert": Method(_reverted, Reverted, needs_rest=True),
    "undo": Method(lambda call: Undo(params_of(_Paths, call).paths), Reverted, needs_rest=True),
    "redo": Method(lambda call: Redo(params_of(_Paths, call).paths), Reverted, needs_rest=True),
    "switch_branch": Method(_switched, Reverted, needs_rest=True),
    "fork": Method(lambda call: ForkSession(params_of(_Fork, call).to), SessionForked, needs_rest=True),
    "compare": Method(_compared, Comparison),
    "write_patch": Method(_patched, PatchWritten),
    "look_into_branch": Method(lambda call: LookIntoBranch(params_of(_Branch, call).branch), BranchContent),
    "name_checkpoint": Method(_named, None),
}


async def answered(wire: Wire, method: Method, command: TravelCommand) -> dict[str, Any]:
    """Have the engine do it and return what came of it. Raises RpcError, WireClosed."""
    return _result(method, await travelled(wire, command))


def _result(method: Method, events: Sequence[Outgoing]) -> dict[str, Any]:
    found = [event for event in events if method.answer is not None and isinstance(event, method.answer)]
    refusal = refusal_in(events)
    if found:
        result: dict[str, Any] = encode(found[-1])["payload"]
        if refusal is not None and refusal.severity == "error":
            result["problem"] = f"{refusal.title} {refusal.body}".strip()
        return result
    if refusal is not None and (method.answer is not None or refusal.severity == "error"):
        raise RpcError(ErrorCode.BAD_PARAMS, f"{refusal.title} {refusal.body}".strip())
    if method.answer is None:
        return {"status": "ok"}
    raise RpcError(ErrorCode.INTERNAL, "Nothing came of it. See the log.")
