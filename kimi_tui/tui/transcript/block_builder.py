"""Builder that turns wire messages into blocks."""

from typing import assert_never

from kimi_tui.base.content_parts import AudioURLPart, ImageURLPart, TextPart, ThinkPart, VideoURLPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.config.startup_settings import ThinkingDisplay
from kimi_tui.frontend.message_batch import ConversationMessage, is_conversation_message
from kimi_tui.frontend.text.attempts import attempt_result_text, attempts_text
from kimi_tui.frontend.text.bisect import progress_text, result_text
from kimi_tui.frontend.text.change_review import planned_file_text, review_text
from kimi_tui.frontend.text.checks import check_result_text
from kimi_tui.frontend.text.review import comments_text
from kimi_tui.frontend.text.timeline import comparison_text, fork_text, patch_text, plan_text
from kimi_tui.frontend.text.why import why_text
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.tui.markdown.styled_line import Spans
from kimi_tui.tui.transcript.block_sink import BlockSink
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.blocks.media_label import media_label
from kimi_tui.tui.transcript.blocks.notice import NoticeBlock, RuleBlock
from kimi_tui.tui.transcript.blocks.plan import PlanBlock
from kimi_tui.tui.transcript.blocks.response import ResponseBlock
from kimi_tui.tui.transcript.blocks.thinking import ThinkingBlock
from kimi_tui.tui.transcript.blocks.toolcall import ToolCallBlock
from kimi_tui.tui.transcript.blocks.user import UserBlock
from kimi_tui.tui.transcript.open_calls import OpenCalls
from kimi_tui.tui.transcript.shell_blocks import ShellBlocks
from kimi_tui.tui.transcript.subagent_sink import SubagentSink, subagent_margin
from kimi_tui.tui.transcript.turn_notices import (
    compaction_summary,
    hook_notice,
    retry_notice,
    turn_end_notice,
)
from kimi_tui.wire.attempts import AttemptChanges, AttemptList
from kimi_tui.wire.bisect import BisectProgress, BisectResult
from kimi_tui.wire.checks import CheckResult
from kimi_tui.wire.codec import UnknownWireMessage, unwrap
from kimi_tui.wire.events import (
    ApprovalResponse,
    CheckpointCreated,
    CompactionBegin,
    CompactionEnd,
    HookResolved,
    Notification,
    PlanDisplay,
    RequestClosed,
    Reverted,
    RevertPlan,
    StatusUpdate,
    SteerInput,
    StepBegin,
    StepInterrupted,
    StepRetry,
    SubagentEvent,
    ToolOutput,
    ToolResult,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest
from kimi_tui.wire.review import ChangeReview, CommentList, PlannedFileContent
from kimi_tui.wire.timeline import (
    Comparison,
    PatchWritten,
    SessionForked,
)
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd
from kimi_tui.wire.why import LineReason


class BlockBuilder:
    """Reads messages in order. Tracks streaming text, running tool calls and sub-agents."""

    def __init__(
        self,
        sink: BlockSink,
        *,
        calls: OpenCalls,
        thinking: ThinkingDisplay = "preview",
        margin: Spans = (),
        is_subagent: bool = False,
    ) -> None:
        self._sink = sink
        self._calls = calls
        self._thinking = thinking
        self._shell_blocks = ShellBlocks()
        self._margin = margin
        self._is_subagent = is_subagent
        """Whether the blocks are a sub-agent's. Its task is shown by the call that started it."""
        self._streaming_block: ResponseBlock | ThinkingBlock | None = None
        self._step_blocks: list[Block] = []
        self._last_block: Block | None = None
        self._subagent_builders: dict[str, BlockBuilder] = {}
        self._compaction_block: RuleBlock | None = None
        self._bisect_block: NoticeBlock | None = None
        self._attempts_block: NoticeBlock | None = None
        self._in_turn = False

    def handle(self, message: ConversationMessage) -> None:
        """Handle one message. Call `finish_batch` after the last one of a batch."""
        match message:
            case TextPart(text=text):
                self._add_text(text)
            case ThinkPart(think=think):
                self._add_thinking(think)
            case ToolCallPart():
                self._calls.feed_arguments(message)
            case ToolOutput(tool_call_id=call_id, text=text):
                if (shell_block := self._shell_blocks.append_output(call_id, text)) is not None:
                    self._sink.update(shell_block)
                else:
                    self._calls.feed_output(call_id, text)
            case ShellCommandBegin():
                block = self._shell_blocks.begin(message, self._calls.start_stopwatch(), self._margin)
                self._add_below(block)
            case ShellCommandEnd():
                if (shell_block := self._shell_blocks.end(message)) is not None:
                    self._sink.update(shell_block)
            case ToolCall():
                self._open_call(message)
            case ToolResult(tool_call_id=call_id, return_value=value):
                self._calls.finish(call_id, value)
            case SubagentEvent():
                self._handle_subagent_event(message)
            case TurnBegin():
                self._begin_turn(message)
            case SteerInput(user_input=user_input):
                self._add(UserBlock(user_input, is_steer=True, margin=self._margin))
            case TurnEnd():
                self._end_turn(message)
            case StepBegin():
                self._finish_streaming()
                self._step_blocks = []
            case StepRetry():
                self._handle_retry(message)
            case StepInterrupted():
                self._close_all()
                if not self._in_turn:
                    self._add(NoticeBlock("warning", tr("Interrupted."), margin=self._margin))
            case ApprovalRequest() | QuestionRequest():
                self._calls.begin_request(message)
            case ApprovalResponse(request_id=request_id, edited=edited):
                self._calls.end_request(request_id, edited_command=edited)
            case RequestClosed(request_id=request_id):
                self._calls.end_request(request_id)
            case StatusUpdate():
                self._calls.start_written_calls()
            case CompactionBegin():
                self._compaction_block = RuleBlock(tr("Compacting the conversation …"), margin=self._margin)
                self._add(self._compaction_block)
            case CompactionEnd():
                self._end_compaction(message)
            case Notification(title=title, body=body, severity=severity):
                heading, detail = translate_message(title), translate_message(body)
                self._add_below(
                    NoticeBlock(severity, heading or detail, detail if heading else "", margin=self._margin)
                )
            case PlanDisplay(content=content, file_path=path):
                self._add(PlanBlock(content, path, margin=self._margin))
            case HookResolved():
                if notice := hook_notice(message, margin=self._margin):
                    self._add(notice)
            case ImageURLPart() | AudioURLPart() | VideoURLPart():
                self._add(NoticeBlock("info", f"[{media_label(message)}]", margin=self._margin))
            case RevertPlan():
                self._add(NoticeBlock("info", *plan_text(message), margin=self._margin))
            case Comparison():
                self._add(NoticeBlock("info", *comparison_text(message), margin=self._margin))
            case PatchWritten():
                self._add(NoticeBlock("info", *patch_text(message), margin=self._margin))
            case BisectProgress():
                self._show_bisect(progress_text(message))
            case BisectResult():
                self._bisect_block = None
                self._add(NoticeBlock("info", *result_text(message), margin=self._margin))
            case CheckResult():
                if (check_text := check_result_text(message))[0]:
                    is_good = message.change == "passes_again"
                    self._add(NoticeBlock("info" if is_good else "warning", *check_text, margin=self._margin))
            case LineReason():
                self._add(NoticeBlock("info", *why_text(message), margin=self._margin))
            case AttemptList():
                self._show_attempts(message)
            case AttemptChanges():
                self._add(NoticeBlock("info", *attempt_result_text(message), margin=self._margin))
            case CommentList():
                self._add(NoticeBlock("info", *comments_text(message), margin=self._margin))
            case ChangeReview():
                self._add(NoticeBlock("info", *review_text(message), margin=self._margin))
            case PlannedFileContent():
                self._add(NoticeBlock("info", *planned_file_text(message), margin=self._margin))
            case SessionForked():
                self._add(NoticeBlock("info", *fork_text(message), margin=self._margin))
            case CheckpointCreated():
                self._sink.add_checkpoint(message)
            case Reverted():
                self._bisect_block = self._attempts_block = None
                self._close_all()
                self._last_block = None
                self._sink.revert(message)
            case _:
                assert_never(message)

    def finish_batch(self) -> None:
        """Update the streaming block after a batch of messages."""
        if self._streaming_block is not None:
            if isinstance(self._streaming_block, ResponseBlock):
                self._streaming_block.refresh()
            self._sink.update(self._streaming_block)

    def close(self) -> None:
        """Close all open blocks, because no more messages follow."""
        self._close_all()

    # text and thinking

    def _add_text(self, text: str) -> None:
        if not isinstance(self._streaming_block, ResponseBlock):
            if not text.strip():
                return
            self._finish_streaming()
            self._streaming_block = ResponseBlock(margin=self._margin)
            self._add_to_step(self._streaming_block)
        self._streaming_block.feed(text)

    def _add_thinking(self, text: str) -> None:
        if not isinstance(self._streaming_block, ThinkingBlock):
            if not text:
                return
            self._finish_streaming()
            self._streaming_block = ThinkingBlock(
                self._calls.start_stopwatch(), display=self._thinking, margin=self._margin
            )
            self._add_to_step(self._streaming_block)
        self._streaming_block.feed(text)

    def _finish_streaming(self) -> None:
        if self._streaming_block is not None:
            self._streaming_block.finish()
            self._sink.update(self._streaming_block)
            self._streaming_block = None

    # tool calls and sub-agents

    def _open_call(self, call: ToolCall) -> None:
        self._finish_streaming()
        self._add_to_step(self._calls.open_call(call, self._sink, self._margin))

    def _handle_subagent_event(self, message: SubagentEvent) -> None:
        key = message.parent_tool_call_id or message.agent_id or ""
        if key not in self._subagent_builders:
            self._subagent_builders[key] = self._create_subagent_builder(key, message)
        try:
            inner = unwrap(message.event)
        except UnknownWireMessage:
            return
        builder = self._subagent_builders[key]
        if is_conversation_message(inner):
            builder.handle(inner)
            builder.finish_batch()

    def _create_subagent_builder(self, key: str, message: SubagentEvent) -> "BlockBuilder":
        parent_call = self._calls.find_call(key)
        if parent_call is None:
            name = message.subagent_type or "agent"
            block = self._calls.open_call(ToolCall(key, FunctionCall(name)), self._sink, self._margin)
            self._add(block)
            parent_call = (block, self._sink)
        parent, parent_sink = parent_call
        parent.begin()
        return BlockBuilder(
            SubagentSink(parent, parent_sink),
            calls=self._calls,
            thinking=self._thinking,
            margin=subagent_margin(parent),
            is_subagent=True,
        )

    # turns

    def _begin_turn(self, begin: TurnBegin) -> None:
        self._close_all()
        self._in_turn = True
        self._step_blocks = []
        self._last_block = None
        if not self._is_subagent:
            self._sink.begin_turn()
            self._add(UserBlock(begin.user_input, margin=self._margin))

    def _end_turn(self, end: TurnEnd) -> None:
        self._close_all()
        self._in_turn = False
        self._subagent_builders.clear()
        if notice := turn_end_notice(end, margin=self._margin):
            self._add(notice)

    def _handle_retry(self, retry: StepRetry) -> None:
        self._streaming_block = None
        for block in reversed(self._step_blocks):
            if isinstance(block, ToolCallBlock):
                self._calls.discard(block)
            self._sink.remove(block)
        self._step_blocks = []
        self._last_block = None
        self._add_to_step(retry_notice(retry, margin=self._margin))

    def _close_all(self) -> None:
        self._finish_streaming()
        self._calls.cancel(self._sink if self._is_subagent else None)

    def _end_compaction(self, end: CompactionEnd) -> None:
        block, self._compaction_block = self._compaction_block, None
        if block is None:
            return
        block.text = compaction_summary(end)
        block.redraw()
        self._sink.update(block)

    def _show_bisect(self, progress: str) -> None:
        block = self._bisect_block
        if block is None:
            self._bisect_block = NoticeBlock("info", progress, margin=self._margin)
            self._add(self._bisect_block)
            return
        block.message = progress
        block.redraw()
        self._sink.update(block)

    def _show_attempts(self, attempts: AttemptList) -> None:
        """Show the attempts in one block while some are running. On request, show them in a new block."""
        block = self._attempts_block
        is_active = any(attempt.is_active for attempt in attempts.attempts)
        if attempts.is_requested or (block is None and is_active):
            block = NoticeBlock("info", *attempts_text(attempts), margin=self._margin)
            self._add(block)
        elif block is not None:
            block.message, block.hint = attempts_text(attempts)
            block.redraw()
            self._sink.update(block)
        self._attempts_block = block if is_active else None

    # adding blocks

    def _add_to_step(self, block: Block) -> None:
        self._step_blocks.append(block)
        self._append_block(block)

    def _add(self, block: Block) -> None:
        self._finish_streaming()
        self._append_block(block)

    def _add_below(self, block: Block) -> None:
        """Add a block that isn't part of the response. A streaming response continues above the block."""
        if isinstance(self._streaming_block, ResponseBlock):
            self._append_block(block)
        else:
            self._add(block)

    def _append_block(self, block: Block) -> None:
        block.has_gap_above = not (
            block.is_stackable and self._last_block is not None and self._last_block.is_stackable
        )
        if block.pieces:
            block.refold()
        self._last_block = block
        self._sink.append(block)
