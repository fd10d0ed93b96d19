"""The scribe: turns what the wire delivers into blocks."""

from collections.abc import Callable
from typing import Protocol, assert_never

from kimi_tui.base.content import AudioURLPart, ImageURLPart, TextPart, ThinkPart, VideoURLPart
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.terminal import plain_line
from kimi_tui.tui.markdown.line import Spans, ink
from kimi_tui.tui.transcript.blocks.answer import AnswerBlock
from kimi_tui.tui.transcript.blocks.block import Block, Clock, seconds, tokens
from kimi_tui.tui.transcript.blocks.media import described
from kimi_tui.tui.transcript.blocks.notice import NoticeBlock, RuleBlock, Severity
from kimi_tui.tui.transcript.blocks.plan import PlanBlock, SideQuestionBlock
from kimi_tui.tui.transcript.blocks.thinking import ThinkingBlock
from kimi_tui.tui.transcript.blocks.toolcall import ToolCallBlock
from kimi_tui.tui.transcript.blocks.user import UserBlock
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import UnknownWireMessage, unwrap
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwBegin,
    BtwEnd,
    CheckpointCreated,
    CompactionBegin,
    CompactionEnd,
    CostUpdate,
    HookResolved,
    HookTriggered,
    MCPLoadingBegin,
    MCPLoadingEnd,
    Notification,
    PlanDisplay,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    Reverted,
    SessionInfo,
    SnapshotProgress,
    StatusUpdate,
    SteerInput,
    StepBegin,
    StepInterrupted,
    StepRetry,
    SubagentEvent,
    TodoUpdate,
    ToolOutput,
    ToolResult,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest, HookRequest, QuestionRequest, ToolCallRequest

_SUBAGENT_GUIDE: Spans = (("  ", ink()), ("│ ", ink("guide")))


class Page(Protocol):
    """Where a scribe's blocks go."""

    def begin_turn(self) -> None:
        """What follows is a turn of its own."""

    def append(self, block: Block) -> None:
        """Put `block` at the end."""

    def changed(self, block: Block) -> None:
        """`block` shows something else now."""

    def drop(self, block: Block) -> None:
        """Take away `block`, one of the last."""

    def checkpoint(self, event: CheckpointCreated) -> None:
        """A checkpoint stands here."""

    def revert(self, event: Reverted) -> None:
        """Everything after a checkpoint is undone."""


Calls = dict[str, tuple[ToolCallBlock, Page]]
_Act = Callable[[ToolCallBlock], None]


