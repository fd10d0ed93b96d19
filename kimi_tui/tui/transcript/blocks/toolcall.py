"""A tool call: how it stands, what it is about, and what came of it."""

import json
from typing import Literal

from kimi_tui.base.call_arguments import Arguments
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import later, say, say_many
from kimi_tui.tui.markdown.line import Line, Span, Spans, ink, span_width
from kimi_tui.tui.markdown.wrap import truncated
from kimi_tui.tui.transcript.blocks.block import Block, Clock, seconds, whole_seconds
from kimi_tui.tui.transcript.blocks.display import Shown, shown
from kimi_tui.tui.transcript.blocks.output import all_lines, output_text, tail_lines
from kimi_tui.tui.transcript.piece import Piece
from kimi_tui.wire.events import ToolReturn

Status = Literal["writing", "running", "waiting", "done", "failed", "cancelled"]

_GLYPHS = {"writing": "⋯", "running": "⟳", "waiting": "?", "done": "✔", "failed": "✗", "cancelled": "⊘"}
_ROLES = {
    "writing": "running",
    "running": "running",
    "waiting": "waiting",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
}
_BODY: Spans = (("  ", ink()),)
_PREVIEW_LINES = 6
_SHELLS = {"Bash", "Shell", "CMD", "PowerShell", "$"}
"""Tools, and the user's own shell, whose output is for the user as much as for the model."""
_LIVE_TAIL = 8_000
"""Characters of a running tool's output that are kept to be shown."""
_SHOWS_ELAPSED = 1.0
"""Seconds after which a running call says how long it has run."""


