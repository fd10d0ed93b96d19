"""Executor of reverts, undos, redos and branch switches, of the conversation and the files."""

import asyncio
from typing import TYPE_CHECKING

from kimi_tui.base.content_parts import TextPart, UserInput, system_note
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import as_message, msg
from kimi_tui.base.shielding import run_shielded
from kimi_tui.engine.files.coverage import unique_path
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.recording.replay import checkpoint_created
from kimi_tui.engine.recording.replay_sender import send_replay
from kimi_tui.engine.session.notices import build_notice
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.engine.timeline.file_selection import FileSelection
from kimi_tui.engine.timeline.publisher import TimelinePublisher
from kimi_tui.engine.timeline.revert_labels import label_after, label_before
from kimi_tui.engine.timeline.revert_messages import display_item_path, first_prompt, model_note, user_note
from kimi_tui.engine.timeline.revert_plan_builder import RevertPlanBuilder
from kimi_tui.engine.timeline.revert_target import RevertTarget, RevertTargets
from kimi_tui.history.context import Context
from kimi_tui.history.conversation_store import RevertResult
from kimi_tui.history.manifest_id import is_manifest
from kimi_tui.history.records import Checkpoint
from kimi_tui.history.session import Session
from kimi_tui.history.session_state import AdoptedAttempt, PendingRevert, UndoEntry, push_undo
from kimi_tui.history.snapshots.plan import Plan
from kimi_tui.soul.file_states import FilesAtCheckpoint
from kimi_tui.wire.attempts import AdoptAttempts
from kimi_tui.wire.commands import Redo, Revert, SwitchBranch, Undo
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.timeline import (
    CheckpointKind,
    FileChanges,
    Reverted,
    RevertReason,
)

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.plan_executor import ExecutionResult


