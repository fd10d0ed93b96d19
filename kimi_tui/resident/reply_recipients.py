"""Recipients of replies: who asked last gets the reply, the other clients of the session don't."""

from typing import Protocol, get_args

from kimi_tui.wire.argument_completion import ArgumentChoices
from kimi_tui.wire.background import TaskText
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.commands import (
    Command,
    Compare,
    CompleteArgument,
    DeleteSession,
    ForkSession,
    ListSessions,
    PlanRevert,
    PlanSwitch,
    PreviewSession,
    ReadBranch,
    ReadTask,
    RenameSession,
    RunSlash,
    SearchMessages,
    ShowTimeline,
    WritePatch,
)
from kimi_tui.wire.events import Reply, Report, RevertPlan
from kimi_tui.wire.message_search import MessageMatches
from kimi_tui.wire.model_setup import ModelConnected, ModelSources, SetupCommand
from kimi_tui.wire.permissions import PermissionChanged, PermissionCommand, PermissionList
from kimi_tui.wire.review import (
    ChangeReview,
    CommentCommand,
    CommentList,
    PlannedFileContent,
    ReadPlannedFile,
    ReviewChanges,
)
from kimi_tui.wire.session_list import SessionList, SessionPreview
from kimi_tui.wire.settings import SettingChanged, SettingsCommand, SettingsList
from kimi_tui.wire.timeline import (
    BranchContent,
    Comparison,
    PatchWritten,
    SessionForked,
    Timeline,
    TimelineUpdate,
)
from kimi_tui.wire.why import ExplainLine, LineReason

_REPLIES: tuple[type, ...] = (*get_args(Reply | Report), BranchContent)
_TYPES_BY_COMMAND: dict[type, tuple[type, ...]] = {
    ReadBranch: (BranchContent,),
    Compare: (Comparison,),
    WritePatch: (PatchWritten,),
    PlanRevert: (RevertPlan,),
    PlanSwitch: (RevertPlan,),
    ForkSession: (SessionForked,),
    ReviewChanges: (ChangeReview,),
    ReadPlannedFile: (PlannedFileContent,),
    ReadTask: (TaskText,),
    ExplainLine: (LineReason,),
    **dict.fromkeys(get_args(CommentCommand), (CommentList,)),
    ListSessions: (SessionList,),
    RenameSession: (SessionList,),
    DeleteSession: (SessionList,),
    PreviewSession: (SessionPreview,),
    SearchMessages: (MessageMatches,),
    CompleteArgument: (ArgumentChoices,),
    RunSlash: _REPLIES,
    **dict.fromkeys(get_args(SetupCommand), (ModelSources, ModelConnected)),
    **dict.fromkeys(get_args(SettingsCommand), (SettingsList, SettingChanged)),
    **dict.fromkeys(get_args(PermissionCommand), (PermissionList, PermissionChanged)),
}


class ReplyReceiver(Protocol):
    """A client that can ask."""

    def __hash__(self) -> int: ...


class ReplyRecipients:
    """Tracks which clients asked for which kinds of reply.

    A reply doesn't name its command. So it goes to every client that asked and hasn't got a reply of this
    kind yet, and to the one that asked last, because some commands are answered several times.
    """

    def __init__(self) -> None:
        self._askers: dict[type, dict[ReplyReceiver, bool]] = {}
        """For each kind of reply, the clients that asked and whether they got one since."""
        self._timeline_viewers: set[ReplyReceiver] = set()

    def record(self, client: ReplyReceiver, command: Command) -> Command:
        """Record that `client` sends `command`. Return the command to send instead.

        All clients that show the timeline get each one that is sent. So it must be complete for the others.
        """
        for kind in _TYPES_BY_COMMAND.get(type(command), ()):
            waiting = {other: got for other, got in self._askers.get(kind, {}).items() if not got}
            self._askers[kind] = {**waiting, client: False}
        if isinstance(command, ShowTimeline):
            self._timeline_viewers.add(client)
            return ShowTimeline() if len(self._timeline_viewers) > 1 else command
        return command

    def forget(self, client: ReplyReceiver) -> None:
        """Forget a client that has left."""
        self._timeline_viewers.discard(client)
        for askers in self._askers.values():
            askers.pop(client, None)

    def recipients_of(self, message: Outgoing) -> frozenset[ReplyReceiver] | None:
        """Return who gets `message`; None for all clients."""
        if isinstance(message, Timeline | TimelineUpdate):
            return frozenset(self._timeline_viewers)
        kind = type(message)
        if kind not in _REPLIES:
            return None
        askers = self._askers.get(kind)
        if not askers:
            return None
        self._askers[kind] = dict.fromkeys(askers, True)
        return frozenset(askers)
