"""Tool calls as a client sees them: each has an id of its own, since models use theirs again."""

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

from kimi_tui.acp.content import CallContent, fenced, in_call, result_content, shown, text
from kimi_tui.base.call_arguments import Arguments
from kimi_tui.base.identity import new_id
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.terminal import plain, plain_line
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
_TAIL = 4_000
"""Characters of a running call's output that are shown."""
_LONGEST_TITLE = 200
_LOOKED_AT = 4_000
"""Characters of unfinished arguments that may still change a title."""
_LONGEST_INPUT = 100_000
"""Longer arguments are not told again as they are: their content shows them."""


@dataclass(slots=True, eq=False)
class _Call:
    id: str
    name: str
    arguments: Arguments
    title: str
    tail: str = ""
    is_running: bool = False
    is_stand_in: bool = False
    """Whether nothing is told of the call but what is asked about it, as of one in the background."""
    terminals: list[str] = field(default_factory=list)


class Calls:
    """The calls of one agent. `sender` is the sub-agent that makes them; empty for the main agent."""

    def __init__(self, *, work_dir: Path, sender: str = "") -> None:
        self._work_dir = work_dir
        self._sender = sender
        self._open: dict[str, _Call] = {}
        """Those without a result, by the model's id, which may be used again afterwards."""
        self._last: _Call | None = None

    def begin(self, call: ToolCall) -> Iterator[ToolCallStart]:
        """The model has begun to write a call."""
        arguments = Arguments(call.function.arguments)
        name = plain_line(call.function.name)
        shown_call = _Call(new_id(), name, arguments, self._titled(name, arguments))
        self._open[call.id] = self._last = shown_call
        yield self._start(shown_call)

    def feed(self, part: ToolCallPart) -> Iterator[ToolCallProgress]:
        """More of its arguments; told when it changes what the client sees."""
        call = self._open.get(part.tool_call_id) if part.tool_call_id is not None else self._last
        if call is None:
            return
        call.arguments.feed(part.arguments_part or "")
        is_complete = call.arguments.is_complete
        title = call.title
        if is_complete or call.arguments.length <= _LOOKED_AT:
            title = self._titled(call.name, call.arguments)
        if title != call.title or is_complete:
            call.title = title
            yield self._progress(call, title=title, **(self._details(call) if is_complete else {}))

    def show_output(self, output: ToolOutput) -> Iterator[ToolCallProgress]:
        """The end of what a running call has printed so far."""
        call = self._open.get(output.tool_call_id)
        if call is None or call.terminals:
            return
        call.is_running = True
        call.tail = (call.tail + output.text)[-_TAIL:]
        yield self._progress(call, status="in_progress", content=[in_call(text(fenced(call.tail)))])

    def attach_terminal(self, call_id: str, terminal_id: str) -> Iterator[ToolCallProgress]:
        """The call runs in a terminal of the client's, which shows what it prints."""
        call = self._open.get(call_id)
        if call is not None:
            call.terminals.append(terminal_id)
            call.is_running = True
            yield self._progress(call, status="in_progress", content=_terminals(call))

    def answer(self, call_id: str, *, consents: bool) -> Iterator[ToolCallProgress]:
        """What was asked about the call has its answer."""
        call = self._open.get(call_id)
        if call is None:
            return
        if call.is_stand_in:
            del self._open[call_id]
            yield self._progress(call, status="completed" if consents else "failed")
        elif consents and not call.is_running:
            call.is_running = True
            yield self._progress(call, status="in_progress")

    def end(self, result: ToolResult) -> Iterator[ToolCallProgress]:
        """The call has its result."""
        call = self._open.pop(result.tool_call_id, None)
        if call is not None:
            content = result_content(result.return_value, work_dir=self._work_dir)
            yield self._progress(
                call,
                status="failed" if result.return_value.is_error else "completed",
                content=_terminals(call) or content,
            )

    def drop_all(self, why: str) -> Iterator[ToolCallProgress]:
        """What the model wrote so far doesn't count: no call of it is run."""
        for call in self._open.values():
            yield self._progress(call, status="failed", content=[in_call(text(why))])
        self._open.clear()
        self._last = None

    def asked(self, request: ApprovalRequest) -> tuple[list[ToolCallStart], ToolCallUpdate]:
        """The call that consent is asked for, and what to tell before, when the client doesn't know it."""
        content = list(shown(request.display, work_dir=self._work_dir))
        if not any(item.type == "diff" for item in content):
            content.insert(0, in_call(text(plain_line(request.description))))
        return self._put(request.tool_call_id, request.sender, request.description, content)

    def questioned(self, call_id: str, question: str) -> tuple[list[ToolCallStart], ToolCallUpdate]:
        """As `asked`, for a question of the model's."""
        return self._put(call_id, "Question", "Question", [in_call(text(plain(question)))])

    def _put(
        self, call_id: str, name: str, title: str, content: list[CallContent]
    ) -> tuple[list[ToolCallStart], ToolCallUpdate]:
        started: list[ToolCallStart] = []
        call = self._open.get(call_id)
        if call is None:
            call = _Call(new_id(), plain_line(name), Arguments(), plain_line(title), is_stand_in=True)
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

    def id_of(self, call_id: str) -> str | None:
        """The client's id of an open call."""
        call = self._open.get(call_id)
        return call.id if call is not None else None

    def _start(self, call: _Call) -> ToolCallStart:
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=call.id,
            title=call.title,
            status="pending",
            **self._details(call),
        )

    def _progress(self, call: _Call, **changes: Any) -> ToolCallProgress:
        return ToolCallProgress(session_update="tool_call_update", tool_call_id=call.id, **changes)

    def _details(self, call: _Call) -> dict[str, Any]:
        """What the arguments say, as far as they are there."""
        values = call.arguments.values()
        details: dict[str, Any] = {"kind": _KINDS.get(call.name, "other")}
        if values and call.arguments.length <= _LONGEST_INPUT:
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
        written = Path(path)
        with suppress(RuntimeError):  # there is no such user
            written = written.expanduser()
        return str(self._work_dir / written)

    def _titled(self, name: str, arguments: Arguments) -> str:
        telling = arguments.telling()
        if len(telling) > _LONGEST_TITLE:
            telling = telling[: _LONGEST_TITLE - 1] + "…"
        said = f"{name}: {telling}" if telling else name
        return f"{self._sender}: {said}" if self._sender else said


def _terminals(call: _Call) -> list[CallContent]:
    return [TerminalToolCallContent(type="terminal", terminal_id=terminal) for terminal in call.terminals]
