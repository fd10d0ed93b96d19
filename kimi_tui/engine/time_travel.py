"""Time travel: jumps through the timeline, of the conversation and the files, each by a plan."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from kimi_tui.base.completion import carry_out
from kimi_tui.base.content import TextPart, UserInput, system_note
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.engine.coverage import shown_path
from kimi_tui.engine.destination import Destination, Destinations, is_being_found_out, why_no_files
from kimi_tui.engine.notices import notice
from kimi_tui.engine.replay import created
from kimi_tui.engine.revert_words import (
    note_of_user,
    note_to_model,
    planned_files,
    request_in,
    shown_item,
)
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.history.context import Context
from kimi_tui.history.kept_line import Reversion
from kimi_tui.history.records import Checkpoint
from kimi_tui.history.session import Session
from kimi_tui.history.snapshots.manifest import is_manifest
from kimi_tui.history.state import Jump, JumpUnderWay, jumps_after
from kimi_tui.soul.file_states import FilesAtCheckpoint
from kimi_tui.wire.events import Event
from kimi_tui.wire.timeline import CheckpointKind, FileChanges, Reverted, RevertPlan, RevertReason

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.execution import Outcome
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.patience import Patience
    from kimi_tui.history.snapshots.plan import Plan


_ABOUT = 40
"""Characters of a checkpoint's label that stand in the labels of a jump to it."""
GIVEN_UP = "It was given up."


class Retell(Protocol):
    """Tells the conversation anew."""

    def __call__(self) -> Awaitable[None]:
        """What stands on the live line, in place of what was told before."""
        ...


async def _untold() -> None:
    """Nobody listens."""


