"""Prints each event of the wire once, in order."""

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeGuard, assert_never, get_args

from kimi_tui.base.content_parts import (
    AudioURLPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    UserInput,
    VideoURLPart,
)
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.message_batch import ConversationMessage
from kimi_tui.frontend.number_format import format_duration
from kimi_tui.frontend.text.agents import agents_text
from kimi_tui.frontend.text.attempts import attempt_result_text, attempts_text, progress_line
from kimi_tui.frontend.text.bisect import progress_text, result_text
from kimi_tui.frontend.text.change_review import planned_file_text, review_text
from kimi_tui.frontend.text.checks import check_result_text
from kimi_tui.frontend.text.context_usage import context_usage_text
from kimi_tui.frontend.text.review import comments_text
from kimi_tui.frontend.text.timeline import comparison_text, fork_text, patch_text, plan_text, revert_text
from kimi_tui.frontend.text.usage import usage_text
from kimi_tui.frontend.text.why import why_text
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.linear.messages import (
    call_summary,
    display_lines,
    output_text,
    part_text,
    result_summary,
    todo_summary,
    user_text,
)
from kimi_tui.linear.output import LineOutput
from kimi_tui.linear.sentence_buffer import SentenceBuffer
from kimi_tui.wire.agent_list import AgentList
from kimi_tui.wire.attempts import AttemptChanges, AttemptList
from kimi_tui.wire.bisect import BisectProgress, BisectResult
from kimi_tui.wire.checks import CheckResult
from kimi_tui.wire.codec import UnknownWireMessage, unwrap
from kimi_tui.wire.context_usage import WindowFilling
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwEnd,
    CheckpointCreated,
    CompactionBegin,
    CompactionEnd,
    CompactionEvent,
    HookResolved,
    Notification,
    PlanDisplay,
    Report,
    RequestClosed,
    Reverted,
    RevertPlan,
    ShellEvent,
    StatusUpdate,
    SteerInput,
    StepBegin,
    StepInterrupted,
    StepRetry,
    SubagentEvent,
    TodoUpdate,
    ToolOutput,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest
from kimi_tui.wire.review import ChangeReview, CommentList, PlannedFileContent
from kimi_tui.wire.timeline import Comparison, PatchWritten, SessionForked
from kimi_tui.wire.usage import UsageReport
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd
from kimi_tui.wire.why import LineReason

_MAX_RESULTS = 20
"""Number of tool results that /output can show."""


_Notice = (
    CompactionEvent
    | Report
    | ShellEvent
    | ToolOutput
    | Notification
    | PlanDisplay
    | HookResolved
    | Reverted
    | TodoUpdate
    | AgentList
    | WindowFilling
    | UsageReport
    | BtwEnd
)
PrintedMessage = ConversationMessage | _Notice
"""A message for the printer. Includes messages that the full-screen app shows in panes and dialogs."""
_PRINTED_TYPES = frozenset(get_args(PrintedMessage))


def is_printed(message: object) -> TypeGuard[PrintedMessage]:
    """Return whether `message` is for the printer."""
    return type(message) in _PRINTED_TYPES