class RevertExecutor:
    """Executes the reverts of one session. The caller makes sure that no turn is running.

    The state before each revert is captured as a checkpoint, to which the next undo reverts.
    """

    def __init__(
        self,
        *,
        session: Session,
        context: Context,
        files: SessionFiles,
        todos: SessionTodos,
        timeline_publisher: TimelinePublisher,
        targets: RevertTargets,
        planner: RevertPlanBuilder,
        sender: EventSender,
    ) -> None:
        self._session = session
        self._context = context
        self._files = files
        self._todos = todos
        self._timeline_publisher = timeline_publisher
        self._sender = sender
        self._targets = targets
        self._planner = planner

    async def revert(self, command: Revert) -> None:
        """Revert to a checkpoint. Raises KimiTuiError."""
        target = await self._targets.for_checkpoint(command.to, command.scope)
        await self._revert_to(target, FileSelection.of(command), command.note)

    async def undo(self, command: Undo) -> None:
        """Undo the last revert. Raises KimiTuiError."""
        await self._revert_to(self._targets.for_undo_or_redo("undo"), FileSelection.of(command))

    async def redo(self, command: Redo) -> None:
        """Redo the last undone revert. Raises KimiTuiError."""
        await self._revert_to(self._targets.for_undo_or_redo("redo"), FileSelection.of(command))

    async def switch_branch(self, command: SwitchBranch) -> None:
        """Continue on another branch. Raises KimiTuiError."""
        target = await self._targets.for_branch(command.branch, command.to, command.scope)
        await self._revert_to(target, FileSelection.of(command))

    async def adopt(self, command: AdoptAttempts) -> None:
        """Apply the changes of attempts to the files. Raises KimiTuiError."""
        target = self._targets.for_adoption(command.numbers, command.files)
        await self._revert_to(target, FileSelection.of(command))

    async def clear(self) -> bool:
        """Empty the conversation. Return False if it was already empty. Undo restores the conversation.

        Raises JournalWriteError and SessionError.
        """
        if not self._context.history:
            return False
        files = await self._files.capture_now()
        before = await self._checkpoint("clear", "before /clear", files.state, files.changes)
        result = await self._context.clear()
        self._sender.send(Reverted(result.to, before.id, "clear", result.branch))
        state = files.state if is_manifest(files.state) else None
        undo_entry = UndoEntry(before.id, state, result.branch)
        await self._push_undo("clear", undo_entry, self._session.state.adopted)
        self._timeline_publisher.refresh()
        if self._todos.items:
            await self._todos.set(())
        return True

    async def _revert_to(self, target: RevertTarget, selection: FileSelection, note: str = "") -> None:
        """Revert to `target`, and restore the selected files.

        `note` is a message from the user to the model. Canceling while the plan is being built changes
        nothing; after that, the revert runs to completion.
        """
        try:
            await self._plan_and_apply(target, selection, note)
        finally:
            self._timeline_publisher.refresh()

    async def _plan_and_apply(self, target: RevertTarget, selection: FileSelection, note: str) -> None:
        try:
            now = await self._files.capture_now()
            plan, no_plan_reason = await self._planner.build_plan(target)
        except asyncio.CancelledError:
            self._notify_unchanged()
            raise
        if plan is None and target.scope in {"files", "turn"}:
            raise KimiTuiError(
                no_plan_reason, hint="Revert only the conversation, or choose another checkpoint."
            )
        if plan is not None and target.scope != "conversation":
            selection.check(plan)
        await run_shielded(self._apply(target, now, plan, no_plan_reason, selection, note))

    async def _apply(
        self,
        target: RevertTarget,
        now: FilesAtCheckpoint,
        plan: "Plan | None",
        no_plan_reason: str,
        selection: FileSelection,
        note: str,
    ) -> None:
        state_before = plan.head if plan is not None else now.state if is_manifest(now.state) else None
        before = await self._begin_revert(target, now, state_before)
        outcome, state = await self._restore_files(plan, target, selection)
        prompt: UserInput | None = None
        result: RevertResult | None = None
        if target.moves_conversation:
            result, prompt = await self._move_conversation(target)
            todos_checkpoint = target.todos_checkpoint
            await self._todos.restore(target.checkpoint if todos_checkpoint is None else todos_checkpoint)
        summary = model_note(target.reason, target.scope, plan, outcome)
        if notes := [text for text in (summary, user_note(note)) if text]:
            await self._context.append_message([Message("user", (system_note(text),)) for text in notes])
        branch = result.branch if result is not None else None
        is_restored = plan is not None and (outcome.done or not plan.items)
        adopted = _adopted_after(target, before) if is_restored else self._session.state.adopted
        await self._push_undo(target.reason, UndoEntry(before.id, state_before, branch), adopted)
        items = plan.items if plan is not None and target.scope != "conversation" else ()
        done = set(outcome.done)
        self._sender.send(
            Reverted(
                target.checkpoint,
                before.id,
                target.reason,
                branch,
                tuple(display_item_path(item) for item in items if item.path in done),
                scope=target.scope,
                prompt=prompt,
                note=note,
                kept=tuple(display_item_path(item) for item in items if item.path not in done),
                saved=tuple(
                    display_item_path(item)
                    for item in items
                    if item.path in done and selection.replaces_user_version(item)
                ),
            )
        )
        kind: CheckpointKind = "dmail" if note else "revert"
        label = note or label_after(target)
        after = await self._checkpoint(kind, label, state, send=False)
        if result is not None and target.branch is not None:
            await send_replay(self._sender.send, self._session, self._context, replace_previous=True)
        else:
            self._sender.send(checkpoint_created(after))
        if plan is None and target.scope == "both" and self._files.is_enabled:
            raise KimiTuiError(
                msg("Only the conversation was reverted. {reason}", reason=as_message(no_plan_reason)),
                hint="The files are unchanged.",
            )
        _raise_failures(outcome)

    async def _begin_revert(
        self, target: RevertTarget, now: FilesAtCheckpoint, state_before: str | None
    ) -> Checkpoint:
        """Create a checkpoint of the state before the revert, and record the revert as pending."""
        before = await self._checkpoint(
            "revert", label_before(target), state_before or now.state, now.changes
        )
        await self._session.update_state(
            jump=PendingRevert(
                reason=target.reason,
                before=before.id,
                left=state_before,
                to=target.checkpoint,
                moves=target.moves_conversation,
                branch=target.branch,
                until=target.before,
                adopted=_adopted_after(target, before),
            )
        )
        return before

    def _notify_unchanged(self) -> None:
        self._sender.send(
            build_notice("Revert canceled.", "Nothing was changed.", source_id=self._session.id)
        )

    async def _restore_files(
        self, plan: "Plan | None", target: RevertTarget, selection: FileSelection
    ) -> "tuple[ExecutionResult, str | None]":
        from kimi_tui.history.snapshots.plan_executor import ExecutionResult

        if plan is None or target.scope == "conversation":
            return ExecutionResult(), plan.head if plan is not None else self._files.current_state()
        # The user chose in a plan that was shown. The default selection considers later edits.
        shown = self._planner.take_shown_state(target)
        shown_state = shown if selection.is_explicit else None
        return await self._files.worker.use(_execute_plan, plan, selection, shown_state)

    async def _move_conversation(self, target: RevertTarget) -> tuple[RevertResult, UserInput | None]:
        """Revert the conversation to `target`. Return the result and the user's prompt at the target."""
        reason, to = target.reason, target.checkpoint
        if target.branch is None:
            prompt = _to_user_input(first_prompt(self._context.messages_after(to)))
            return await self._context.revert_to(to, reason=reason), prompt
        prompt = None
        if target.before is not None:
            branch = await self._context.read_branch(target.branch)
            prompt = _to_user_input(first_prompt(branch.history[branch.position_of(to).messages :]))
        result = await self._context.restore_from_rotation(target.branch, reason=reason, before=target.before)
        return result, prompt

    async def _push_undo(
        self, reason: RevertReason, state_before: UndoEntry, adopted: tuple[AdoptedAttempt, ...]
    ) -> None:
        undos, redos = push_undo(self._session.state, reason, state_before)
        await self._session.update_state(undos=undos, redos=redos, jump=None, adopted=adopted)

    async def _checkpoint(
        self,
        kind: CheckpointKind,
        label: str,
        files: str | None,
        changes: FileChanges | None = None,
        *,
        send: bool = True,
    ) -> Checkpoint:
        checkpoint = await self._context.checkpoint(
            False, kind=kind, label=label, files=files, changes=changes
        )
        if send:
            self._sender.send(checkpoint_created(checkpoint))
        return checkpoint


