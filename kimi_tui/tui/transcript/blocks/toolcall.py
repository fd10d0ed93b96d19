"""Block for a tool call: status, arguments and result."""

import json
from typing import Literal

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.base.tool_arguments import PartialToolArguments, replace_command
from kimi_tui.frontend.tool_runs import SHELL_TOOLS
from kimi_tui.i18n.translate import tr, tr_lazy, tr_n
from kimi_tui.tui.markdown.styled_line import Span, Spans, StyledLine, span_width, text_style
from kimi_tui.tui.markdown.wrap import truncate
from kimi_tui.tui.transcript.blocks.block import Block, format_seconds, format_whole_seconds
from kimi_tui.tui.transcript.blocks.display import DisplayRenderer, build_renderers
from kimi_tui.tui.transcript.blocks.output_lines import all_lines, output_text, tail_lines
from kimi_tui.tui.transcript.render_cache import Piece
from kimi_tui.tui.transcript.stopwatch import Stopwatch
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
_BODY: Spans = (("  ", text_style()),)
_PREVIEW_LINES = 6
_SHELL_TOOLS = SHELL_TOOLS | {"$"}
"""Tools with output for the user, and the user's own shell."""
_LIVE_TAIL = 8_000
"""Maximum number of characters of a running tool's output to keep."""
_SHOW_ELAPSED_AFTER_S = 1.0
"""Seconds after which a running call shows its elapsed time."""


