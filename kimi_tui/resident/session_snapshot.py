"""What a client that attaches later needs: the conversation so far, and the state of the session."""

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import chain
from typing import get_args

from kimi_tui.base.content_parts import TextPart
from kimi_tui.wire.background import TasksUpdate
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import (
    ApprovalResponse,
    CostUpdate,
    MCPLoadingBegin,
    MCPLoadingEnd,
    ReplayBegin,
    ReplayEnd,
    Reply,
    Report,
    RequestClosed,
    SessionInfo,
    SnapshotProgress,
    StatusUpdate,
    TodoUpdate,
    ToolOutput,
    ToolResult,
    TurnBegin,
    TurnEnd,
    TurnOutcome,
)
from kimi_tui.wire.fragments import merge_fragments
from kimi_tui.wire.requests import (
    ApprovalRequest,
    HookRequest,
    QuestionRequest,
    Request,
    ToolCallRequest,
    UserRequest,
)
from kimi_tui.wire.timeline import BranchContent, Timeline, TimelineUpdate
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd

_TRANSIENT: tuple[type, ...] = (
    *get_args(Reply | Report),
    BranchContent,
    Timeline,
    TimelineUpdate,
    SnapshotProgress,
    HookRequest,
    ToolCallRequest,
)
"""Messages that matter only to the clients that are attached."""
_MERGE_AT = 5000
"""Number of messages of the running turn after which adjacent fragments are merged."""


class SessionSnapshot:
    """Reduces a session's messages to those that bring a new client to the same state."""

    def __init__(self) -> None:
        self.info: SessionInfo | None = None
        self.cost: CostUpdate | None = None
        self.last_outcome: TurnOutcome | None = None
        """How the last turn ended; None before the first one of this run."""
        self._status: StatusUpdate | None = None
        self._todos: TodoUpdate | None = None
        self._tasks: TasksUpdate | None = None
        self._is_mcp_loading = False
        self._in_replay = False
        self._past: list[Outgoing] = []
        """Messages up to the end of the last turn."""
        self._turn: list[Outgoing] = []
        """Messages of the running turn."""
        self._merge_at = _MERGE_AT
        self._requests: dict[str, UserRequest] = {}
        self._shells: set[str] = set()

    @property
    def in_turn(self) -> bool:
        """Whether a turn is running."""
        return bool(self._turn)

    @property
    def is_working(self) -> bool:
        """Whether something is running: a turn, a background task or a command of the user."""
        tasks = () if self._tasks is None else self._tasks.tasks
        return bool(
            self.in_turn or self._requests or self._shells or any(it.status == "running" for it in tasks)
        )

    @property
    def requests(self) -> tuple[UserRequest, ...]:
        """Open requests, oldest first."""
        return tuple(self._requests.values())

    @property
    def last_line(self) -> str:
        """The last line of the conversation; empty for a new one."""
        text = ""
        for message in chain(reversed(self._turn), reversed(self._past)):
            match message:
                case TextPart(text=fragment):
                    text = fragment + text
                case _ if lines := text.strip().splitlines():
                    return lines[-1]
                case TurnBegin(user_input=str(prompt)):
                    text = prompt
                case _:
                    continue
        lines = text.strip().splitlines()
        return lines[-1] if lines else ""

    def add(self, message: Outgoing) -> None:
        """Apply the next message."""
        match message:
            case SessionInfo():
                self.info = message
            case StatusUpdate():
                self._status = _merge_status(self._status, message)
            case CostUpdate():
                self.cost = message
            case TodoUpdate():
                self._todos = message
            case TasksUpdate():
                self._tasks = message
            case MCPLoadingBegin() | MCPLoadingEnd():
                self._is_mcp_loading = isinstance(message, MCPLoadingBegin)
            case ReplayBegin(anew=anew):
                self._in_replay = True
                if anew:
                    self._past.clear()
            case ReplayEnd():
                self._in_replay = False
            case _ if isinstance(message, _TRANSIENT):
                return
            case _:
                self._add_to_conversation(message)

    def messages(self) -> list[Outgoing]:
        """Return the messages for a new client: the past as a replay, then the running turn.

        Empty if the engine hasn't sent anything yet.
        """
        if self.info is None:
            return []
        return [
            self.info,
            ReplayBegin(anew=True),
            *self._past,
            ReplayEnd(),
            *(it for it in (self._status, self._todos, self._tasks, self.cost) if it is not None),
            *([MCPLoadingBegin()] if self._is_mcp_loading else []),
            *self._open_turn(),
        ]

    def _open_turn(self) -> Iterator[Outgoing]:
        """Yield the running turn without requests that are closed, and all other open requests."""
        sent = set()
        for message in merge_fragments(self._turn):
            if isinstance(message, UserRequest):
                if message.id not in self._requests:
                    continue
                sent.add(message.id)
            yield message
        yield from (request for request in self._requests.values() if request.id not in sent)

    def _add_to_conversation(self, message: Outgoing) -> None:
        if self._in_replay:
            self._past.append(message)
            return
        self._track(message)
        if isinstance(message, TurnBegin) or self._turn:
            self._turn.append(message)
            if len(self._turn) >= self._merge_at:
                self._turn = merge_fragments(self._turn)
                self._merge_at = 2 * len(self._turn) + _MERGE_AT
            if isinstance(message, TurnEnd):
                self._end_turn(message)
        elif not isinstance(message, Request | RequestClosed):
            self._past.append(message)

    def _track(self, message: Outgoing) -> None:
        match message:
            case ApprovalRequest() | QuestionRequest():
                self._requests[message.id] = message
            case ApprovalResponse(request_id=request_id) | RequestClosed(request_id=request_id):
                self._requests.pop(request_id, None)
            case ShellCommandBegin(id=shell_id):
                self._shells.add(shell_id)
            case ShellCommandEnd(id=shell_id):
                self._shells.discard(shell_id)
            case _:
                pass

    def _end_turn(self, end: TurnEnd) -> None:
        self.last_outcome = end.outcome
        self._past += _settle(self._turn)
        self._turn = []
        self._merge_at = _MERGE_AT
        self._requests = {
            request_id: request
            for request_id, request in self._requests.items()
            if isinstance(request, ApprovalRequest) and request.source_kind == "background_agent"
        }


def _settle(turn: list[Outgoing]) -> list[Outgoing]:
    """Return the messages of a turn that has ended which a replay needs."""
    ended = {message.tool_call_id for message in turn if isinstance(message, ToolResult)}
    return merge_fragments(
        message
        for message in turn
        if not isinstance(message, Request | RequestClosed | ApprovalResponse)
        and not (isinstance(message, ToolOutput) and message.tool_call_id in ended)
    )


def _merge_status(old: StatusUpdate | None, new: StatusUpdate) -> StatusUpdate:
    """Return the status after `new`. What belongs to a single step is left out."""
    changes = {item.name: value for item in fields(new) if (value := getattr(new, item.name)) is not None}
    merged = replace(old or StatusUpdate(), **changes)
    return replace(merged, token_usage=None, message_id=None, cache_miss=None)