def _adopted_after(target: RevertTarget, before: Checkpoint) -> tuple[AdoptedAttempt, ...]:
    """Return the attempts that are adopted after a revert. `before` is the checkpoint before the revert."""
    return (*target.adopted, *(AdoptedAttempt(number, before.id) for number in target.attempts))


def _raise_failures(outcome: "ExecutionResult") -> None:
    """Raise KimiTuiError if files couldn't be changed as planned."""
    if outcome.failed:
        failures = "; ".join(f"{unique_path(path)}: {reason}" for path, reason in outcome.failed)
        raise KimiTuiError(
            msg("Some files couldn't be changed: {failures}.", failures=failures),
            hint="Everything else was reverted. Use /undo to undo it.",
        )


def _execute_plan(
    history: "FileHistory", plan: "Plan", selection: FileSelection, shown_state: str | None
) -> "tuple[ExecutionResult, str | None]":
    outcome, captured = history.execute(
        plan, selection.paths_in(plan), choices=selection.choices_in(plan), shown_state=shown_state
    )
    return outcome, captured.manifest


def _to_user_input(message: Message | None) -> UserInput | None:
    if message is None:
        return None
    if message.typed is not None:
        return message.typed
    if all(isinstance(part, TextPart) for part in message.content):
        return message.text
    return message.content