class Scribe:
    """Reads messages in order and keeps what is open: the answer, the thought, the calls of the turn."""

    def __init__(
        self,
        page: Page,
        *,
        clock: Clock | None,
        margin: Spans = (),
        calls: Calls | None = None,
    ) -> None:
        self.clock = clock
        """None while history is read: nobody knows how long things took."""
        self._page = page
        self._margin = margin
        self._calls: Calls = {} if calls is None else calls
        self._speaking: AnswerBlock | ThinkingBlock | None = None
        self._step: list[Block] = []
        self._last: Block | None = None
        self._last_call: ToolCallBlock | None = None
        self._requests: dict[str, str] = {}
        self._questions: dict[str, SideQuestionBlock] = {}
        self._subagents: dict[str, Scribe] = {}
        self._compaction: RuleBlock | None = None
        self._in_turn = False

    @property
    def running(self) -> list[ToolCallBlock]:
        """Calls that run, by the clock."""
        return [block for block, _ in self._calls.values() if block.status == "running"]

    def show(self, message: Outgoing) -> None:
        """Take in one message. Call `settle` after the last of a batch."""
        match message:
            case TextPart(text=text):
                self._say(text)
            case ThinkPart(think=think):
                self._think(think)
            case ToolCallPart():
                self._more_arguments(message)
            case ToolOutput(tool_call_id=call_id, text=text):
                self._with_call(call_id, lambda call: call.feed_output(text))
            case ToolCall():
                self._call(message)
            case ToolResult(tool_call_id=call_id, return_value=value):
                self._with_call(call_id, lambda call: call.finish(value))
                self._calls.pop(call_id, None)
            case SubagentEvent():
                self._subagent(message)
            case TurnBegin(user_input=user_input):
                self._begin_turn()
                self._add(UserBlock(user_input, margin=self._margin))
            case SteerInput(user_input=user_input):
                self._add(UserBlock(user_input, steering=True, margin=self._margin))
            case TurnEnd():
                self._end_turn(message)
            case StepBegin():
                self._finish_speaking()
                self._step = []
            case StepRetry():
                self._retry(message)
            case StepInterrupted():
                self._close_all()
                if not self._in_turn:
                    self._add(NoticeBlock("warning", "Interrupted.", margin=self._margin))
            case ApprovalRequest() | QuestionRequest():
                self._requests[message.id] = message.tool_call_id
                self._with_call(message.tool_call_id, ToolCallBlock.wait)
            case ApprovalResponse(request_id=request_id) | RequestClosed(request_id=request_id):
                self._with_call(self._requests.pop(request_id, ""), ToolCallBlock.begin)
            case StatusUpdate():
                self._begin_written_calls()
            case CompactionBegin():
                self._compaction = RuleBlock("compacting the context …", margin=self._margin)
                self._add(self._compaction)
            case CompactionEnd():
                self._end_compaction(message)
            case Notification(title=title, body=body, severity=severity):
                self._add(NoticeBlock(severity, title or body, body if title else "", margin=self._margin))
            case PlanDisplay(content=content, file_path=path):
                self._add(PlanBlock(content, path, margin=self._margin))
            case HookResolved(action="block", target=target, reason=reason):
                self._add(NoticeBlock("warning", f"A hook blocked {target}.", reason, margin=self._margin))
            case BtwBegin(id=question_id, question=question):
                self._questions[question_id] = SideQuestionBlock(question, margin=self._margin)
                self._add(self._questions[question_id])
            case BtwEnd(id=question_id, response=response, error=error):
                if block := self._questions.pop(question_id, None):
                    block.finish(response, error)
                    self._page.changed(block)
            case ImageURLPart() | AudioURLPart() | VideoURLPart():
                self._add(NoticeBlock("info", f"[{described(message)}]", margin=self._margin))
            case CheckpointCreated():
                self._page.checkpoint(message)
            case Reverted():
                self._close_all()
                self._last = None
                self._page.revert(message)
            case (
                MCPLoadingBegin()
                | MCPLoadingEnd()
                | HookTriggered()
                | HookResolved()
                | TodoUpdate()
                | CostUpdate()
                | SessionInfo()
                | ReplayBegin()
                | ReplayEnd()
                | SnapshotProgress()
                | ToolCallRequest()
                | HookRequest()
            ):
                pass
            case _:
                assert_never(message)

    def settle(self) -> None:
        """A batch is over: bring what was fed up to date."""
        if self._speaking is not None:
            if isinstance(self._speaking, AnswerBlock):
                self._speaking.refresh()
            self._page.changed(self._speaking)

    def close(self) -> None:
        """Nothing more comes: close what is open."""
        self._close_all()

    # what is said

    def _say(self, text: str) -> None:
        if not isinstance(self._speaking, AnswerBlock):
            if not text.strip():
                return
            self._finish_speaking()
            self._speaking = AnswerBlock(margin=self._margin)
            self._add_spoken(self._speaking)
        self._speaking.feed(text)

    def _think(self, text: str) -> None:
        if not isinstance(self._speaking, ThinkingBlock):
            if not text:
                return
            self._finish_speaking()
            self._speaking = ThinkingBlock(self.clock, margin=self._margin)
            self._add_spoken(self._speaking)
        self._speaking.feed(text)

    def _finish_speaking(self) -> None:
        if self._speaking is not None:
            self._speaking.finish()
            self._page.changed(self._speaking)
            self._speaking = None

    # what is called

    def _call(self, call: ToolCall) -> None:
        self._finish_speaking()
        block = ToolCallBlock(
            call.id, call.function.name, call.function.arguments, self.clock, margin=self._margin
        )
        self._calls[call.id] = (block, self._page)
        self._last_call = block
        self._add_spoken(block)

    def _more_arguments(self, part: ToolCallPart) -> None:
        known = self._calls.get(part.tool_call_id) if part.tool_call_id else None
        block = known[0] if known is not None else self._last_call
        if block is not None and part.arguments_part:
            block.feed_arguments(part.arguments_part)
            self._page.changed(block)

    def _with_call(self, call_id: str, act: _Act) -> None:
        self._begin_written_calls()
        if known := self._calls.get(call_id):
            block, page = known
            act(block)
            page.changed(block)

    def _begin_written_calls(self) -> None:
        # The model's message is complete: what it asked for runs.
        for block, page in self._calls.values():
            if block.status == "writing":
                block.begin()
                page.changed(block)

    def _subagent(self, message: SubagentEvent) -> None:
        key = message.parent_tool_call_id or message.agent_id or ""
        if key not in self._subagents:
            self._subagents[key] = self._new_subagent(key, message)
        try:
            inner = unwrap(message.event)
        except UnknownWireMessage:
            return
        scribe = self._subagents[key]
        if isinstance(inner, Outgoing):
            scribe.show(inner)
            scribe.settle()

    def _new_subagent(self, key: str, message: SubagentEvent) -> "Scribe":
        if key in self._calls:
            parent, page = self._calls[key]
        else:
            parent = ToolCallBlock(key, plain_line(message.subagent_type or "agent"), None, self.clock)
            page = self._page
            self._calls[key] = (parent, page)
            self._add(parent)
        parent.begin()
        margin = (*parent.margin, *_SUBAGENT_GUIDE)
        return Scribe(_ChildPage(parent, page), clock=self.clock, margin=margin, calls=self._calls)

    # how a turn goes

    def _begin_turn(self) -> None:
        self._close_all()
        self._in_turn = True
        self._step = []
        self._page.begin_turn()
        self._last = None

    def _end_turn(self, end: TurnEnd) -> None:
        self._close_all()
        self._in_turn = False
        self._subagents.clear()
        if end.failure is not None:
            severity: Severity = "warning" if end.outcome in ("max_steps", "limit") else "error"
            self._add(NoticeBlock(severity, end.failure.what, end.failure.hint, margin=self._margin))
        elif end.outcome == "cancelled":
            self._add(NoticeBlock("warning", "Interrupted.", margin=self._margin))
        elif end.outcome == "rejected":
            self._add(NoticeBlock("info", "You said no, so the turn ended.", margin=self._margin))
        elif end.outcome in ("max_steps", "limit"):
            words = f"The turn stopped after {end.steps} steps."
            self._add(NoticeBlock("warning", words, "Say “continue” to go on.", margin=self._margin))

    def _retry(self, retry: StepRetry) -> None:
        self._speaking = None
        for block in reversed(self._step):
            if isinstance(block, ToolCallBlock):
                self._calls.pop(block.call_id, None)
            self._page.drop(block)
        self._step = []
        self._last = self._last_call = None
        cause = f"status {retry.status_code}" if retry.status_code else plain_line(retry.error_type)
        wait = f" in {seconds(retry.wait_s)}" if retry.wait_s >= 0.05 else ""
        what = f"The model's server failed ({cause}); trying again{wait}."
        hint = f"Attempt {retry.next_attempt} of {retry.max_attempts}."
        self._add_spoken(NoticeBlock("warning", what, hint, margin=self._margin))

    def _close_all(self) -> None:
        self._finish_speaking()
        for block, page in self._calls.values():
            block.cancel()
            page.changed(block)
        self._calls.clear()
        self._requests.clear()

    def _end_compaction(self, end: CompactionEnd) -> None:
        block, self._compaction = self._compaction, None
        if block is None:
            return
        block.words = "the compaction ended without a result"
        if end.tokens_before is not None and end.tokens_after is not None:
            change = f"{tokens(end.tokens_before)} → {tokens(end.tokens_after)} tokens"
            block.words = f"context compacted · {change}"
        block.redraw()
        self._page.changed(block)

    # where it goes

    def _add_spoken(self, block: Block) -> None:
        self._step.append(block)
        self._put(block)

    def _add(self, block: Block) -> None:
        self._finish_speaking()
        self._put(block)

    def _put(self, block: Block) -> None:
        block.above = not (block.stacks and self._last is not None and self._last.stacks)
        if block.pieces:
            block.refold()
        self._last = block
        self._page.append(block)


class _ChildPage:
    """The blocks of a sub-agent, within the call that started it."""

    def __init__(self, parent: ToolCallBlock, page: Page) -> None:
        self._parent = parent
        self._page = page

    def begin_turn(self) -> None:
        """A sub-agent's turn is no turn of the conversation."""

    def append(self, block: Block) -> None:
        """Put `block` at the end of the children."""
        block.above = False
        if block.pieces:
            block.refold()
        self._parent.children.append(block)
        self.changed(block)

    def changed(self, block: Block) -> None:
        """Let the parent show what its children show now."""
        self._parent.gather()
        self._page.changed(self._parent)

    def drop(self, block: Block) -> None:
        """Take a child away."""
        self._parent.children.remove(block)
        self.changed(block)

    def checkpoint(self, event: CheckpointCreated) -> None:
        """A sub-agent's checkpoints are its own."""

    def revert(self, event: Reverted) -> None:
        """A sub-agent's jumps are its own."""
