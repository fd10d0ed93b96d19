"""Destinations: where a jump through the timeline goes, found from what the user named."""

from collections.abc import Sequence
from typing import Literal

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.base.value import value
from kimi_tui.history.context import Context
from kimi_tui.history.conversation import is_note
from kimi_tui.history.records import Checkpoint
from kimi_tui.history.session import Session
from kimi_tui.history.snapshots.manifest import is_manifest
from kimi_tui.history.tree import NOT_YET, Place, Tree
from kimi_tui.wire.timeline import RevertReason, RevertScope


@value(kw_only=True)
class Destination:
    """Where a jump goes."""

    checkpoint: int
    reason: RevertReason
    scope: RevertScope
    files: str | None
    """The files' state there, or why there is none."""
    until: str | None = None
    """With the scope `turn`: the files' state when the turn had ended; None when it ends now."""
    branch: int | None = None
    """The rotation to go on with; None to cut the live line."""
    before: int | None = None
    """The checkpoint of the branch to go on from; None for its end."""
    about: str = ""
    """What was said or done at the checkpoint; empty for the end of a line."""
    todos_at: int | None = None
    """The checkpoint whose todo list is brought along; None for `checkpoint`."""

    @property
    def moves(self) -> bool:
        """Whether the conversation goes there, and not the files alone."""
        return self.scope in ("both", "conversation")


class Destinations:
    """Finds the ways of one session. Raises KimiTuiError for those that lead nowhere, and SessionError."""

    def __init__(self, session: Session, context: Context) -> None:
        self._session = session
        self._context = context

    async def checkpoint(self, number: int, scope: RevertScope) -> Destination:
        """Just before a checkpoint, on whatever line it lies."""
        tree = await self._context.tree()
        place = found(tree, number)
        until = None
        if scope == "turn":
            until = _end_of_turn(place, tree)
        return Destination(
            checkpoint=number,
            reason="user",
            scope=scope,
            files=place.files,
            until=until,
            branch=place.branch,
            before=number if place.branch is not None else None,
            about=_about(place),
        )

    async def branch(self, number: int, before: int | None, scope: RevertScope) -> Destination:
        """The end of a branch, or just before a checkpoint of it."""
        tree = await self._context.tree()
        branch = tree.branch(number)
        if branch is None:
            raise KimiTuiError(f"There is no branch {number}.", hint="/branches lists those that there are.")
        if scope == "turn":
            raise KimiTuiError("A branch is no turn.", hint="Switch with files, without, or files alone.")
        files = tree.end_of(branch)
        if before is not None:
            if all(known.id != before for known in branch.checkpoints):
                raise KimiTuiError(
                    f"Checkpoint {before} is not on branch {number}.", hint="/checkpoints says where it is."
                )
            files = found(tree, before).files
        last = branch.checkpoints[-1].id if branch.checkpoints else 0
        is_cut_off = before is None and branch.reason in {"compaction", "dmail"}
        return Destination(
            checkpoint=last if before is None else before,
            reason="switch",
            scope=scope,
            files=files,
            branch=number,
            before=before,
            todos_at=last + 1 if is_cut_off else None,  # no checkpoint was made when it was left
        )

    async def again(self, known: Destination) -> Destination:
        """The same destination, with what has become known of its files since."""
        if known.branch is not None and known.reason == "switch":
            return await self.branch(known.branch, known.before, known.scope)
        if known.reason == "user":
            return await self.checkpoint(known.checkpoint, known.scope)
        return known

    def back(self, way: Literal["undo", "redo"]) -> Destination:
        """Where the last jump, or the last undo, was made from."""
        jumps = self._session.state.undos if way == "undo" else self._session.state.redos
        if not jumps:
            raise KimiTuiError(f"There is nothing to {way}.", hint="/revert goes back to a checkpoint.")
        jump = jumps[-1]
        scope: RevertScope = "files" if jump.branch is None else "both"
        return Destination(
            checkpoint=jump.checkpoint, reason=way, scope=scope, files=jump.files, branch=jump.branch
        )

    async def turns_lost(self, destination: Destination) -> int:
        """How many of the user's messages on the live line are not on the one that is gone to."""
        context = self._context
        if destination.branch is None:
            is_live = any(known.id == destination.checkpoint for known in context.checkpoints)
            return _requests(context.said_after(destination.checkpoint)) if is_live else 0
        branch = (await context.tree()).branch(destination.branch)  # all that was said on it isn't needed
        before = destination.before
        checkpoints = branch.checkpoints if branch is not None else ()
        kept = {known.uid for known in checkpoints if before is None or known.id < before}
        for messages, checkpoint in context.marked:
            if checkpoint.uid not in kept:
                return _requests(context.history[messages:])
        return 0


def found(tree: Tree, number: int) -> Place:
    """A checkpoint by its number. Raises KimiTuiError."""
    place = tree.by_id.get(number)
    if place is None:
        raise KimiTuiError(
            f"There is no checkpoint {number}.", hint="/checkpoints lists those that there are."
        )
    return place


def _about(place: Place) -> str:
    """What a checkpoint is about: of a step what it did. Of jumps and the like the number says enough."""
    done = place.next.done if place.next is not None else None
    match place.checkpoint.kind:
        case "user" | "dmail":
            return place.checkpoint.label
        case "step":
            return done.label if done is not None else ""
        case _:
            return ""


def is_being_found_out(state: str | None) -> bool:
    """Whether the files' state is not known yet, but will be."""
    return state == NOT_YET


def why_no_files(state: str | None) -> str:
    """Why the files can't be brought to `state`; empty when they can."""
    if is_manifest(state):
        return ""
    return f"The files' state there is not known: {state or NOT_YET}."


def _end_of_turn(place: Place, tree: Tree) -> str | None:
    """The files' state when a turn, or a step of one, had ended; None when nothing came after it."""
    after: Checkpoint | None = place.next
    if place.checkpoint.kind == "user":
        while after is not None and after.kind == "step":
            after = tree.places[after.uid].next
    if after is None:
        return None
    state = tree.places[after.uid].files
    return state if is_manifest(state) else None


def _requests(messages: Sequence[Message]) -> int:
    return sum(message.role == "user" and not is_note(message) for message in messages)
