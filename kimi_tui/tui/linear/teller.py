"""The teller: says what the wire delivers, in order, each thing once."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from kimi_tui.base.content import AudioURLPart, ImageURLPart, TextPart, ThinkPart, VideoURLPart
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.figures import duration
from kimi_tui.tui.linear.speech import Speech
from kimi_tui.tui.linear.voice import Voice
from kimi_tui.tui.linear.words import (
    call_words,
    display_lines,
    output_of,
    part_words,
    result_words,
    said,
    todo_summary,
)
from kimi_tui.wire.agents import AgentList
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import UnknownWireMessage, unwrap
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwEnd,
    CompactionBegin,
    CompactionEnd,
    HookResolved,
    Notification,
    PlanDisplay,
    Reverted,
    RevertPlan,
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
from kimi_tui.wire.shell import ShellCommandBegin, ShellCommandEnd
from kimi_tui.wire.timeline import Comparison, PatchWritten, SessionForked
from kimi_tui.wire.window import WindowFilling
from kimi_tui.words.agents import told_agents
from kimi_tui.words.time_travel import told_comparison, told_fork, told_jump, told_patch, told_plan
from kimi_tui.words.window import told_filling

_KEPT = 20
"""Results that can be asked for."""


@dataclass(slots=True)
class _Call:
    name: str
    arguments: list[str] = field(default_factory=list)
    is_told: bool = False

    @property
    def words(self) -> str:
        return call_words(self.name, "".join(self.arguments))


class Teller:
    """Tells one conversation, or a sub-agent's part of it."""

    def __init__(
        self, voice: Voice, *, clock: Callable[[], float], lead: str = "", is_past: bool = False
    ) -> None:
        """`lead` stands before each line of a sub-agent's. What is past has taken no time that is known."""
        self._voice = voice
        self._clock = clock
        self._lead = lead
        self._is_past = is_past
        self._speech: Speech | None = None
        self._is_thinking = False
        self._calls: dict[str, _Call] = {}
        self._asked: dict[str, _Call] = {}
        """Calls that wait for the user, by what was asked."""
        self._subagents: dict[str, Teller] = {}
        self._shells: set[str] = set()
        self._began = clock()
        self._todo = ""
        self.results: deque[tuple[str, str]] = deque(maxlen=_KEPT)
        """What the latest tool calls gave back, each with the words for its call."""
        self.answer = ""
        """The latest answer, as the model wrote it."""

    def tell(self, message: Outgoing) -> None:
        """Say one message."""
        match message:
            case TextPart(text=text):
                self._say(text)
            case ThinkPart(think=think):
                if think and not self._is_thinking:
                    self._is_thinking = True
                    self._line(say("Thinking."))
            case ImageURLPart() | AudioURLPart() | VideoURLPart():
                self._line(part_words(message))
            case ToolCall(id=call_id, function=function):
                self._end_speech()
                self._calls[call_id] = _Call(function.name, [function.arguments or ""])
            case ToolCallPart(arguments_part=part, tool_call_id=call_id):
                if call := self._calls.get(call_id or next(reversed(self._calls), "")):
                    call.arguments.append(part or "")
            case ToolResult(tool_call_id=call_id, return_value=result):
                self._end_call(call_id, result)
            case SubagentEvent():
                self._of_subagent(message)
            case TurnBegin():
                self._begin_turn()
            case SteerInput(user_input=user_input):
                self._line(say("You, meanwhile: {text}", text=said(user_input)))
            case TurnEnd():
                self._end_turn(message)
            case StepBegin() | StepInterrupted():
                self._end_speech()
            case StepRetry(next_attempt=attempt, max_attempts=attempts):
                self._end_speech()
                self._calls.clear()
                self._line(
                    say(
                        "The model's server failed. Trying again, attempt {attempt} of {attempts}."
                        " What it said of this answer does not count.",
                        attempt=attempt,
                        attempts=attempts,
                    )
                )
            case ApprovalRequest(id=request_id, tool_call_id=call_id):
                self._end_speech()
                if call := self._calls.get(call_id):
                    self._asked[request_id] = call
                    call.is_told = True
                    self._line(say("Tool waits for you: {call}", call=call.words))
            case ApprovalResponse(request_id=request_id, response=response):
                call = self._asked.pop(request_id, None)
                if call is not None and response != "reject":
                    self._line(say("Tool running: {call}", call=call.words))
            case QuestionRequest():
                self._written()
            case _:
                self._tell_rest(message)

    def _tell_rest(self, message: Outgoing) -> None:
        match message:
            case CompactionBegin():
                self._line(say("The conversation is being compacted."))
            case CompactionEnd(tokens_before=int(before), tokens_after=int(after)):
                self._line(say("Compacted, from {before:,} to {after:,} tokens.", before=before, after=after))
            case CompactionEnd():
                self._line(say("The compaction ended without a result."))
            case Notification(title=title, body=body, severity=severity):
                self._notice(severity, retell(title), retell(body))
            case PlanDisplay(content=content):
                self._line(f"{say('The plan:')}\n{plain(content).rstrip()}")
            case HookResolved(action="block", target=target, reason=reason):
                about = plain_line(f"{target} {reason}")
                self._line(say("A hook objects: {what}", what=about))
            case TodoUpdate(items=items):
                if items and (words := todo_summary(items)) != self._todo:
                    self._todo = words
                    self._line(words)
            case RevertPlan():
                self._pair(told_plan(message))
            case Comparison():
                self._pair(told_comparison(message))
            case PatchWritten():
                self._pair(told_patch(message))
            case SessionForked():
                self._pair(told_fork(message))
            case AgentList():
                self._pair(told_agents(message))
            case WindowFilling():
                self._pair(told_filling(message))
            case Reverted():
                self._end_speech()
                self._pair(told_jump(message))
            case BtwEnd(response=response, error=error):
                self._line(say("Beside the conversation: {text}", text=plain(response or error or "")))
            case ShellCommandBegin(id=shell_id, command=command):
                self._shells.add(shell_id)
                self._line(say("Your command runs: {command}", command=plain_line(command)))
            case ToolOutput(tool_call_id=shell_id, text=text) if shell_id in self._shells:
                self._voice.flow(plain(text))
            case ShellCommandEnd(id=shell_id, status=status, stopped=stopped):
                self._shells.discard(shell_id)
                end = say("stopped") if stopped else say("exit code {status}", status=status)
                self._line(say("Your command has ended: {how}.", how=end))
            case _:
                pass

    def _written(self) -> None:
        """The model's message is complete: say what it calls."""
        self._end_speech()
        for call in self._calls.values():
            if not call.is_told:
                call.is_told = True
                self._line(say("Tool running: {call}", call=call.words))

    # what is said

    def _say(self, text: str) -> None:
        if self._lead:
            return  # a sub-agent's last words come back as its result
        if self._speech is None:
            if not text.strip():
                return
            self._end_speech()
            self._speech = Speech()
            self.answer = ""
            self._voice.end_line()
            self._voice.flow(say("Answer: "))
            text = text.lstrip()
        self.answer += text
        self._voice.flow(self._speech.feed(text))

    def _end_speech(self) -> None:
        self._is_thinking = False
        if self._speech is not None:
            self._voice.flow(self._speech.end())
            self._voice.end_line()
            self._speech = None

    # what is called

    def _end_call(self, call_id: str, result: ToolReturn) -> None:
        self._written()
        call = self._calls.pop(call_id, None)
        if call is None:
            return
        self._line(result_words(call.words, result))
        shown = [line for block in result.display for line in display_lines(block)]
        self.results.append((call.words, output_of(result) or "\n".join(shown)))

    def _of_subagent(self, message: SubagentEvent) -> None:
        self._written()
        key = message.parent_tool_call_id or message.agent_id or ""
        if key not in self._subagents:
            name = plain_line(message.subagent_type or "")
            lead = f"{self._lead}{say('Sub-agent {name}: ', name=name)}"
            self._subagents[key] = Teller(self._voice, clock=self._clock, lead=lead)
        try:
            inner = unwrap(message.event)
        except UnknownWireMessage:
            return
        if isinstance(inner, Outgoing) and not isinstance(inner, TurnBegin | TurnEnd | ThinkPart):
            self._subagents[key].tell(inner)

    # how a turn goes

    def _begin_turn(self) -> None:
        self._calls.clear()
        self._subagents.clear()
        self._began = self._clock()

    def _end_turn(self, end: TurnEnd) -> None:
        self._written()
        for call in self._calls.values():
            self._line(say("Tool stopped: {call}", call=call.words))
        self._calls.clear()
        took = "" if self._is_past else say("It took {time}.", time=duration(self._clock() - self._began))
        self._line(f"{_ending(end)} {took}".rstrip())

    # how it is said

    def _notice(self, severity: str, title: str, body: str) -> None:
        leads = {"warning": say("Warning: "), "error": say("Error: ")}
        told = plain(body).rstrip()
        words = ("\n" if "\n" in told else " ").join(filter(None, (plain_line(title), told)))
        self._line(f"{leads.get(severity, '')}{words}")

    def _pair(self, told: tuple[str, str]) -> None:
        head, body = told
        self._line(f"{plain_line(head)}\n{plain(body)}".rstrip())

    def _line(self, text: str) -> None:
        if self._speech is not None:
            self._end_speech()
        self._voice.line(f"{self._lead}{text}")


def _ending(end: TurnEnd) -> str:
    if end.failure is not None:
        return say("Stopped: {why}", why=plain_line(f"{retell(end.failure.what)} {retell(end.failure.hint)}"))
    match end.outcome:
        case "finished":
            return say("Done.")
        case "cancelled":
            return say("Interrupted.")
        case "rejected":
            return say("You said no, so the turn ended.")
        case "max_steps" | "limit":
            return say("The turn stopped after {count} steps. Say “continue” to go on.", count=end.steps)
        case "failed":
            return say("The turn failed. Say “continue” to try again.")
        case _:
            assert_never(end.outcome)
