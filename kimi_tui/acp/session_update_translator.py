"""Translation of engine events to ACP session updates."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeGuard, assert_never, get_args

from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    Cost,
    PlanEntry,
    PlanEntryStatus,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    UsageUpdate,
    UserMessageChunk,
)

from kimi_tui.acp.content_blocks import build_code_block, text_block, to_block
from kimi_tui.acp.tool_call_registry import ToolCallRegistry
from kimi_tui.base.content_parts import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    VideoURLPart,
    as_parts,
)
from kimi_tui.base.ids import new_id
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.text.timeline import saved_versions_note, saved_versions_text
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import UnknownWireMessage, unwrap
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwBegin,
    BtwEnd,
    CallEvent,
    CompactionBegin,
    CompactionEnd,
    CompactionEvent,
    ContentEvent,
    CostUpdate,
    HookResolved,
    Notification,
    PlanDisplay,
    Reverted,
    RevertPlan,
    SideQuestionEvent,
    StatusUpdate,
    StepBegin,
    StepInterrupted,
    StepRetry,
    SubagentEvent,
    TodoUpdate,
    ToolOutput,
    ToolResult,
    TurnBegin,
    TurnEnd,
    TurnFailure,
)
from kimi_tui.wire.requests import ApprovalRequest

Update = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCallStart
    | ToolCallProgress
    | AgentPlanUpdate
    | UsageUpdate
)

_StepEvent = CallEvent | StepRetry | StepInterrupted
_NoticeEvent = (
    TurnEnd
    | CompactionEvent
    | SideQuestionEvent
    | Notification
    | PlanDisplay
    | Reverted
    | RevertPlan
    | HookResolved
)
_TranslatedEvent = (
    ContentEvent
    | StepBegin
    | _StepEvent
    | SubagentEvent
    | ApprovalResponse
    | TodoUpdate
    | StatusUpdate
    | CostUpdate
    | _NoticeEvent
)
_TRANSLATED_TYPES = frozenset(get_args(_TranslatedEvent))

_PLAN_STATUS: dict[str, PlanEntryStatus] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "done": "completed",
}


class SessionUpdateTranslator:
    """Translates the events of one session in order. Events without a matching update become text."""

    def __init__(self, *, work_dir: Path) -> None:
        self._work_dir = work_dir
        self._calls = ToolCallRegistry(work_dir=work_dir)
        self._agents: dict[str, ToolCallRegistry] = {}
        """Tool calls of sub-agents, by their path from the main agent."""
        self._callers: dict[str, tuple[ToolCallRegistry, str]] = {}
        """Registry and tool call of each open permission request, by the request's id."""
        self._message = new_id()
        self._context: tuple[int, int] | None = None
        self._cost: float | None = None

    def translate(self, event: Outgoing) -> Iterator[Update]:
        """Yield the updates for `event`. Yield nothing for an event that is irrelevant to the client."""
        if not _is_translated(event):
            return
        match event:
            case TextPart() | ImageURLPart() | AudioURLPart() | VideoURLPart():
                yield self._message_chunk(event)
            case ThinkPart(think=thought):
                if thought:
                    yield self._thought_chunk(thought)
            case StepBegin():
                self._message = new_id()
            case ToolCall() | ToolCallPart() | ToolOutput() | StepInterrupted():
                yield from self._translate_step(self._calls, event)
            case ToolResult(tool_call_id=call_id):
                yield from self._translate_step(self._calls, event)
                self._drop_subagents(call_id)
            case StepRetry():
                yield from self._translate_step(self._calls, event)
                yield self._restart_message(event)
            case SubagentEvent():
                yield from self._translate_subagent(event)
            case ApprovalResponse():
                yield from self._translate_answer(event)
            case TodoUpdate(items=items):
                yield _plan_update(items)
            case StatusUpdate() | CostUpdate():
                yield from self._usage_update(event)
            case _:
                if text := _notice_text(event):
                    yield self.build_notice(text)

    def translate_replay(self, event: Outgoing) -> Iterator[Update]:
        """Yield the updates for a replayed event, including the user's messages."""
        if isinstance(event, TurnBegin):
            message_id = new_id()
            for part in as_parts(event.user_input):
                yield UserMessageChunk(
                    session_update="user_message_chunk", content=to_block(part), message_id=message_id
                )
        else:
            yield from self.translate(event)

    def build_notice(self, text: str) -> AgentMessageChunk:
        """Return a notice from kimi-tui as a separate message."""
        self._message = new_id()
        chunk = self._message_chunk(TextPart(f"{text}\n\n"))
        self._message = new_id()
        return chunk

    def build_permission_update(
        self, request: ApprovalRequest
    ) -> tuple[Iterable[ToolCallStart], ToolCallUpdate]:
        """Return the updates to send before a permission request, and the request's tool call.

        The updates are empty if the client already knows the tool call.
        """
        calls = self._find_registry(request.tool_call_id)
        if calls is None:
            sender = request.subagent_type or request.agent_id or ""
            calls = (
                self._subagent_registry(request.agent_id or sender, sanitize_line(sender))
                if sender
                else self._calls
            )
        self._callers[request.id] = calls, request.tool_call_id
        return calls.build_permission_update(request)

    def build_question_update(
        self, call_id: str, question: str
    ) -> tuple[Iterable[ToolCallStart], ToolCallUpdate]:
        """Like `build_permission_update`, for a question of the model."""
        return (self._find_registry(call_id) or self._calls).build_question_update(call_id, question)

    def resolve_request(self, call_id: str) -> Iterator[Update]:
        """Yield the updates for an answered question."""
        calls = self._find_registry(call_id)
        if calls is not None:
            yield from calls.resolve_request(call_id, consents=True)

    def attach_terminal(self, call_id: str, terminal_id: str) -> Iterator[Update]:
        """Yield the updates for a tool call that runs in a terminal of the client."""
        calls = self._find_registry(call_id)
        if calls is not None:
            yield from calls.attach_terminal(call_id, terminal_id)

    def client_call_id(self, call_id: str) -> str | None:
        """Return the client's id of an open tool call; None if the call isn't open."""
        calls = self._find_registry(call_id)
        return calls.client_call_id(call_id) if calls is not None else None

    def _find_registry(self, call_id: str) -> ToolCallRegistry | None:
        """Return the registry with the open tool call; None if the call isn't open."""
        registries = (self._calls, *self._agents.values())
        return next((calls for calls in registries if calls.client_call_id(call_id) is not None), None)

    def _message_chunk(self, part: ContentPart) -> AgentMessageChunk:
        return AgentMessageChunk(
            session_update="agent_message_chunk", content=to_block(part), message_id=self._message
        )

    def _thought_chunk(self, text: str) -> AgentThoughtChunk:
        return AgentThoughtChunk(
            session_update="agent_thought_chunk",
            content=text_block(text),
            message_id=f"{self._message}-thought",
        )

    def _translate_step(self, calls: ToolCallRegistry, event: _StepEvent) -> Iterator[Update]:
        match event:
            case ToolCall():
                yield from calls.begin(event)
            case ToolCallPart():
                yield from calls.feed(event)
            case ToolOutput():
                yield from calls.show_output(event)
            case ToolResult():
                yield from calls.end(event)
            case StepRetry() | StepInterrupted():
                yield from calls.drop_all("Not run: the response was interrupted.")

    def _restart_message(self, retry: StepRetry) -> Update:
        status = f" {retry.status_code}" if retry.status_code is not None else ""
        self._message = new_id()
        return self._thought_chunk(
            f"The response was interrupted ({sanitize_line(retry.error_type)}{status})."
            f" Retrying: attempt {retry.next_attempt} of {retry.max_attempts}.\n"
        )

    def _translate_subagent(self, event: SubagentEvent) -> Iterator[Update]:
        """Yield the updates for a sub-agent's tool calls. The parent call's result contains its text."""
        path, name = event.parent_tool_call_id or "", event.subagent_type or "sub-agent"
        inner: object = event
        while isinstance(inner, SubagentEvent):
            path = f"{path}/{inner.agent_id or inner.parent_tool_call_id or ''}"
            name = inner.subagent_type or name
            try:
                inner = unwrap(inner.event)
            except UnknownWireMessage:
                return
        if isinstance(inner, _StepEvent):
            yield from self._translate_step(self._subagent_registry(path, sanitize_line(name)), inner)

    def _drop_subagents(self, call_id: str) -> None:
        """Remove the sub-agents of a finished tool call."""
        for path in [path for path in self._agents if path.startswith(f"{call_id}/")]:
            del self._agents[path]

    def _subagent_registry(self, path: str, name: str) -> ToolCallRegistry:
        if path not in self._agents:
            self._agents[path] = ToolCallRegistry(work_dir=self._work_dir, sender=name)
        return self._agents[path]

    def _translate_answer(self, answer: ApprovalResponse) -> Iterator[Update]:
        caller = self._callers.pop(answer.request_id, None)
        if caller is not None:
            calls, call_id = caller
            yield from calls.resolve_request(call_id, consents=answer.response != "reject")

    def _usage_update(self, event: StatusUpdate | CostUpdate) -> Iterator[Update]:
        previous = self._context, self._cost
        if isinstance(event, CostUpdate):
            self._cost = event.cost_usd
        elif event.context_tokens is not None and event.max_context_tokens:
            self._context = event.context_tokens, event.max_context_tokens
        if self._context is not None and previous != (self._context, self._cost):
            used, size = self._context
            cost = Cost(amount=self._cost, currency="USD") if self._cost is not None else None
            yield UsageUpdate(session_update="usage_update", used=used, size=size, cost=cost)