class ToolCallBlock(Block):
    """Tool call: a head row, and a diff, a list or the end of the output below the head. Unfolded, it shows
    everything.
    """

    is_stackable = True
    label = tr_lazy("tool call")

    def __init__(
        self,
        call_id: str,
        name: str,
        arguments: str | None,
        stopwatch: Stopwatch,
        *,
        margin: Spans = (),
    ) -> None:
        super().__init__(margin=margin)
        self.call_id = call_id
        self.name = sanitize_line(name)
        self.arguments = PartialToolArguments(arguments)
        self.status: Status = "writing"
        self.duration: float | None = None
        """Seconds that the call ran, without the time spent waiting for the user. None in history."""
        self.result: ToolReturn | None = None
        self.children: list[Block] = []
        """Blocks of the sub-agent that the call started."""
        self._renderers: tuple[DisplayRenderer, ...] = ()
        self._stopwatch = stopwatch
        self._has_question = False
        self._live_output = ""
        self._head = self.create_piece(self._head_lines, gap=1)
        self._body = self.create_piece(self._preview_lines, guess=0)
        self._own_pieces = [self._head, self._body]
        self.pieces = list(self._own_pieces)
        if self.arguments.is_complete:
            self.begin()

    # updates

    def feed_arguments(self, text: str) -> None:
        """Add a fragment of arguments."""
        self.arguments.feed(text)
        self._stopwatch.start()
        self._head.redraw()
        if self.arguments.is_complete:
            self.begin()

    def begin(self) -> None:
        """Mark the call as running."""
        if self.status in ("writing", "waiting"):
            self.status = "running"
            self._stopwatch.start()
            self._head.redraw()

    def replace_command(self, command: str) -> None:
        """Replace the displayed command, if the call runs a command."""
        self.arguments = PartialToolArguments(replace_command(self.arguments.text, command))
        self.refold()

    def wait(self, *, is_question: bool = False) -> None:
        """Stop the clock while the call waits for the user's approval or answer."""
        self._stopwatch.pause()
        self.status = "waiting"
        self._has_question = is_question
        self._head.redraw()

    def feed_output(self, text: str) -> None:
        """Add output."""
        self.begin()
        self._live_output = (self._live_output + text)[-_LIVE_TAIL:]
        if self.is_folded:
            self._body.redraw()
        else:
            self.refold()

    def finish(self, result: ToolReturn) -> None:
        """Show the result."""
        self.duration = self._stopwatch.duration
        self.result = result
        self.status = "cancelled" if result.was_not_run else "failed" if result.is_error else "done"
        self._live_output = ""
        self._renderers = build_renderers(result.display)
        self.refold()

    def cancel(self) -> None:
        """Mark an open call as canceled, because its turn ended without a result."""
        if self.is_open:
            self.status = "cancelled"
            self.refold()

    def tick(self) -> None:
        """Update the elapsed time."""
        self._head.redraw()

    # state

    @property
    def is_open(self) -> bool:
        """Whether the call hasn't ended yet."""
        return self.status in ("writing", "running", "waiting")

    @property
    def is_foldable(self) -> bool:
        """Whether there is more to show."""
        return bool(self.children or self.arguments.length or self.result)

    @property
    def title(self) -> str:
        """Tool name and a summary of the arguments."""
        return f"{self.name} {self.arguments.summary()}".strip()

    def source(self) -> str:
        """Return the command or arguments, and the output."""
        diffs = [text for item in self._renderers if (text := item.source())]
        return "\n\n".join(filter(None, (self._arguments_text(), *diffs, self._result_text())))

    def full_text(self) -> str:
        """Return name, arguments, result and the blocks of its sub-agent."""
        inner = [child.full_text() for child in self.children]
        return "\n\n".join(filter(None, (self.name, self.source(), *inner)))

    def search_text(self) -> str:
        """Return name, raw arguments, output and the text of its sub-agent."""
        output = self._live_output if self.result is None else self._result_text()
        return "\n".join((self.name, self.arguments.text, output, *(c.search_text() for c in self.children)))

    def refold(self) -> None:
        """Rebuild the pieces: a preview if folded, everything if unfolded."""
        self._head.gap = self.head_gap
        self._head.redraw()
        self._own_pieces = (
            [self._head, self._body] if self.is_folded else [self._head, *self._build_unfolded_pieces()]
        )
        self.collect_children()

    def collect_children(self) -> None:
        """Update the pieces after a change of the sub-agent's blocks."""
        self._body.redraw()
        self.pieces = list(self._own_pieces)
        if not self.is_folded:
            self.pieces += [piece for child in self.children for piece in child.pieces]

    # rendering

    def _build_unfolded_pieces(self) -> list[Piece]:
        draws = [pair for item in self._renderers for pair in item.all_pieces(_BODY)]
        if not any(item.shows_arguments for item in self._renderers):
            draws += all_lines(self._arguments_text(), margin=_BODY, style=text_style("tool-argument"))
        draws += all_lines(self._live_output or self._result_text(), margin=_BODY)
        return [self.create_piece(draw, guess=guess) for draw, guess in draws]

    def _head_lines(self, width: int) -> list[StyledLine]:
        role = _ROLES[self.status]
        spans: list[Span] = [
            (f"{_GLYPHS[self.status]} ", text_style(role)),
            (self.name, text_style("tool-name")),
        ]
        if summary := self.arguments.summary():
            spans.append((f" {summary}", text_style("tool-argument")))
        trailing = self._trailing_spans()
        room = max(8, width - span_width(trailing))
        return [StyledLine((*truncate(spans, room), *trailing))]

    def _trailing_spans(self) -> list[Span]:
        # At the end of the head row, and never truncated.
        spans: list[Span] = []
        hide_briefs = self._should_hide_briefs()
        for item in self._renderers:
            if not (item.is_brief and hide_briefs):
                spans += item.summary()
        if self.status == "writing" and self.arguments.length > 200:
            spans.append((f"  {self.arguments.length / 1000:.1f} kB", text_style("dim")))
        elif self.status == "waiting":
            waiting_for = tr("awaiting answer") if self._has_question else tr("awaiting approval")
            spans.append((f"  {waiting_for}", text_style("waiting")))
        elif self.status == "running" and self._stopwatch.elapsed >= _SHOW_ELAPSED_AFTER_S:
            spans.append((f"  {format_whole_seconds(self._stopwatch.elapsed)}", text_style("dim")))
        elif self.duration is not None and self.duration >= 0.05:
            spans.append((f"  {format_seconds(self.duration)}", text_style("dim")))
        return spans

    def _should_hide_briefs(self) -> bool:
        # With the counts of a diff, or an error message below, a brief summary would be redundant.
        counts = any(item.summary() for item in self._renderers if not item.is_brief)
        return counts or (
            self.status == "failed" and self.name not in _SHELL_TOOLS and self._result_text() != ""
        )

    def _preview_lines(self, width: int) -> list[StyledLine]:
        lines: list[StyledLine] = []
        for item in self._renderers:
            lines += item.preview(width, _BODY)
        lines += self._activity(width)
        text = self._preview_text()
        if text.strip():
            role = "failed" if self.status == "failed" and self.name not in _SHELL_TOOLS else "dim"
            lines += tail_lines(text, _PREVIEW_LINES, width, margin=_BODY, style=text_style(role))
        return lines

    def _preview_text(self) -> str:
        if self.result is None:
            return self._live_output
        if self.result.is_error or self.name in _SHELL_TOOLS:
            return self._result_text()
        return ""

    def _activity(self, width: int) -> list[StyledLine]:
        # A folded sub-agent shows its latest block.
        if not self.children:
            return []
        last = next((child for child in reversed(self.children) if child.title), self.children[-1])
        calls = sum(isinstance(child, ToolCallBlock) for child in self.children)
        spans = [
            ("└ ", text_style("guide")),
            (tr_n("{count:,} tool call", "{count:,} tool calls", calls) + "  ", text_style("dim")),
            (sanitize_line(last.title), text_style("dim")),
        ]
        return [StyledLine((*_BODY, *truncate(spans, max(4, width - 2))), "\n", 2)]

    def _arguments_text(self) -> str:
        values = self.arguments.values()
        if not values:
            return sanitize(self.arguments.text)
        if len(values) == 1 or self.name in _SHELL_TOOLS:
            first = values.get("command", next(iter(values.values())))
            return sanitize(
                first if isinstance(first, str) else json.dumps(first, ensure_ascii=False, indent=2)
            )
        return "\n".join(f"{sanitize_line(name)}: {_format_value(value)}" for name, value in values.items())

    def _result_text(self) -> str:
        if self.result is None:
            return ""
        output = output_text(self.result.output)
        message = self.result.message if self.result.is_error or not output else ""
        return "\n".join(filter(None, (message, output)))


def _format_value(value: object) -> str:
    if isinstance(value, str):
        return f"\n{sanitize(value)}" if "\n" in value else sanitize(value)
    return json.dumps(value, ensure_ascii=False)
