"""Targets of reverts, resolved from the checkpoint or branch that the user selected."""

from collections.abc import Sequence
from typing import Literal

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import as_message, msg
from kimi_tui.history.checkpoint_tree import NOT_CAPTURED_YET, CheckpointNode, CheckpointTree
from kimi_tui.history.context import Context
from kimi_tui.history.manifest_id import is_manifest
from kimi_tui.history.message_history import is_note
from kimi_tui.history.records import Checkpoint
from kimi_tui.history.session import Session
from kimi_tui.history.session_state import AdoptedAttempt
from kimi_tui.wire.attempts import AttemptFiles
from kimi_tui.wire.timeline import RevertReason, RevertScope


@frozen(kw_only=True)
class RevertTarget:
    """The target of a revert, undo, redo or branch switch."""

    checkpoint: int
    reason: RevertReason
    scope: RevertScope
    files: str | None
    """File state at the target, or the reason why the state is unknown."""
    turn_end_files: str | None = None
    """With the scope `turn`: the file state at the end of the turn; None if nothing has followed the turn."""
    branch: int | None = None
    """Number of the rotation to restore; None to truncate the current branch."""
    before: int | None = None
    """Checkpoint up to which the branch is restored. None: the whole branch."""
    label: str = ""
    """Label of the checkpoint; empty for the end of a branch."""
    todos_checkpoint: int | None = None
    """The checkpoint whose todo list is restored; None for `checkpoint`."""
    attempts: tuple[int, ...] = ()
    """The attempts to adopt, instead of reverting to `files`."""
    attempt_files: tuple[AttemptFiles, ...] = ()
    """The files to adopt, for attempts that aren't adopted completely."""
    adopted: tuple[AdoptedAttempt, ...] = ()
    """The other attempts that are adopted at the target."""

    @property
    def moves_conversation(self) -> bool:
        """Whether the conversation is reverted, rather than only files."""
        return self.scope in ("both", "conversation")


