"""Timeline methods. Each runs one engine command and returns the payload of the resulting event."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
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
    FileChoice,
    PatchWritten,
    Reverted,
    RevertPlan,
    RevertScope,
    SessionForked,
    Timeline,
)
from kimi_tui.wireserver.jsonrpc import ErrorCode, RpcError
from kimi_tui.wireserver.params import Params

_Id = Field(ge=0)


class TimelineParams(Params):
    """Parameters of a timeline method."""

    @abstractmethod
    def build_command(self) -> TimelineCommand:
        """Return the engine command of the method. Raises RpcError."""


class _ShowParams(TimelineParams):
    def build_command(self) -> TimelineCommand:
        return ShowTimeline()


class _PlanParams(TimelineParams):
    """Target of a plan: checkpoint `to`, "undo" or "redo", a `branch`, or checkpoint `to` on that branch."""

    to: int | Literal["undo", "redo"] | None = None
    branch: int | None = None
    scope: RevertScope = "both"

    def build_command(self) -> TimelineCommand:
        if self.branch is not None and not isinstance(self.to, str):
            return PlanSwitch(self.branch, self.to)
        if self.branch is not None or self.to is None:
            raise RpcError(ErrorCode.BAD_PARAMS, "Specify a checkpoint, “undo”, “redo” or a branch.")
        return PlanRevert(self.to, self.scope)


class _RevertParams(TimelineParams):
    to: int = _Id
    scope: RevertScope = "both"
    paths: tuple[str, ...] | None = None
    note: str = ""
    choices: tuple[FileChoice, ...] = ()

    def build_command(self) -> TimelineCommand:
        return Revert(self.to, self.scope, self.paths, self.note, self.choices)


class _UndoParams(TimelineParams):
    paths: tuple[str, ...] | None = None
    choices: tuple[FileChoice, ...] = ()

    def build_command(self) -> TimelineCommand:
        return Undo(self.paths, self.choices)


class _RedoParams(TimelineParams):
    paths: tuple[str, ...] | None = None
    choices: tuple[FileChoice, ...] = ()

    def build_command(self) -> TimelineCommand:
        return Redo(self.paths, self.choices)


class _SwitchParams(TimelineParams):
    branch: int = _Id
    to: int | None = None
    scope: RevertScope = "both"
    paths: tuple[str, ...] | None = None
    choices: tuple[FileChoice, ...] = ()

    def build_command(self) -> TimelineCommand:
        return SwitchBranch(self.branch, self.to, self.scope, self.paths, self.choices)


class _ForkParams(TimelineParams):
    to: int | None = None

    def build_command(self) -> TimelineCommand:
        return ForkSession(self.to)


class _CompareParams(TimelineParams):
    before: int = _Id
    after: int | None = None

    def build_command(self) -> TimelineCommand:
        return Compare(self.before, self.after)


class _PatchParams(TimelineParams):
    before: int = _Id
    after: int | None = None
    path: str = ""

    def build_command(self) -> TimelineCommand:
        return WritePatch(self.before, self.after, self.path)


class _BranchParams(TimelineParams):
    branch: int = _Id

    def build_command(self) -> TimelineCommand:
        return ReadBranch(self.branch)


class _NameParams(TimelineParams):
    id: int = _Id
    name: str = ""

    def build_command(self) -> TimelineCommand:
        return NameCheckpoint(self.id, self.name)


@dataclass(frozen=True, slots=True)
class TimelineMethod:
    """A timeline method and its engine command."""

    params: type[TimelineParams]
    """Builds the engine command."""
    event_type: type | None
    """Event with the method's result as its payload. None: the method has no result."""
    requires_idle: bool = False
    """Whether the method is rejected while a turn is running."""


METHODS: Mapping[str, TimelineMethod] = {
    "timeline": TimelineMethod(_ShowParams, Timeline),
    "plan_revert": TimelineMethod(_PlanParams, RevertPlan),
    "revert": TimelineMethod(_RevertParams, Reverted, requires_idle=True),
    "undo": TimelineMethod(_UndoParams, Reverted, requires_idle=True),
    "redo": TimelineMethod(_RedoParams, Reverted, requires_idle=True),
    "switch_branch": TimelineMethod(_SwitchParams, Reverted, requires_idle=True),
    "fork": TimelineMethod(_ForkParams, SessionForked, requires_idle=True),
    "compare": TimelineMethod(_CompareParams, Comparison),
    "write_patch": TimelineMethod(_PatchParams, PatchWritten),
    "look_into_branch": TimelineMethod(_BranchParams, BranchContent),
    "name_checkpoint": TimelineMethod(_NameParams, None),
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
