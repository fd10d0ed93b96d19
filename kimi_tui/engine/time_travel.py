"""Time travel: going back to a checkpoint, undo and redo, of the conversation and the files."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kimi_tui.base.content import TextPart, UserInput, system_note
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.engine.revert_words import note_to_model, planned_files, request_in
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.history.context import Context, Reversion
from kimi_tui.history.session import Session
from kimi_tui.history.snapshots.manifest import is_manifest
from kimi_tui.history.state import Jump
from kimi_tui.tools.workspace import showable
from kimi_tui.wire.commands import PlanRevert, Redo, Revert, TravelCommand, Undo
from kimi_tui.wire.events import (
    CheckpointCreated,
    CheckpointKind,
    Event,
    Reverted,
    RevertPlan,
    RevertReason,
    RevertScope,
)

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.execution import Outcome
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.plan import Plan

_JUMPS_KEPT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Destination:
    """Where a jump goes."""

    checkpoint: int
    reason: RevertReason
    files: str | None
    """The files' state there, or why there is none."""
    branch: int | None = None
    """The rotation to go on with; None to cut the live line."""


class TimeTravel:
    """The jumps of one session. None of them is made while a turn runs: the engine sees to that.

    Before each the state is captured and becomes a checkpoint, so that the next undo leads there.
    """

    def __init__(
        self,
        *,
        session: Session,
        context: Context,
        files: SessionFiles,
        send: Callable[[Event], None],
    ) -> None:
        self._session = session
        self._context = context
        self._files = files
        self._send = send

    async def travel(self, command: TravelCommand) -> None:
        """Do what `command` says. Raises KimiTuiError."""
        match command:
            case PlanRevert(to=to):
                await self.show_plan(to)
            case Revert(to=to, scope=scope, paths=paths):
                await self.revert(to, scope, paths)
            case Undo(paths=paths):
                await self.undo(paths)
            case Redo(paths=paths):
                await self.redo(paths)
            case _:
                raise KimiTuiError("This can't be done yet.", hint="/revert, /undo and /redo can.")

    async def show_plan(self, to: int | Literal["undo", "redo"]) -> None:
        """Send what going there would do. Raises KimiTuiError."""
        destination = self._destination(to)
        plan, note = await self._plan(destination)
        files = await self._files.use(planned_files, plan) if plan is not None else ()
        commands = plan.commands if plan is not None else ()
        self._send(RevertPlan(destination.checkpoint, destination.reason, files, commands, note))

    async def revert(self, to: int, scope: RevertScope, paths: Sequence[str] | None) -> None:
        """Go back to just before a checkpoint. Raises KimiTuiError."""
        await self._go(self._destination(to), scope, paths)

    async def undo(self, paths: Sequence[str] | None) -> None:
        """Take the last jump back. Raises KimiTuiError."""
        destination = self._destination("undo")
        await self._go(destination, "files" if destination.branch is None else "both", paths)

    async def redo(self, paths: Sequence[str] | None) -> None:
        """Take the last undo back. Raises KimiTuiError."""
        destination = self._destination("redo")
        await self._go(destination, "files" if destination.branch is None else "both", paths)

    async def clear(self) -> bool:
        """Empty the conversation; undo leads back to it. False when nothing was said.

        Raises JournalWriteError.
        """
        if not self._context.history:
            return False
        files = (await self._files.at_checkpoint(afresh=True)).state
        before = await self._checkpoint("clear", "before /clear", files)
        reversion = await self._context.clear()
        self._send(Reverted(reversion.to, before, "clear", reversion.branch))
        await self._remember("clear", Jump(before, files, reversion.branch))
        return True

    def listed(self) -> str:
        """The checkpoints that can be gone back to, one a line, the newest first."""
        lines = []
        for checkpoint in reversed(self._context.checkpoints):
            when = time.strftime("%H:%M:%S", time.localtime(checkpoint.time))
            files = "" if is_manifest(checkpoint.files) else "  (conversation only)"
            lines.append(f"{checkpoint.id:>5}  {when}  {checkpoint.kind:10}  {checkpoint.label}{files}")
        return "\n".join(lines) or "There are no checkpoints yet."

    async def _go(self, destination: _Destination, scope: RevertScope, paths: Sequence[str] | None) -> None:
        plan, note = await self._plan(destination)
        if plan is None and scope == "files":
            raise KimiTuiError(note, hint="Revert the conversation only, or to another checkpoint.")
        left = plan.head if plan is not None else None
        to = destination.checkpoint
        before = await self._checkpoint("revert", f"before {_WORDS[destination.reason]} {to}", left)
        outcome, state = await self._carry_out(plan, scope, paths)
        prompt: UserInput | None = None
        reversion: Reversion | None = None
        if scope != "files":
            if destination.branch is None:
                prompt = _as_input(request_in(self._context.said_after(to)))
                reversion = await self._context.revert_to(to, reason=destination.reason)
            else:
                reversion = await self._context.restore_from_rotation(
                    destination.branch, reason=destination.reason
                )
        branch = reversion.branch if reversion is not None else None
        await self._remember(destination.reason, Jump(before, left, branch))
        self._send(
            Reverted(
                to,
                before,
                destination.reason,
                branch,
                tuple(showable(path) for path in outcome.done),
                scope=scope,
                prompt=prompt,
            )
        )
        if (words := note_to_model(destination.reason, scope, plan, outcome)) is not None:
            await self._context.append_message(Message("user", (system_note(words),)))
        await self._checkpoint("revert", f"after {_WORDS[destination.reason]} {to}", state)
        if outcome.failed:
            left_as_they_are = "; ".join(f"{showable(path)}: {why}" for path, why in outcome.failed)
            raise KimiTuiError(
                f"Some files could not be changed and are as they were: {left_as_they_are}.",
                hint="Everything else is done; /undo takes it back.",
            )

    async def _plan(self, destination: _Destination) -> "tuple[Plan | None, str]":
        """The plan for the files, or why there is none."""
        if not is_manifest(destination.files):
            return None, f"The files' state there is not known: {destination.files or 'it was not captured'}."
        try:
            return await self._files.use(_planned, destination.files or ""), ""
        except KimiTuiError as error:
            return None, str(error)

    async def _carry_out(
        self, plan: "Plan | None", scope: RevertScope, paths: Sequence[str] | None
    ) -> "tuple[Outcome, str | None]":
        from kimi_tui.history.snapshots.execution import Outcome

        if plan is None or scope == "conversation":
            return Outcome(), plan.head if plan is not None else None
        wanted = set(paths) if paths is not None else None
        ticked = {
            item.path
            for item in plan.items
            if (item.is_ticked if wanted is None else showable(item.path) in wanted)
        }
        return await self._files.use(_executed, plan, ticked)

    def _destination(self, to: int | Literal["undo", "redo"]) -> _Destination:
        if isinstance(to, int):
            for checkpoint in self._context.checkpoints:
                if checkpoint.id == to:
                    return _Destination(checkpoint=to, reason="user", files=checkpoint.files)
            raise KimiTuiError(
                f"There is no checkpoint {to} to go back to.", hint="/checkpoints lists those that there are."
            )
        jumps = self._session.state.undos if to == "undo" else self._session.state.redos
        if not jumps:
            raise KimiTuiError(f"There is nothing to {to}.", hint="/revert goes back to a checkpoint.")
        jump = jumps[-1]
        return _Destination(checkpoint=jump.checkpoint, reason=to, files=jump.files, branch=jump.branch)

    async def _remember(self, reason: RevertReason, left: Jump) -> None:
        undos, redos = self._session.state.undos, self._session.state.redos
        match reason:
            case "undo":
                undos, redos = undos[:-1], (*redos, left)
            case "redo":
                undos, redos = (*undos, left), redos[:-1]
            case _:
                undos, redos = (*undos, left), ()
        await self._session.update_state(undos=undos[-_JUMPS_KEPT:], redos=redos[-_JUMPS_KEPT:])

    async def _checkpoint(self, kind: CheckpointKind, label: str, files: str | None) -> int:
        checkpoint = await self._context.checkpoint(False, kind=kind, label=label, files=files)
        self._send(
            CheckpointCreated(checkpoint.id, checkpoint.uid, kind=kind, label=label, parent=checkpoint.parent)
        )
        return checkpoint.id


_WORDS: dict[RevertReason, str] = {
    "user": "going back to",
    "undo": "undoing to",
    "redo": "redoing to",
}


def _planned(history: "FileHistory", target: str) -> "Plan":
    return history.plan(target)


def _executed(history: "FileHistory", plan: "Plan", ticked: set[str]) -> "tuple[Outcome, str | None]":
    outcome, captured = history.execute(plan, ticked)
    return outcome, captured.manifest


def _as_input(message: Message | None) -> UserInput | None:
    if message is None:
        return None
    if all(isinstance(part, TextPart) for part in message.content):
        return message.text
    return message.content