class RevertTargets:
    """Resolves the revert targets of one session.

    Its methods raise KimiTuiError if the target doesn't exist, and SessionError.
    """

    def __init__(self, session: Session, context: Context) -> None:
        self._session = session
        self._context = context

    @property
    def next_checkpoint(self) -> int:
        """The number of the next checkpoint."""
        return self._context.n_checkpoints

    async def for_checkpoint(self, number: int, scope: RevertScope) -> RevertTarget:
        """Return the target just before a checkpoint on any branch."""
        tree = await self._context.tree()
        node = find_checkpoint(tree, number)
        return RevertTarget(
            checkpoint=number,
            reason="user",
            scope=scope,
            files=node.files,
            turn_end_files=_files_at_turn_end(node, tree) if scope == "turn" else None,
            branch=node.branch,
            before=number if node.branch is not None else None,
            label=_label_of(node),
            adopted=self._adopted_at(number, scope),
        )

    async def for_branch(self, number: int, before: int | None, scope: RevertScope) -> RevertTarget:
        """Return the target at the end of a branch, or just before one of its checkpoints."""
        tree = await self._context.tree()
        branch = tree.branch(number)
        if branch is None:
            raise KimiTuiError(
                msg("Branch {branch} doesn't exist.", branch=number),
                hint="Use /branches to list the branches.",
            )
        if scope == "turn":
            raise KimiTuiError(
                "You can't switch branches with the scope “turn”.",
                hint="Use the scope both, conversation or files.",
            )
        files = tree.files_at_end(branch)
        if before is not None:
            if all(checkpoint.id != before for checkpoint in branch.checkpoints):
                raise KimiTuiError(
                    msg(
                        "Checkpoint {checkpoint} isn't on branch {branch}.", checkpoint=before, branch=number
                    ),
                    hint="Use /checkpoints to list the checkpoints of all branches.",
                )
            files = find_checkpoint(tree, before).files
        last = branch.checkpoints[-1].id if branch.checkpoints else 0
        is_cut_off = before is None and branch.reason in {"compaction", "dmail"}
        return RevertTarget(
            checkpoint=last if before is None else before,
            reason="switch",
            scope=scope,
            files=files,
            branch=number,
            before=before,
            todos_checkpoint=last + 1 if is_cut_off else None,  # leaving the branch created no checkpoint
            adopted=self._adopted_at(last + 1 if before is None else before, scope),
        )

    async def refresh(self, target: RevertTarget) -> RevertTarget:
        """Return the same target with its latest file state."""
        if target.branch is not None and target.reason == "switch":
            return await self.for_branch(target.branch, target.before, target.scope)
        if target.reason == "user":
            return await self.for_checkpoint(target.checkpoint, target.scope)
        return target

    def for_undo_or_redo(self, direction: Literal["undo", "redo"]) -> RevertTarget:
        """Return the target before the last revert ("undo") or before the last undo ("redo")."""
        entries = self._session.state.undos if direction == "undo" else self._session.state.redos
        if not entries:
            raise KimiTuiError(
                "Nothing to undo." if direction == "undo" else "Nothing to redo.",
                hint="Use /revert N to revert to checkpoint N.",
            )
        entry = entries[-1]
        scope: RevertScope = "files" if entry.branch is None else "both"
        return RevertTarget(
            checkpoint=entry.checkpoint,
            reason=direction,
            scope=scope,
            files=entry.files,
            branch=entry.branch,
            adopted=entry.adopted,
        )

    def for_adoption(self, numbers: tuple[int, ...], files: tuple[AttemptFiles, ...]) -> RevertTarget:
        """Return the target for adopting the attempts `numbers`. `files` limits the files of attempts."""
        checkpoints = self._context.checkpoints
        return RevertTarget(
            checkpoint=checkpoints[-1].id if checkpoints else 0,
            reason="adopt",
            scope="files",
            files=None,
            attempts=numbers,
            attempt_files=files,
            adopted=tuple(each for each in self._session.state.adopted if each.number not in numbers),
        )

    def _adopted_at(self, checkpoint: int, scope: RevertScope) -> tuple[AdoptedAttempt, ...]:
        """Return the attempts that stay adopted after a revert to a checkpoint."""
        adopted = self._session.state.adopted
        if scope in ("conversation", "turn"):
            return adopted
        return tuple(each for each in adopted if each.checkpoint < checkpoint)

    async def count_lost_turns(self, target: RevertTarget) -> int:
        """Return the number of the user's prompts on the current branch that the target branch lacks."""
        context = self._context
        if target.branch is None:
            is_current = any(checkpoint.id == target.checkpoint for checkpoint in context.checkpoints)
            return _count_prompts(context.messages_after(target.checkpoint)) if is_current else 0
        branch = (await context.tree()).branch(target.branch)  # cheaper than reading its messages
        before = target.before
        checkpoints = branch.checkpoints if branch is not None else ()
        shared = {checkpoint.uid for checkpoint in checkpoints if before is None or checkpoint.id < before}
        for messages, checkpoint in context.indexed_checkpoints:
            if checkpoint.uid not in shared:
                return _count_prompts(context.history[messages:])
        return 0


def find_checkpoint(tree: CheckpointTree, number: int) -> CheckpointNode:
    """Return the checkpoint `number`. Raises KimiTuiError if it doesn't exist."""
    node = tree.by_id.get(number)
    if node is None:
        raise KimiTuiError(
            msg("Checkpoint {checkpoint} doesn't exist.", checkpoint=number),
            hint="Use /checkpoints to list the checkpoints.",
        )
    return node


def _label_of(node: CheckpointNode) -> str:
    """Return a checkpoint's label, or the summary of a step; empty for checkpoints of reverts."""
    summary = node.next.done if node.next is not None else None
    match node.checkpoint.kind:
        case "user" | "dmail":
            return node.checkpoint.label
        case "step":
            return summary.label if summary is not None else ""
        case _:
            return ""


def is_state_pending(state: str | None) -> bool:
    """Return whether the file state is still being captured."""
    return state == NOT_CAPTURED_YET


def unavailable_reason(state: str | None) -> str:
    """Return the reason why the files can't be restored to `state`; empty if they can be restored."""
    if is_manifest(state):
        return ""
    return msg("The checkpoint has no file snapshot: {reason}.", reason=as_message(state or NOT_CAPTURED_YET))


def _files_at_turn_end(node: CheckpointNode, tree: CheckpointTree) -> str | None:
    """Return the file state at the end of a turn or step. None: no checkpoint follows, or it has no state."""
    following: Checkpoint | None = node.next
    if node.checkpoint.kind == "user":
        while following is not None and following.kind == "step":
            following = tree.nodes[following.uid].next
    if following is None:
        return None
    state = tree.nodes[following.uid].files
    return state if is_manifest(state) else None


def _count_prompts(messages: Sequence[Message]) -> int:
    return sum(message.role == "user" and not is_note(message) for message in messages)