class TimeTravel:
    """The jumps of one session. None of them is made while a turn runs: who calls sees to that.

    Before each the state is captured and becomes a checkpoint, so that the next undo leads there.
    """

    def __init__(
        self,
        *,
        session: Session,
        context: Context,
        files: SessionFiles,
        todos: SessionTodos,
        send: Callable[[Event], None],
        retell: Retell = _untold,
    ) -> None:
        self._session = session
        self._context = context
        self._files = files
        self._todos = todos
        self._send = send
        self._retell = retell
        self.destinations = Destinations(session, context)

    async def show_plan(self, destination: Destination) -> None:
        """Send what going there would do. Raises KimiTuiError."""
        try:
            plan, note = await self._plan(destination)
        except asyncio.CancelledError:
            to, why, scope = destination.checkpoint, destination.reason, destination.scope
            self._send(RevertPlan(to, why, (), (), GIVEN_UP, scope, destination.branch))
            raise
        files = await self._files.use(planned_files, plan) if plan is not None else ()
        turns = 0
        if destination.moves:
            turns = await self.destinations.turns_lost(destination)
        self._send(
            RevertPlan(
                destination.checkpoint,
                destination.reason,
                files,
                plan.commands if plan is not None else (),
                note,
                destination.scope,
                destination.branch,
                turns,
            )
        )

    async def go(self, destination: Destination, paths: Sequence[str] | None = None, note: str = "") -> None:
        """Make a jump, of the files to those of `paths`, or those that the plan ticks.

        `note` is what the user leaves there for the model. Interrupted while it only looks, it has changed
        nothing; later, it is carried out. Raises KimiTuiError.
        """
        try:
            now = await self._files.now()
            plan, why_not = await self._plan(destination)
        except asyncio.CancelledError:
            self._tell_of_no_change()
            raise
        if plan is None and destination.scope in {"files", "turn"}:
            raise KimiTuiError(why_not, hint="Revert the conversation only, or to another checkpoint.")
        await carry_out(self._jump(destination, now, plan, why_not, paths, note))

    async def _jump(
        self,
        destination: Destination,
        now: FilesAtCheckpoint,
        plan: "Plan | None",
        why_not: str,
        paths: Sequence[str] | None,
        note: str,
    ) -> None:
        left = plan.head if plan is not None else now.state if is_manifest(now.state) else None
        before = await self._set_out(destination, now, left)
        outcome, state = await self._carry_out(plan, destination, paths)
        prompt: UserInput | None = None
        reversion: Reversion | None = None
        if destination.moves:
            reversion, prompt = await self._leave(destination)
            todos_at = destination.todos_at
            await self._todos.go_to(destination.checkpoint if todos_at is None else todos_at)
        words = note_to_model(destination.reason, destination.scope, plan, outcome)
        if notes := [text for text in (words, note_of_user(note)) if text]:
            await self._context.append_message([Message("user", (system_note(text),)) for text in notes])
        branch = reversion.branch if reversion is not None else None
        await self._remember(destination.reason, Jump(before.id, left, branch))
        items = plan.items if plan is not None and destination.scope != "conversation" else ()
        done = set(outcome.done)
        self._send(
            Reverted(
                destination.checkpoint,
                before.id,
                destination.reason,
                branch,
                tuple(shown_item(item) for item in items if item.path in done),
                scope=destination.scope,
                prompt=prompt,
                note=note,
                kept=tuple(shown_item(item) for item in items if item.path not in done),
            )
        )
        kind: CheckpointKind = "dmail" if note else "revert"
        label = note or f"after {_in_words(destination)}"
        after = await self._checkpoint(kind, label, state, tell=False)
        if reversion is not None and destination.branch is not None:
            await self._retell()
        else:
            self._send(created(after))
        if plan is None and destination.scope == "both" and self._files.are_kept:
            raise KimiTuiError(
                f"Only the conversation went back. {why_not}", hint="The files are as they were."
            )
        _require_all(outcome)

    async def _set_out(
        self, destination: Destination, now: FilesAtCheckpoint, left: str | None
    ) -> Checkpoint:
        """Make the state that is `left` a checkpoint, and write down what is about to be done."""
        before = await self._checkpoint(
            "revert", f"before {_in_words(destination)}", left or now.state, now.changes
        )
        await self._session.update_state(
            jump=JumpUnderWay(
                reason=destination.reason,
                before=before.id,
                left=left,
                to=destination.checkpoint,
                moves=destination.moves,
                branch=destination.branch,
                until=destination.before,
            )
        )
        return before

    def _tell_of_no_change(self) -> None:
        self._send(notice("The jump was given up.", "Nothing was changed.", source_id=self._session.id))

    async def clear(self) -> bool:
        """Empty the conversation; undo leads back to it. False when nothing was said.

        Raises JournalWriteError.
        """
        if not self._context.history:
            return False
        files = await self._files.now()
        before = await self._checkpoint("clear", "before /clear", files.state, files.changes)
        reversion = await self._context.clear()
        self._send(Reverted(reversion.to, before.id, "clear", reversion.branch))
        state = files.state if is_manifest(files.state) else None
        await self._remember("clear", Jump(before.id, state, reversion.branch))
        return True

    async def _plan(self, destination: Destination) -> "tuple[Plan | None, str]":
        """The plan for the files, or why there is none."""
        if is_being_found_out(destination.files):
            await self._files.found_out()
            destination = await self.destinations.again(destination)
        if why := why_no_files(destination.files):
            return None, why
        try:
            return await self._files.look_through(partial(_planned, destination)), ""
        except KimiTuiError as error:
            return None, str(error)

    async def _carry_out(
        self, plan: "Plan | None", destination: Destination, paths: Sequence[str] | None
    ) -> "tuple[Outcome, str | None]":
        from kimi_tui.history.snapshots.execution import Outcome

        if plan is None or destination.scope == "conversation":
            return Outcome(), plan.head if plan is not None else self._files.at_present()
        wanted = {path.rstrip("/") for path in paths} if paths is not None else None
        ticked = {
            item.path
            for item in plan.items
            if (item.is_ticked if wanted is None else shown_item(item).rstrip("/") in wanted)
        }
        return await self._files.use(_executed, plan, ticked)

    async def _leave(self, destination: Destination) -> tuple[Reversion, UserInput | None]:
        """Go to the other place of the conversation; what the user had said there."""
        reason, to = destination.reason, destination.checkpoint
        if destination.branch is None:
            prompt = _as_input(request_in(self._context.said_after(to)))
            return await self._context.revert_to(to, reason=reason), prompt
        prompt = None
        if destination.before is not None:
            line = await self._context.read_branch(destination.branch)
            prompt = _as_input(request_in(line.history[line.mark(to).messages :]))
        reversion = await self._context.restore_from_rotation(
            destination.branch, reason=reason, before=destination.before
        )
        return reversion, prompt

    async def _remember(self, reason: RevertReason, left: Jump) -> None:
        undos, redos = jumps_after(self._session.state, reason, left)
        await self._session.update_state(undos=undos, redos=redos, jump=None)

    async def _checkpoint(
        self,
        kind: CheckpointKind,
        label: str,
        files: str | None,
        changes: FileChanges | None = None,
        *,
        tell: bool = True,
    ) -> Checkpoint:
        checkpoint = await self._context.checkpoint(
            False, kind=kind, label=label, files=files, changes=changes
        )
        if tell:
            self._send(created(checkpoint))
        return checkpoint


_WORDS: dict[RevertReason, str] = {
    "user": "going back to",
    "undo": "undoing to",
    "redo": "redoing to",
    "switch": "switching to",
}


def _in_words(destination: Destination) -> str:
    """What a jump does, for the labels of the checkpoints before and after it."""
    words = f"{_WORDS[destination.reason]} {destination.checkpoint}"
    about = destination.about
    if len(about) > _ABOUT:
        about = f"{about[: _ABOUT - 1]}…"
    return f"{words} “{about}”" if about else words


def _require_all(outcome: "Outcome") -> None:
    """Raises KimiTuiError when files could not be changed as planned."""
    if outcome.failed:
        left_as_they_are = "; ".join(f"{shown_path(path)}: {why}" for path, why in outcome.failed)
        raise KimiTuiError(
            f"Some files could not be changed and are as they were: {left_as_they_are}.",
            hint="Everything else is done; /undo takes it back.",
        )


def _planned(destination: Destination, history: "FileHistory", patience: "Patience") -> "Plan":
    until = None
    if destination.scope == "turn":
        until = destination.until or history.capture().manifest
    return history.plan(destination.files or "", until=until, patience=patience)


def _executed(history: "FileHistory", plan: "Plan", ticked: set[str]) -> "tuple[Outcome, str | None]":
    outcome, captured = history.execute(plan, ticked)
    return outcome, captured.manifest


def _as_input(message: Message | None) -> UserInput | None:
    if message is None:
        return None
    if message.typed is not None:
        return message.typed
    if all(isinstance(part, TextPart) for part in message.content):
        return message.text
    return message.content
