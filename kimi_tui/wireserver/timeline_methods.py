"""Timeline methods. Each runs one engine command and returns the payload of the resulting event."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.codec import encode
from kimi_tui.wire.commands import (
    Compare,
    ForkSession,
    NameCheckpoint,
    PlanRevert,
    PlanSwitch,
    ReadBranch,
    Redo,
    Revert,
    ShowTimeline,
    SwitchBranch,
    TimelineCommand,
    Undo,
    WritePatch,
)
from kimi_tui.wire.revert_outcome import find_failure, run_timeline_command
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
from kimi_tui.wireserver.jsonrpc import ErrorCode, RpcCall, RpcError
from kimi_tui.wireserver.params import Params, parse_params

_Id = Field(ge=0)


class _PlanParams(Params):
    """Target of a plan: checkpoint `to`, "undo" or "redo", a `branch`, or checkpoint `to` on that branch."""

    to: int | Literal["undo", "redo"] | None = None
    branch: int | None = None
    scope: RevertScope = "both"


class _RevertParams(Params):
    to: int = _Id
    scope: RevertScope = "both"
    paths: tuple[str, ...] | None = None
    note: str = ""


class _PathsParams(Params):
    paths: tuple[str, ...] | None = None


class _SwitchParams(Params):
    branch: int = _Id
    to: int | None = None
    scope: RevertScope = "both"
    paths: tuple[str, ...] | None = None


class _ForkParams(Params):
    to: int | None = None


class _CompareParams(Params):
    before: int = _Id
    after: int | None = None


class _PatchParams(Params):
    before: int = _Id
    after: int | None = None
    path: str = ""


class _BranchParams(Params):
    branch: int = _Id


class _NameParams(Params):
    id: int = _Id
    name: str = ""


@dataclass(frozen=True, slots=True)
class TimelineMethod:
    """A timeline method and its engine command."""

    command: Callable[[RpcCall], TimelineCommand]
    event_type: type | None
    """Event whose payload is the result; None if the method has no result."""
    requires_idle: bool = False
    """Whether the method is rejected while a turn is running."""


def _plan_command(call: RpcCall) -> TimelineCommand:
    params = parse_params(_PlanParams, call)
    if params.branch is not None and not isinstance(params.to, str):
        return PlanSwitch(params.branch, params.to)
    if params.branch is not None or params.to is None:
        raise RpcError(ErrorCode.BAD_PARAMS, "Specify a checkpoint, “undo”, “redo” or a branch.")
    return PlanRevert(params.to, params.scope)


def _switch_command(call: RpcCall) -> TimelineCommand:
    params = parse_params(_SwitchParams, call)
    return SwitchBranch(params.branch, params.to, params.scope, params.paths)


def _revert_command(call: RpcCall) -> TimelineCommand:
    params = parse_params(_RevertParams, call)
    return Revert(params.to, params.scope, params.paths, params.note)


def _compare_command(call: RpcCall) -> TimelineCommand:
    params = parse_params(_CompareParams, call)
    return Compare(params.before, params.after)


def _patch_command(call: RpcCall) -> TimelineCommand:
    params = parse_params(_PatchParams, call)
    return WritePatch(params.before, params.after, params.path)


def _name_command(call: RpcCall) -> TimelineCommand:
    params = parse_params(_NameParams, call)
    return NameCheckpoint(params.id, params.name)


METHODS: Mapping[str, TimelineMethod] = {
    "timeline": TimelineMethod(lambda _: ShowTimeline(), Timeline),
    "plan_revert": TimelineMethod(_plan_command, RevertPlan),
    "revert": TimelineMethod(_revert_command, Reverted, requires_idle=True),
    "undo": TimelineMethod(
        lambda call: Undo(parse_params(_PathsParams, call).paths), Reverted, requires_idle=True
    ),
    "redo": TimelineMethod(
        lambda call: Redo(parse_params(_PathsParams, call).paths), Reverted, requires_idle=True
    ),
    "switch_branch": TimelineMethod(_switch_command, Reverted, requires_idle=True),
    "fork": TimelineMethod(
        lambda call: ForkSession(parse_params(_ForkParams, call).to), SessionForked, requires_idle=True
    ),
    "compare": TimelineMethod(_compare_command, Comparison),
    "write_patch": TimelineMethod(_patch_command, PatchWritten),
    "look_into_branch": TimelineMethod(
        lambda call: ReadBranch(parse_params(_BranchParams, call).branch), BranchContent
    ),
    "name_checkpoint": TimelineMethod(_name_command, None),
}


async def run_method(wire: Wire, method: TimelineMethod, command: TimelineCommand) -> dict[str, Any]:
    """Run `command` in the engine and return the result. Raises RpcError, WireClosed."""
    return _build_result(method, await run_timeline_command(wire, command))


def _build_result(method: TimelineMethod, events: Sequence[Outgoing]) -> dict[str, Any]:
    matches = [
        event for event in events if method.event_type is not None and isinstance(event, method.event_type)
    ]
    failure = find_failure(events)
    if matches:
        result: dict[str, Any] = encode(matches[-1])["payload"]
        if failure is not None and failure.severity == "error":
            result["problem"] = f"{failure.title} {failure.body}".strip()
        return result
    if failure is not None and (method.event_type is not None or failure.severity == "error"):
        raise RpcError(ErrorCode.BAD_PARAMS, f"{failure.title} {failure.body}".strip())
    if method.event_type is None:
        return {"status": "ok"}
    raise RpcError(ErrorCode.INTERNAL, "The command returned no result. See the log for details.")
