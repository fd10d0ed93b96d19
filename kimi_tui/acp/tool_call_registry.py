"""Registry of an agent's tool calls. Clients get new unique ids, because models reuse ids."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acp.schema import (
    TerminalToolCallContent,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    ToolKind,
)

from kimi_tui.acp.content_blocks import (
    ToolCallContent,
    as_tool_call_content,
    build_code_block,
    display_content,
    result_content,
    text_block,
)
from kimi_tui.base.ids import new_id
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.base.tool_arguments import PartialToolArguments
from kimi_tui.frontend.text.effect_lines import describe_effects
from kimi_tui.frontend.text.request_summary import reason_of
from kimi_tui.wire.display_blocks import BriefBlock, DisplayBlock
from kimi_tui.wire.events import ToolOutput, ToolResult
from kimi_tui.wire.requests import ApprovalRequest

_KINDS: dict[str, ToolKind] = {
    "ReadFile": "read",
    "ReadMediaFile": "read",
    "LS": "read",
    "Glob": "search",
    "Grep": "search",
    "WriteFile": "edit",
    "EditFile": "edit",
    "Bash": "execute",
    "FetchURL": "fetch",
    "SearchWeb": "fetch",
    "Think": "think",
    "SetTodoList": "think",
    "EnterPlanMode": "switch_mode",
    "ExitPlanMode": "switch_mode",
}
_MAX_TAIL_CHARS = 4_000
"""Maximum characters to send of a running call's output."""
_MAX_TITLE_CHARS = 200
_MAX_SCANNED_CHARS = 4_000
"""Maximum length of incomplete arguments for which the title is updated."""
_MIN_GROWTH_CHARS = 200
"""Minimum number of new characters before incomplete arguments are sent again."""
_MAX_INPUT_CHARS = 100_000
"""Maximum length of arguments to send as raw input. The call's content shows longer arguments."""


@dataclass(slots=True, eq=False)
class _TrackedCall:
    id: str
    name: str
    arguments: PartialToolArguments
    title: str
    sent_length: int = 0
    """Length of the arguments already sent to the client."""
    tail: str = ""
    is_running: bool = False
    is_placeholder: bool = False
    """Whether the call is known only from a request, for example of a background agent."""
    terminals: list[str] = field(default_factory=list)


