"""What the engine tells, as a client is shown it: events become updates of a session."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

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

from kimi_tui.acp.calls import Calls
from kimi_tui.acp.content import block_of, fenced, text
from kimi_tui.base.content import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    VideoURLPart,
    as_parts,
)
from kimi_tui.base.identity import new_id
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import UnknownWireMessage, unwrap
from kimi_tui.wire.display import TodoItem
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwBegin,
    BtwEnd,
    CompactionBegin,
    CompactionEnd,
    CostUpdate,
    HookResolved,
    Notification,
    PlanDisplay,
    Reverted,
    RevertPlan,
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

_PLAN_STATUS: dict[str, PlanEntryStatus] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "done": "completed",
}


class Narrator:
    """Tells one session's events in order. What the protocol has no update for is told in words."""

    def __init__(self, *, work_dir: Path) -> None:
        self._work_dir = work_dir
        self._calls = Calls(work_dir=work_dir)
        self._agents: dict[str, Calls] = {}
        """The calls of sub-agents, by their path from the main agent."""
        self._callers: dict[str, tuple[Calls, str]] = {}
        """Open approvals: whose call they are for."""
        self._message = new_id()
        self._context: tuple[int, int] | None = None
        self._cost: float | None = None

    def tell(self, event: Outgoing) -> Iterator[Update]:
        """The updates that `event` means."""
        match event:
            case TextPart() | ImageURLPart() | AudioURLPart() | VideoURLPart():
                yield self._said(event)
            case ThinkPart(think=thought):
                if thought:
                    yield self._thought(thought)
            case StepBegin():
                self._message = new_id()
            case ToolCall() | ToolCallPart() | ToolOutput() | ToolResult() | StepRetry() | StepInterrupted():
                yield from self._of_step(self._calls, event)
                if isinstance(event, StepRetry):
                    yield self._begin_anew(event)
                elif isinstance(event, ToolResult):
                    self._forget_agents(event.tool_call_id)
            case SubagentEvent():
                yield from self._of_agent(event)
            case ApprovalResponse():
                yield from self._answered(event)
            case TodoUpdate(items=items):
                yield _plan(items)
            case StatusUpdate() | CostUpdate():
                yield from self._usage(event)
            case _:
                words = _words(event)
                if words:
                    yield self.remark(words)

    def replay(self, event: Outgoing) -> Iterator[Update]:
        """As `tell`, for what happened before: what the user said is told too."""
        if isinstance(event, TurnBegin):
            message_id = new_id()
            for part in as_parts(event.user_input):
                yield UserMessageChunk(
                    session_update="user_message_chunk", content=block_of(part), message_id=message_id
                )
        else:
            yield from self.tell(event)

    def remark(self, words: str) -> AgentMessageChunk:
        """Words of the program, as a message of their own."""
        self._message = new_id()
        remark = self._said(TextPart(f"{words}\n\n"))
        self._message = new_id()
        return remark

    def asked(self, request: ApprovalRequest) -> tuple[Iterable[ToolCallStart], ToolCallUpdate]:
        """The call that consent is asked for, and what is to be told before, when it wasn't yet."""
        calls = self._with(request.tool_call_id)
        if calls is None:
            sender = request.subagent_type or request.agent_id or ""
            calls = self._calls_of(request.agent_id or sender, plain_line(sender)) if sender else self._calls
        self._callers[request.id] = calls, request.tool_call_id
        return calls.asked(request)

    def questioned(self, call_id: str, question: str) -> tuple[Iterable[ToolCallStart], ToolCallUpdate]:
        """As `asked`, for a question of the model's."""
        return (self._with(call_id) or self._calls).questioned(call_id, question)

    def answered(self, call_id: str) -> Iterator[Update]:
        """The question has its answer."""
        calls = self._with(call_id)
        if calls is not None:
            yield from calls.answer(call_id, consents=True)

    def attach_terminal(self, call_id: str, terminal_id: str) -> Iterator[Update]:
        """A call runs in a terminal of the client's."""
        calls = self._with(call_id)
        if calls is not None:
            yield from calls.attach_terminal(call_id, terminal_id)

    def shown_id(self, call_id: str) -> str | None:
        """The client's id of an open call."""
        calls = self._with(call_id)
        return calls.id_of(call_id) if calls is not None else None

    def _with(self, call_id: str) -> Calls | None:
        """The calls among which an open one is."""
        known = (self._calls, *self._agents.values())
        return next((calls for calls in known if calls.id_of(call_id) is not None), None)

    def _said(self, part: ContentPart) -> AgentMessageChunk:
        return AgentMessageChunk(
            session_update="agent_message_chunk", content=block_of(part), message_id=self._message
        )

    def _thought(self, words: str) -> AgentThoughtChunk:
        return AgentThoughtChunk(
            session_update="agent_thought_chunk", content=text(words), message_id=f"{self._message}-thought"
        )

    def _of_step(
        self,
        calls: Calls,
        event: ToolCall | ToolCallPart | ToolOutput | ToolResult | StepRetry | StepInterrupted,
    ) -> Iterator[Update]:
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
                yield from calls.drop_all("It was not run: the answer broke off.")

    def _begin_anew(self, retry: StepRetry) -> Update:
        status = f" {retry.status_code}" if retry.status_code is not None else ""
        self._message = new_id()
        return self._thought(
            f"The answer broke off ({plain_line(retry.error_type)}{status}) and is asked for again:"
            f" attempt {retry.next_attempt} of {retry.max_attempts}.\n"
        )

    def _of_agent(self, event: SubagentEvent) -> Iterator[Update]:
        """A sub-agent's calls; what it says comes with the result of the call that made it."""
        path, name = event.parent_tool_call_id or "", event.subagent_type or "sub-agent"
        inner: object = event
        while isinstance(inner, SubagentEvent):
            path = f"{path}/{inner.agent_id or inner.parent_tool_call_id or ''}"
            name = inner.subagent_type or name
            try:
                inner = unwrap(inner.event)
            except UnknownWireMessage:
                return
        if isinstance(inner, ToolCall | ToolCallPart | ToolOutput | ToolResult | StepRetry | StepInterrupted):
            yield from self._of_step(self._calls_of(path, plain_line(name)), inner)

    def _forget_agents(self, call_id: str) -> None:
        """The call that made them has its result."""
        for path in [path for path in self._agents if path.startswith(f"{call_id}/")]:
            del self._agents[path]

    def _calls_of(self, path: str, name: str) -> Calls:
        if path not in self._agents:
            self._agents[path] = Calls(work_dir=self._work_dir, sender=name)
        return self._agents[path]

    def _answered(self, answer: ApprovalResponse) -> Iterator[Update]:
        known = self._callers.pop(answer.request_id, None)
        if known is not None:
            calls, call_id = known
            yield from calls.answer(call_id, consents=answer.response != "reject")

    def _usage(self, event: StatusUpdate | CostUpdate) -> Iterator[Update]:
        known = self._context, self._cost
        if isinstance(event, CostUpdate):
            self._cost = event.cost_usd
        elif event.context_tokens is not None and event.max_context_tokens:
            self._context = event.context_tokens, event.max_context_tokens
        if self._context is not None and known != (self._context, self._cost):
            used, size = self._context
            cost = Cost(amount=self._cost, currency="USD") if self._cost is not None else None
            yield UsageUpdate(session_update="usage_update", used=used, size=size, cost=cost)