@dataclass(slots=True)
class _Call:
    name: str
    arguments: list[str] = field(default_factory=list)
    is_announced: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether all arguments have arrived."""
        try:
            json.loads("".join(self.arguments) or "{}")
        except ValueError:
            return False
        return True

    @property
    def summary(self) -> str:
        return call_summary(self.name, "".join(self.arguments))


class EventPrinter:
    """Prints a conversation, or a sub-agent's part of it."""

    def __init__(
        self, output: LineOutput, *, clock: Callable[[], float], prefix: str = "", is_replay: bool = False
    ) -> None:
        """Print to `output`. Each line of a sub-agent starts with `prefix`. A replay includes prompts but not
        durations.
        """
        self._output = output
        self._clock = clock
        self._prefix = prefix
        self._is_replay = is_replay
        self._attempts = AttemptList()
        self._sentences: SentenceBuffer | None = None
        self._is_thinking = False
        self._calls: dict[str, _Call] = {}
        self._awaiting_approval: dict[str, _Call] = {}
        """Calls that await approval, by request id."""
        self._subagents: dict[str, EventPrinter] = {}
        self._shells: set[str] = set()
        self._started_at = clock()
        self._todo_text = ""
        self.results: deque[tuple[str, str]] = deque(maxlen=_MAX_RESULTS)
        """Summaries and outputs of the latest tool calls."""
        self.last_response = ""
        """The latest response in Markdown, as the model wrote it."""

    def print_event(self, message: PrintedMessage) -> None:
        """Print one event."""
        match message:
            case TextPart(text=text):
                self._print_text(text)
            case ThinkPart(think=think):
                if think and not self._is_thinking:
                    self._is_thinking = True
                    self._print_line(tr("Thinking."))
            case ImageURLPart() | AudioURLPart() | VideoURLPart():
                self._print_line(part_text(message))
            case ToolCall(id=call_id, function=function):
                self._end_response()
                self._calls[call_id] = _Call(function.name, [function.arguments or ""])
            case ToolCallPart(arguments_part=part, tool_call_id=call_id):
                if call := self._calls.get(call_id or next(reversed(self._calls), "")):
                    call.arguments.append(part or "")
            case ToolResult(tool_call_id=call_id, return_value=result):
                self._end_call(call_id, result)
            case SubagentEvent():
                self._print_subagent_event(message)
            case TurnBegin(user_input=user_input):
                self._begin_turn(user_input)
            case SteerInput(user_input=user_input):
                self._print_line(tr("You (steering): {text}", text=user_text(user_input)))
            case TurnEnd():
                self._end_turn(message)
            case StepBegin() | StepInterrupted():
                self._end_response()
            case StepRetry(next_attempt=attempt, max_attempts=attempts):
                self._end_response()
                self._calls.clear()
                self._print_line(
                    tr(
                        "The model request failed. Retrying, attempt {attempt} of {attempts}."
                        " Ignore the partial response above.",
                        attempt=attempt,
                        attempts=attempts,
                    )
                )
            case ApprovalRequest(id=request_id, tool_call_id=call_id):
                self._end_response()
                if call := self._calls.get(call_id):
                    self._awaiting_approval[request_id] = call
                    call.is_announced = True
                    self._print_line(tr("Tool awaiting approval: {call}", call=call.summary))
            case ApprovalResponse(request_id=request_id, response=response):
                call = self._awaiting_approval.pop(request_id, None)
                if call is not None and response != "reject":
                    self._print_line(tr("Tool running: {call}", call=call.summary))
            case QuestionRequest():
                self._announce_calls()
            case StatusUpdate() | CheckpointCreated() | RequestClosed():
                pass  # shown in the status bar, the timeline and by EngineClient
            case _:
                self._print_notice(message)

    def _print_notice(self, message: _Notice) -> None:
        match message:
            case CompactionBegin():
                self._print_line(tr("Compacting the conversation."))
            case CompactionEnd(tokens_before=int(before), tokens_after=int(after)):
                self._print_line(
                    tr(
                        "Conversation compacted from {before:,} to {after:,} tokens.",
                        before=before,
                        after=after,
                    )
                )
            case CompactionEnd():
                self._print_line(tr("Compaction didn't complete."))
            case Notification(title=title, body=body, severity=severity):
                self._print_notification(severity, translate_message(title), translate_message(body))
            case PlanDisplay(content=content):
                self._print_line(f"{tr('Plan:')}\n{sanitize(content).rstrip()}")
            case HookResolved(action=action, target=target, reason=reason):
                if action == "block":
                    blocked = sanitize_line(f"{target} {reason}")
                    self._print_line(tr("Blocked by a hook: {what}", what=blocked))
            case TodoUpdate(items=items):
                if items and (summary := todo_summary(items)) != self._todo_text:
                    self._todo_text = summary
                    self._print_line(summary)
            case RevertPlan():
                self._print_section(plan_text(message))
            case Comparison():
                self._print_section(comparison_text(message))
            case PatchWritten():
                self._print_section(patch_text(message))
            case BisectProgress():
                self._print_line(progress_text(message))
            case BisectResult():
                self._print_section(result_text(message))
            case CheckResult():
                if (text := check_result_text(message))[0]:
                    self._print_section(text)
            case LineReason():
                self._print_section(why_text(message))
            case AttemptList():
                earlier, self._attempts = self._attempts, message
                if message.is_requested:
                    self._print_section(attempts_text(message))
                elif line := progress_line(earlier, message):
                    self._print_section((line, ""))
            case AttemptChanges():
                self._print_section(attempt_result_text(message))
            case CommentList():
                self._print_section(comments_text(message))
            case ChangeReview():
                self._print_section(review_text(message))
            case PlannedFileContent():
                self._print_section(planned_file_text(message))
            case SessionForked():
                self._print_section(fork_text(message))
            case AgentList():
                self._print_section(agents_text(message))
            case WindowFilling():
                self._print_section(context_usage_text(message))
            case UsageReport():
                self._print_section(usage_text(message))
            case Reverted():
                self._end_response()
                self._print_section(revert_text(message))
            case BtwEnd(response=response, error=error):
                self._print_line(
                    tr("Answer to your side question: {text}", text=sanitize(response or error or ""))
                )
            case ShellCommandBegin(id=shell_id, command=command):
                self._shells.add(shell_id)
                self._print_line(tr("Running your command: {command}", command=sanitize_line(command)))
            case ToolOutput(tool_call_id=call_id, text=text):
                if call_id in self._shells:  # other output is part of a result
                    self._output.write(sanitize(text))
            case ShellCommandEnd(id=shell_id, status=status, stopped=stopped):
                self._shells.discard(shell_id)
                outcome = tr("stopped") if stopped else tr("exit code {status}", status=status)
                self._print_line(tr("Your command finished: {how}.", how=outcome))
            case _:
                assert_never(message)

    @property
    def has_silent_calls(self) -> bool:
        """Whether a call may be running that hasn't been printed yet."""
        return not self._awaiting_approval and any(not call.is_announced for call in self._calls.values())

    def announce_complete_calls(self) -> None:
        """Print the calls whose arguments are complete, unless the user is answering a request."""
        if self._awaiting_approval:
            return
        for call in self._calls.values():
            if not call.is_announced and call.is_complete:
                call.is_announced = True
                self._print_line(tr("Tool running: {call}", call=call.summary))

    def _announce_calls(self) -> None:
        """Print the calls of the model's message, which is now complete."""
        self._end_response()
        for call in self._calls.values():
            if not call.is_announced:
                call.is_announced = True
                self._print_line(tr("Tool running: {call}", call=call.summary))

    # responses

    def _print_text(self, text: str) -> None:
        if self._prefix:
            return  # a sub-agent's last response is the result of its call
        if self._sentences is None:
            if not text.strip():
                return
            self._end_response()
            self._sentences = SentenceBuffer()
            self.last_response = ""
            self._output.end_line()
            self._output.write(tr("Response: "))
            text = text.lstrip()
        self.last_response += text
        self._output.write(self._sentences.feed(text))

    def _end_response(self) -> None:
        self._is_thinking = False
        if self._sentences is not None:
            self._output.write(self._sentences.flush())
            self._output.end_line()
            self._sentences = None

    # tool calls

    def _end_call(self, call_id: str, result: ToolReturn) -> None:
        self._announce_calls()
        call = self._calls.pop(call_id, None)
        if call is None:
            return
        self._print_line(result_summary(call.summary, result))
        lines = [line for block in result.display for line in display_lines(block)]
        self.results.append((call.summary, output_text(result) or "\n".join(lines)))

    def _print_subagent_event(self, message: SubagentEvent) -> None:
        self._announce_calls()
        key = message.parent_tool_call_id or message.agent_id or ""
        if key not in self._subagents:
            name = sanitize_line(message.subagent_type or "")
            prefix = f"{self._prefix}{tr('Sub-agent {name}: ', name=name)}"
            self._subagents[key] = EventPrinter(self._output, clock=self._clock, prefix=prefix)
        try:
            inner = unwrap(message.event)
        except UnknownWireMessage:
            return
        if is_printed(inner) and not isinstance(inner, TurnBegin | TurnEnd | ThinkPart):
            self._subagents[key].print_event(inner)

    # turns

    def _begin_turn(self, user_input: UserInput) -> None:
        if self._is_replay:
            self._output.write_line(tr("You: {text}", text=user_text(user_input)))
        self._calls.clear()
        self._subagents.clear()
        self._started_at = self._clock()

    def _end_turn(self, end: TurnEnd) -> None:
        self._announce_calls()
        for call in self._calls.values():
            self._print_line(tr("Tool stopped: {call}", call=call.summary))
        self._calls.clear()
        duration = (
            ""
            if self._is_replay
            else tr("Took {time}.", time=format_duration(self._clock() - self._started_at))
        )
        self._print_line(f"{_turn_end_text(end)} {duration}".rstrip())

    # output

    def _print_notification(self, severity: str, title: str, body: str) -> None:
        prefixes = {"warning": tr("Warning: "), "error": tr("Error: ")}
        body = sanitize(body).rstrip()
        text = ("\n" if "\n" in body else " ").join(filter(None, (sanitize_line(title), body)))
        self._print_line(f"{prefixes.get(severity, '')}{text}")

    def _print_section(self, section: tuple[str, str]) -> None:
        head, body = section
        self._print_line(f"{sanitize_line(head)}\n{sanitize(body)}".rstrip())

    def _print_line(self, text: str) -> None:
        if self._sentences is not None:
            self._end_response()
        self._output.write_line(f"{self._prefix}{text}")


def _turn_end_text(end: TurnEnd) -> str:
    if end.failure is not None:
        return tr(
            "Stopped: {why}",
            why=sanitize_line(f"{translate_message(end.failure.what)} {translate_message(end.failure.hint)}"),
        )
    match end.outcome:
        case "finished":
            return tr("Done.")
        case "cancelled":
            return tr("Interrupted.")
        case "rejected":
            return tr("You rejected the request. The turn ended.")
        case "max_steps" | "limit":
            return tr("The turn stopped after {count} steps. Send “continue” to resume.", count=end.steps)
        case "failed":
            return tr("The turn failed. Send “continue” to retry.")
        case _:
            assert_never(end.outcome)
