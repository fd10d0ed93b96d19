"""The scribe: turns what the wire delivers into blocks."""

from typing import assert_never

from kimi_tui.base.content import AudioURLPart, ImageURLPart, TextPart, ThinkPart, VideoURLPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.markdown.line import Spans
from kimi_tui.tui.transcript.blocks.answer import AnswerBlock
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.blocks.media import described
from kimi_tui.tui.transcript.blocks.notice import NoticeBlock, RuleBlock
from kimi_tui.tui.transcript.blocks.plan import PlanBlock
from kimi_tui.tui.transcript.blocks.thinking import ThinkingBlock
from kimi_tui.tui.transcript.blocks.toolcall import ToolCallBlock
from kimi_tui.tui.transcript.blocks.user import UserBlock
from kimi_tui.tui.transcript.calls import OpenCalls
from kimi_tui.tui.transcript.child import ChildPage, child_margin
from kimi_tui.tui.transcript.page import Page
from kimi_tui.tui.transcript.remarks import of_compaction, of_hook, of_retry, of_turn_end
from kimi_tui.tui.transcript.shells import UserShells
from kimi_tui.wire.background import TasksUpdate
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
    Reply,
    RequestClosed,
    Reverted,
    RevertPlan,
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
from kimi_tui.wire.shell import ShellCommandBegin, ShellCommandEnd
from kimi_tui.wire.timeline import (
    BranchContent,
    Comparison,
    PatchWritten,
    SessionForked,
    Timeline,
    TimelineUpdate,
)
from kimi_tui.wire.window import WindowFilling
from kimi_tui.words.time_travel import told_comparison, told_fork, told_patch, told_plan
from kimi_tui.words.window import told_filling


class Scribe:
    """Reads messages in order and keeps what is open: the answer, the thought, the calls of the turn."""

    def __init__(
        self,
        page: Page,
        *,
        calls: OpenCalls,
        margin: Spans = (),
        is_child: bool = False,
    ) -> None:
        self._page = page
        self._calls = calls
        self._shells = UserShells(calls.clock)
        self._margin = margin
        self._is_child = is_child
        """Whether it writes for a sub-agent, whose task stands in the call that started it."""
        self._speaking: AnswerBlock | ThinkingBlock | None = None
        self._step: list[Block] = []
        self._last: Block | None = None
        self._subagents: dict[str, Scribe] = {}
        self._compaction: RuleBlock | None = None
        self._in_turn = False

    def show(self, message: Outgoing) -> None:
        """Take in one message. Call `settle` after the last of a batch."""
        match message:
            case TextPart(text=text):
                self._say(text)
            case ThinkPart(think=think):
                self._think(think)
            case ToolCallPart():
                self._calls.feed_arguments(message)
            case ToolOutput(tool_call_id=call_id, text=text):
                if (theirs := self._shells.output(call_id, text)) is not None:
                    self._page.changed(theirs)
                else:
                    self._calls.feed_output(call_id, text)
            case ShellCommandBegin():
                self._add(self._shells.begin(message, self._margin))
            case ShellCommandEnd():
                if (ended := self._shells.end(message)) is not None:
                    self._page.changed(ended)
            case ToolCall():
                self._call(message)
            case ToolResult(tool_call_id=call_id, return_value=value):
                self._calls.finish(call_id, value)
            case SubagentEvent():
                self._subagent(message)
            case TurnBegin():
                self._begin_turn(message)
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
                    self._add(NoticeBlock("warning", say("Interrupted."), margin=self._margin))
            case ApprovalRequest() | QuestionRequest():
                self._calls.ask(message)
            case ApprovalResponse(request_id=request_id) | RequestClosed(request_id=request_id):
                self._calls.answered(request_id)
            case StatusUpdate():
                self._calls.begin_written()
            case CompactionBegin():
                self._compaction = RuleBlock(say("compacting the context …"), margin=self._margin)
                self._add(self._compaction)
            case CompactionEnd():
                self._end_compaction(message)
            case Notification(title=title, body=body, severity=severity):
                what, more = retell(title), retell(body)
                self._add(NoticeBlock(severity, what or more, more if what else "", margin=self._margin))
            case PlanDisplay(content=content, file_path=path):
                self._add(PlanBlock(content, path, margin=self._margin))
            case HookResolved(action="block"):
                if objection := of_hook(message, margin=self._margin):
                    self._add(objection)
            case ImageURLPart() | AudioURLPart() | VideoURLPart():
                self._add(NoticeBlock("info", f"[{described(message)}]", margin=self._margin))
            case RevertPlan():
                self._add(NoticeBlock("info", *told_plan(message), margin=self._margin))
            case Comparison():
                self._add(NoticeBlock("info", *told_comparison(message), margin=self._margin))
            case PatchWritten():
                self._add(NoticeBlock("info", *told_patch(message), margin=self._margin))
            case SessionForked():
                self._add(NoticeBlock("info", *told_fork(message), margin=self._margin))
            case WindowFilling():
                self._add(NoticeBlock("info", *told_filling(message), margin=self._margin))
            case CheckpointCreated():
                self._page.checkpoint(message)
            case Reverted():
                self._close_all()
                self._last = None
                self._page.revert(message)
            case (
                BtwBegin()
                | BtwEnd()
                | MCPLoadingBegin()
                | MCPLoadingEnd()
                | HookTriggered()
                | HookResolved()
                | TodoUpdate()
                | TasksUpdate()
                | CostUpdate()
                | SessionInfo()
                | ReplayBegin()
                | ReplayEnd()
                | SnapshotProgress()
                | Timeline()
                | TimelineUpdate()
                | BranchContent()
                | ToolCallRequest()
                | HookRequest()
            ):
                pass
            case _:
                if not isinstance(message, Reply):
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
            self._speaking = ThinkingBlock(self._calls.clock, margin=self._margin)
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
        self._add_spoken(self._calls.open(call, self._page, self._margin))

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
        known = self._calls.place_of(key)
        if known is None:
            name = message.subagent_type or "agent"
            block = self._calls.open(ToolCall(key, FunctionCall(name)), self._page, self._margin)
            self._add(block)
            known = (block, self._page)
        parent, page = known
        parent.begin()
        return Scribe(ChildPage(parent, page), calls=self._calls, margin=child_margin(parent), is_child=True)

    # how a turn goes

    def _begin_turn(self, begin: TurnBegin) -> None:
        self._close_all()
        self._in_turn = True
        self._step = []
        self._last = None
        if not self._is_child:
            self._page.begin_turn()
            self._add(UserBlock(begin.user_input, margin=self._margin))

    def _end_turn(self, end: TurnEnd) -> None:
        self._close_all()
        self._in_turn = False
        self._subagents.clear()
        if remark := of_turn_end(end, margin=self._margin):
            self._add(remark)

    def _retry(self, retry: StepRetry) -> None:
        self._speaking = None
        for block in reversed(self._step):
            if isinstance(block, ToolCallBlock):
                self._calls.forget(block)
            self._page.drop(block)
        self._step = []
        self._last = None
        self._add_spoken(of_retry(retry, margin=self._margin))

    def _close_all(self) -> None:
        self._finish_speaking()
        self._calls.cancel(self._page if self._is_child else None)

    def _end_compaction(self, end: CompactionEnd) -> None:
        block, self._compaction = self._compaction, None
        if block is None:
            return
        block.words = of_compaction(end)
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