class ToolCallBlock(Block):
    """One call: a line, and below it a diff, a list, or the end of its output; all of it when unfolded."""

    stacks = True
    label = later("tool call")

    def __init__(
        self,
        call_id: str,
        name: str,
        arguments: str | None,
        clock: Clock | None = None,
        *,
        margin: Spans = (),
    ) -> None:
        super().__init__(margin=margin)
        self.call_id = call_id
        self.name = plain_line(name)
        self.arguments = Arguments(arguments)
        self.status: Status = "writing"
        self.duration: float | None = None
        """Seconds that it ran, waiting for an approval left out; None when nobody watched it."""
        self.result: ToolReturn | None = None
        self.children: list[Block] = []
        """What its sub-agent did."""
        self._display: tuple[Shown, ...] = ()
        self._clock = clock
        self._resumed = clock() if clock is not None else 0.0
        self._ran = 0.0
        self._live = ""
        self._head = self.piece(self._head_lines, gap=1)
        self._body = self.piece(self._folded_lines, guess=0)
        self._own = [self._head, self._body]
        self.pieces = list(self._own)
        if self.arguments.is_complete:
            self.begin()

    # what happens to it

    def feed_arguments(self, text: str) -> None:
        """More of its arguments has come."""
        self.arguments.feed(text)
        self._restart_clock()
        self._head.redraw()
        if self.arguments.is_complete:
            self.begin()

    def begin(self) -> None:
        """It runs."""
        if self.status in ("writing", "waiting"):
            self.status = "running"
            self._restart_clock()
            self._head.redraw()

    def wait(self) -> None:
        """It waits for the user's approval."""
        self._ran = self.elapsed
        self.status = "waiting"
        self._head.redraw()

    def feed_output(self, text: str) -> None:
        """More of its output has come."""
        self.begin()
        self._live = (self._live + text)[-_LIVE_TAIL:]
        if self.folded:
            self._body.redraw()
        else:
            self.refold()

    def finish(self, result: ToolReturn) -> None:
        """It ended."""
        if self._clock is not None:
            self.duration = self.elapsed
        self.result = result
        self.status = "failed" if result.is_error else "done"
        self._live = ""
        self._display = shown(result.display)
        self.refold()

    def cancel(self) -> None:
        """Its turn ended without a result."""
        if self.is_open:
            self.status = "cancelled"
            self.refold()

    def tick(self) -> None:
        """Time has passed."""
        self._head.redraw()

    # how it stands

    @property
    def is_open(self) -> bool:
        """Whether its end is still to come."""
        return self.status in ("writing", "running", "waiting")

    @property
    def elapsed(self) -> float:
        """Seconds that it has run so far."""
        if self._clock is None or self.status == "waiting":
            return self._ran
        return self._ran + self._clock() - self._resumed

    @property
    def foldable(self) -> bool:
        """Whether there is more to see."""
        return bool(self.children or self.arguments.length or self.result)

    @property
    def title(self) -> str:
        """Its name and what it is about."""
        return f"{self.name} {self.arguments.telling()}".strip()

    def source(self) -> str:
        """The command or arguments, and the output."""
        diffs = [text for item in self._display if (text := item.source())]
        return "\n\n".join(filter(None, (self._arguments_text(), *diffs, self._result_text())))

    def full_text(self) -> str:
        """Name, arguments, result and what its sub-agent did."""
        inner = [child.full_text() for child in self.children]
        return "\n\n".join(filter(None, (self.name, self.source(), *inner)))

    def searched(self) -> str:
        """Name, arguments as they came, output, and what its sub-agent did."""
        output = self._live if self.result is None else self._result_text()
        return "\n".join((self.name, self.arguments.text, output, *(c.searched() for c in self.children)))

    def refold(self) -> None:
        """Show its end only, or all."""
        self._head.gap = self.head_gap
        self._head.redraw()
        self._own = [self._head, self._body] if self.folded else [self._head, *self._unfolded()]
        self.gather()

    def gather(self) -> None:
        """Its sub-agent did something: show that."""
        self._body.redraw()
        self.pieces = list(self._own)
        if not self.folded:
            self.pieces += [piece for child in self.children for piece in child.pieces]

    # how it looks

    def _unfolded(self) -> list[Piece]:
        draws = [pair for item in self._display for pair in item.all_pieces(_BODY)]
        if not any(item.tells_arguments for item in self._display):
            draws += all_lines(self._arguments_text(), margin=_BODY, style=ink("tool-argument"))
        draws += all_lines(self._live or self._result_text(), margin=_BODY)
        return [self.piece(draw, guess=guess) for draw, guess in draws]

    def _head_lines(self, width: int) -> list[Line]:
        role = _ROLES[self.status]
        spans: list[Span] = [(f"{_GLYPHS[self.status]} ", ink(role)), (self.name, ink("tool-name"))]
        if telling := self.arguments.telling():
            spans.append((f" {telling}", ink("tool-argument")))
        after = self._after()
        room = max(8, width - span_width(after))
        return [Line((*truncated(spans, room), *after))]

    def _after(self) -> list[Span]:
        # What stands behind the call and is never cut off for it.
        spans: list[Span] = []
        repeated = self._repeats_briefs()
        for item in self._display:
            if not (item.is_brief and repeated):
                spans += item.summary()
        if self.status == "writing" and self.arguments.length > 200:
            spans.append((f"  {self.arguments.length / 1000:.1f} kB", ink("dim")))
        elif self.status == "waiting":
            spans.append((f"  {say('waits for you')}", ink("waiting")))
        elif self.status == "running" and self.elapsed >= _SHOWS_ELAPSED:
            spans.append((f"  {whole_seconds(self.elapsed)}", ink("dim")))
        elif self.duration is not None and self.duration >= 0.05:
            spans.append((f"  {seconds(self.duration)}", ink("dim")))
        return spans

    def _repeats_briefs(self) -> bool:
        # The counts of a diff, or an error spelled out below, say what a brief says.
        counts = any(item.summary() for item in self._display if not item.is_brief)
        return counts or (self.status == "failed" and self.name not in _SHELLS and self._result_text() != "")

    def _folded_lines(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for item in self._display:
            lines += item.preview(width, _BODY)
        lines += self._activity(width)
        text = self._preview_text()
        if text.strip():
            role = "failed" if self.status == "failed" and self.name not in _SHELLS else "dim"
            lines += tail_lines(text, _PREVIEW_LINES, width, margin=_BODY, style=ink(role))
        return lines

    def _preview_text(self) -> str:
        if self.result is None:
            return self._live
        if self.result.is_error or self.name in _SHELLS:
            return self._result_text()
        return ""

    def _activity(self, width: int) -> list[Line]:
        # A folded sub-agent shows the last thing it does.
        if not self.children:
            return []
        last = next((child for child in reversed(self.children) if child.title), self.children[-1])
        calls = sum(isinstance(child, ToolCallBlock) for child in self.children)
        spans = [
            ("└ ", ink("guide")),
            (say_many("{count:,} tool call", "{count:,} tool calls", calls) + "  ", ink("dim")),
            (plain_line(last.title), ink("dim")),
        ]
        return [Line((*_BODY, *truncated(spans, max(4, width - 2))), "\n", 2)]

    def _arguments_text(self) -> str:
        values = self.arguments.values()
        if not values:
            return plain(self.arguments.text)
        if len(values) == 1 or self.name in _SHELLS:
            first = values.get("command", next(iter(values.values())))
            return plain(first if isinstance(first, str) else json.dumps(first, ensure_ascii=False, indent=2))
        return "\n".join(f"{plain_line(name)}: {_readable(value)}" for name, value in values.items())

    def _result_text(self) -> str:
        if self.result is None:
            return ""
        output = output_text(self.result.output)
        message = self.result.message if self.result.is_error or not output else ""
        return "\n".join(filter(None, (message, output)))

    def _restart_clock(self) -> None:
        if self._clock is not None:
            self._resumed = self._clock()


def _readable(value: object) -> str:
    if isinstance(value, str):
        return f"\n{plain(value)}" if "\n" in value else plain(value)
    return json.dumps(value, ensure_ascii=False)
