"""Page with a bar and a table of the context window's contents."""

from textual.content import Content

from kimi_tui.base.frozen import frozen
from kimi_tui.frontend.number_format import format_tokens
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.text.cell_width import cell_len, fit_cells, pad_left
from kimi_tui.frontend.text.context_usage import kind_label
from kimi_tui.i18n.translate import tr
from kimi_tui.wire.context_usage import ContextUsageKind, WindowFilling

_SEGMENTS: dict[ContextUsageKind, tuple[str, str]] = {
    "system prompt": ("█", "$secondary"),
    "tools": ("▓", "$secondary"),
    "lent tools": ("▒", "$secondary"),
    "prompts": ("█", "$primary"),
    "notes": ("▒", "$primary"),
    "answers": ("█", "$success"),
    "thinking": ("▒", "$success"),
    "tool calls": ("▒", "$warning"),
    "tool results": ("█", "$warning"),
    "media": ("█", "$accent"),
}
_FREE = ("░", "$foreground 30%")
_TWO_COLUMNS_CELLS = 70
"""Minimum width for two columns."""
_GAP = "  "


@frozen
class _Entry:
    """A kind of content in the bar and in the table."""

    sign: str
    style: str
    label: str
    tokens: int


def render_context_page(state: SessionViewState, width: int) -> list[Content]:
    """Return the headline, the bar and the table, at most `width` cells wide."""
    usage = state.replies.window_filling
    if usage is None:
        if state.read_only:
            return [Content.styled(tr("Not known in a read-only session."), "$text-muted")]
        return [Content.styled(tr("Counting …"), "$text-muted")]
    total = usage.max_tokens or usage.tokens or 1
    entries = [
        _Entry(*_SEGMENTS[part.kind], kind_label(part.kind, part.count), part.tokens) for part in usage.parts
    ]
    if usage.max_tokens is not None:
        entries.append(_Entry(*_FREE, tr("free"), max(0, usage.max_tokens - usage.tokens)))
    return [*_headline(usage, width), _bar(entries, usage, total, width), *_table(entries, total, width)]


def _headline(usage: WindowFilling, width: int) -> list[Content]:
    used = format_tokens(usage.tokens)
    if usage.max_tokens is None:
        return [Content(tr("about {used} tokens", used=used))]
    most, share = format_tokens(usage.max_tokens), usage.tokens / max(1, usage.max_tokens)
    if usage.is_measured:
        text = tr("{used} of {most} tokens ({share:.0%})", used=used, most=most, share=share)
    else:
        text = tr("about {used} of {most} tokens, nothing sent yet", used=used, most=most)
    if usage.compacts_at is None:
        return [Content(text)]
    threshold = tr(
        "compacts at {tokens} ({share:.0%})",
        tokens=format_tokens(usage.compacts_at),
        share=usage.compacts_at / max(1, usage.max_tokens),
    )
    mark = Content.assemble(("│ ", "$error"), (threshold, "$text-muted"))
    free = width - cell_len(text) - mark.cell_length
    if free < len(_GAP):
        return [Content(text), mark]
    return [Content.assemble(text, " " * free, mark)]


def _bar(entries: list[_Entry], usage: WindowFilling, total: int, width: int) -> Content:
    cells: list[tuple[str, str]] = []
    tokens = 0
    for entry in entries:
        tokens += entry.tokens
        end = min(round(tokens * width / total), width)
        cells += [(entry.sign, entry.style)] * (end - len(cells))
    cells += [_FREE] * (width - len(cells))
    if usage.compacts_at is not None and usage.max_tokens is not None:
        cells[min(round(usage.compacts_at * width / total), width - 1)] = ("│", "$error")
    return Content.assemble(*cells)


def _table(entries: list[_Entry], total: int, width: int) -> list[Content]:
    if width < _TWO_COLUMNS_CELLS:
        return [_row(entry, total, width) for entry in entries]
    half = (len(entries) + 1) // 2
    column_width = (width - len(_GAP)) // 2
    rows = [_row(entry, total, column_width) for entry in entries]
    return [
        Content(_GAP).join([rows[index], *rows[index + half : index + half + 1]]) for index in range(half)
    ]


def _row(entry: _Entry, total: int, width: int) -> Content:
    share = entry.tokens / total
    percent = "<1%" if 0 < share < 0.005 else f"{share:.0%}"
    numbers = f"{pad_left(format_tokens(entry.tokens), 6)}{pad_left(percent, 5)}"
    label_width = max(width - len(numbers) - 2, 4)
    return Content.assemble(
        (f"{entry.sign} ", entry.style), fit_cells(entry.label, label_width), (numbers, "$text-muted")
    )