def _plan(items: Iterable[TodoItem]) -> AgentPlanUpdate:
    priority: Literal["medium"] = "medium"
    entries = [
        PlanEntry(content=plain_line(item.title), priority=priority, status=_PLAN_STATUS[item.status])
        for item in items
    ]
    return AgentPlanUpdate(session_update="plan", entries=entries)


def _words(event: Outgoing) -> str:
    """What is told in words; empty for what needs none."""
    match event:
        case TurnEnd(failure=TurnFailure() as failure):
            return f"⚠ {plain_line(failure.what)} {plain_line(failure.hint)}".rstrip()
        case Notification(title=title, body=body, severity=severity):
            mark = "" if severity == "info" else "⚠ "
            return f"{mark}{plain_line(title)}" + (f"\n\n{_laid_out(body)}" if body.strip() else "")
        case PlanDisplay(content=plan):
            return plain(plan)
        case CompactionBegin():
            return "*The conversation is being compacted.*"
        case CompactionEnd(tokens_before=int(before), tokens_after=int(after)):
            return f"*The conversation was compacted from {before:,} to {after:,} tokens.*"
        case Reverted(to=to, files=files, reason=reason) if reason in ("user", "undo", "redo", "switch"):
            changed = "".join(f"\n- {plain_line(file)}" for file in files)
            return f"*The conversation is at checkpoint {to} now.*" + (
                f"\n\nFiles changed:{changed}" if changed else ""
            )
        case RevertPlan(to=to, files=files, note=note):
            lines = [f"- {file.action}: {plain_line(file.path)}" for file in files] or ["- no file changes"]
            return (
                f"Going to checkpoint {to} would do this:\n\n"
                + "\n".join([*lines, plain_line(note)]).rstrip()
            )
        case BtwBegin(question=question):
            return f"*Beside the conversation:* {plain_line(question)}"
        case BtwEnd(response=response, error=error):
            return plain(response or error or "")
        case HookResolved(action="block", event=hook, target=target, reason=reason):
            return f"*The hook {plain_line(hook)} blocked {plain_line(target)}:* {plain_line(reason)}"
        case _:
            return ""


def _laid_out(body: str) -> str:
    """`body`, whose lines stay lines in Markdown."""
    return fenced(body) if "\n" in body.strip() else plain(body)