def _plan_update(items: Iterable[TodoItem]) -> AgentPlanUpdate:
    priority: Literal["medium"] = "medium"
    entries = [
        PlanEntry(content=sanitize_line(item.title), priority=priority, status=_PLAN_STATUS[item.status])
        for item in items
    ]
    return AgentPlanUpdate(session_update="plan", entries=entries)


def _is_translated(event: Outgoing) -> TypeGuard[_TranslatedEvent]:
    return type(event) in _TRANSLATED_TYPES


def _notice_text(event: _NoticeEvent) -> str:
    """Return the text for an event without a matching update; empty for an event to leave out."""
    match event:
        case TurnEnd(failure=TurnFailure() as failure):
            return f"⚠ {sanitize_line(failure.what)} {sanitize_line(failure.hint)}".rstrip()
        case Notification(title=title, body=body, severity=severity):
            prefix = "" if severity == "info" else "⚠ "
            return f"{prefix}{sanitize_line(title)}" + (
                f"\n\n{_keep_line_breaks(body)}" if body.strip() else ""
            )
        case PlanDisplay(content=plan):
            return sanitize(plan)
        case CompactionBegin():
            return "*Compacting the conversation…*"
        case CompactionEnd(tokens_before=int(before), tokens_after=int(after)):
            return f"*Compacted the conversation from {before:,} to {after:,} tokens.*"
        case Reverted(to=to, files=files, reason=reason) if reason in ("user", "undo", "redo", "switch"):
            changed = "".join(f"\n- {sanitize_line(file)}" for file in files)
            return (
                f"*{_revert_headline(reason, to)}*"
                + (f"\n\nFiles changed:{changed}" if changed else "")
                + (f"\n\n{sanitize_line(saved)}" if (saved := saved_versions_text(event)) else "")
            )
        case RevertPlan(to=to, files=files, note=note, remarks=remarks):
            lines = [f"- {file.action}: {sanitize_line(file.names)}" for file in files] or [
                "No files change."
            ]
            lines += map(sanitize_line, (note, *remarks, saved_versions_note(event)))
            return f"Preview: revert to checkpoint {to}\n\n" + "\n".join(lines).rstrip()
        case BtwBegin(question=question):
            return f"*Side question:* {sanitize_line(question)}"
        case BtwEnd(response=response, error=error):
            return sanitize(response or error or "")
        case HookResolved(action="block", event=hook, target=target, reason=reason):
            return (
                f"*The hook {sanitize_line(hook)} blocked {sanitize_line(target)}:* {sanitize_line(reason)}"
            )
        case TurnEnd() | CompactionEnd() | Reverted() | HookResolved():
            return ""
        case _:
            assert_never(event)


def _revert_headline(reason: str, checkpoint: int) -> str:
    match reason:
        case "undo":
            return f"Revert undone: checkpoint {checkpoint}"
        case "redo":
            return f"Revert redone: checkpoint {checkpoint}"
        case "switch":
            return f"Switched to checkpoint {checkpoint}"
        case _:
            return f"Reverted to checkpoint {checkpoint}"


def _keep_line_breaks(body: str) -> str:
    """Return `body` in a form in which Markdown doesn't join its lines."""
    return build_code_block(body) if "\n" in body.strip() else sanitize(body)