class ToolCallRegistry:
    """Tool calls of one agent. `sender` is the sub-agent's name; empty for the main agent."""

    def __init__(self, *, work_dir: Path, sender: str = "") -> None:
        self._work_dir = work_dir
        self._sender = sender
        self._open: dict[str, _TrackedCall] = {}
        """Calls without a result, by the model's id. The model can reuse an id after the result."""
        self._last: _TrackedCall | None = None

    def begin(self, call: ToolCall) -> Iterator[ToolCallStart]:
        """Register a call that the model has started to write."""
        arguments = PartialToolArguments(call.function.arguments)
        name = sanitize_line(call.function.name)
        tracked = _TrackedCall(new_id(), name, arguments, self._build_title(name, arguments))
        self._open[call.id] = self._last = tracked
        yield self._start(tracked)

    def feed(self, part: ToolCallPart) -> Iterator[ToolCallProgress]:
        """Add a part of a call's arguments. Yield an update if the client's view changes."""
        call = self._open.get(part.tool_call_id) if part.tool_call_id is not None else self._last
        if call is None:
            return
        call.arguments.feed(part.arguments_part or "")
        is_complete = call.arguments.is_complete
        title = call.title
        if is_complete or call.arguments.length <= _MAX_SCANNED_CHARS:
            title = self._build_title(call.name, call.arguments)
        details: dict[str, Any] = {}
        if is_complete:
            details = self._details(call)
        elif self._has_grown(call):
            call.sent_length = call.arguments.length
            details = {"raw_input": call.arguments.partial_values()}
        if title != call.title or details:
            call.title = title
            yield self._progress(call, title=title, **details)

    def _has_grown(self, call: _TrackedCall) -> bool:
        """Return whether to send the arguments again. Longer arguments are sent less often."""
        growth = call.arguments.length - call.sent_length
        return growth >= max(_MIN_GROWTH_CHARS, call.sent_length // 4) and (
            call.arguments.length <= _MAX_INPUT_CHARS
        )

    def show_output(self, output: ToolOutput) -> Iterator[ToolCallProgress]:
        """Yield the last part of a running call's output."""
        call = self._open.get(output.tool_call_id)
        if call is None or call.terminals:
            return
        call.is_running = True
        call.tail = (call.tail + output.text)[-_MAX_TAIL_CHARS:]
        yield self._progress(
            call,
            status="in_progress",
            content=[as_tool_call_content(text_block(build_code_block(call.tail)))],
        )

    def attach_terminal(self, call_id: str, terminal_id: str) -> Iterator[ToolCallProgress]:
        """Show a terminal of the client in the call. The terminal displays the command's output."""
        call = self._open.get(call_id)
        if call is not None:
            call.terminals.append(terminal_id)
            call.is_running = True
            yield self._progress(call, status="in_progress", content=_terminals(call))

    def resolve_request(self, call_id: str, *, consents: bool) -> Iterator[ToolCallProgress]:
        """Yield the updates for an answered permission request or question about a call."""
        call = self._open.get(call_id)
        if call is None:
            return
        if call.is_placeholder:
            del self._open[call_id]
            yield self._progress(call, status="completed" if consents else "failed")
        elif consents and not call.is_running:
            call.is_running = True
            yield self._progress(call, status="in_progress")

    def end(self, result: ToolResult) -> Iterator[ToolCallProgress]:
        """Yield the result of a call and remove the call."""
        call = self._open.pop(result.tool_call_id, None)
        if call is not None:
            content = result_content(result.return_value, work_dir=self._work_dir)
            yield self._progress(
                call,
                status="failed" if result.return_value.is_error else "completed",
                content=_terminals(call) or content,
            )

    def drop_all(self, reason: str) -> Iterator[ToolCallProgress]:
        """Mark all open calls as failed. They aren't run, because the model's response is incomplete."""
        for call in self._open.values():
            yield self._progress(call, status="failed", content=[as_tool_call_content(text_block(reason))])
        self._open.clear()
        self._last = None

    def build_permission_update(self, request: ApprovalRequest) -> tuple[list[ToolCallStart], ToolCallUpdate]:
        """Return the updates to send before a permission request, and the request's call.

        The updates are empty if the client already knows the call.
        """
        content = list(display_content(_shown_blocks(request), work_dir=self._work_dir))
        if not any(item.type == "diff" for item in content):
            content.insert(0, as_tool_call_content(text_block(sanitize_line(request.description))))
        if reason := reason_of(request):
            content.append(as_tool_call_content(text_block(reason)))
        return self._ensure_started(request.tool_call_id, request.sender, request.description, content)

    def build_question_update(
        self, call_id: str, question: str
    ) -> tuple[list[ToolCallStart], ToolCallUpdate]:
        """Like `build_permission_update`, for a question of the model."""
        return self._ensure_started(
            call_id, "Question", "Question", [as_tool_call_content(text_block(sanitize(question)))]
        )

    def _ensure_started(
        self, call_id: str, name: str, title: str, content: list[ToolCallContent]
    ) -> tuple[list[ToolCallStart], ToolCallUpdate]:
        started: list[ToolCallStart] = []
        call = self._open.get(call_id)
        if call is None:
            call = _TrackedCall(
                new_id(),
                sanitize_line(name),
                PartialToolArguments(),
                sanitize_line(title),
                is_placeholder=True,
            )
            self._open[call_id] = call
            started.append(self._start(call))
        update = ToolCallUpdate(
            tool_call_id=call.id,
            title=call.title,
            status="pending",
            content=content,
            **self._details(call),
        )
        return started, update

    def client_call_id(self, call_id: str) -> str | None:
        """Return the client's id of an open call; None if the call isn't open."""
        call = self._open.get(call_id)
        return call.id if call is not None else None

    def _start(self, call: _TrackedCall) -> ToolCallStart:
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=call.id,
            title=call.title,
            status="pending",
            **self._details(call),
        )

    def _progress(self, call: _TrackedCall, **changes: Any) -> ToolCallProgress:
        return ToolCallProgress(session_update="tool_call_update", tool_call_id=call.id, **changes)

    def _details(self, call: _TrackedCall) -> dict[str, Any]:
        """Return kind, raw input and locations from the arguments received so far."""
        values = call.arguments.values()
        details: dict[str, Any] = {"kind": _KINDS.get(call.name, "other")}
        if values and call.arguments.length <= _MAX_INPUT_CHARS:
            details["raw_input"] = values
        if locations := list(self._locations(values)):
            details["locations"] = locations
        return details

    def _locations(self, values: dict[str, Any]) -> Iterable[ToolCallLocation]:
        path = values.get("path")
        if isinstance(path, str) and path and "\x00" not in path:
            line = values.get("line_offset")
            is_line = isinstance(line, int) and not isinstance(line, bool) and line > 0
            yield ToolCallLocation(path=self._absolute(path), line=line if is_line else None)

    def _absolute(self, path: str) -> str:
        file_path = Path(path)
        with suppress(RuntimeError):  # the user in `~user` doesn't exist
            file_path = file_path.expanduser()
        return str(self._work_dir / file_path)

    def _build_title(self, name: str, arguments: PartialToolArguments) -> str:
        summary = arguments.summary()
        if len(summary) > _MAX_TITLE_CHARS:
            summary = summary[: _MAX_TITLE_CHARS - 1] + "…"
        title = f"{name}: {summary}" if summary else name
        return f"{self._sender}: {title}" if self._sender else title


def _shown_blocks(request: ApprovalRequest) -> list[DisplayBlock]:
    """Return the request's display blocks. If the command has effects, list them all instead of a summary."""
    if request.effects is None:
        return list(request.display)
    text = "\n".join(line.text for line in describe_effects(request.effects))
    effects = BriefBlock(build_code_block(text))
    return [effects if isinstance(block, BriefBlock) else block for block in request.display]


def _terminals(call: _TrackedCall) -> list[ToolCallContent]:
    return [TerminalToolCallContent(type="terminal", terminal_id=terminal) for terminal in call.terminals]
