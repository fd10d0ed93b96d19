"""Page with tokens and cost by model, and the cache misses."""

from textual.content import Content

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.text.cache_misses import cache_miss_lines
from kimi_tui.frontend.text.usage import usage_table
from kimi_tui.wire.usage import UsageReport


def render_cost_page(state: SessionViewState, width: int) -> list[Content]:
    """Return the table and the cache misses, at most `width` cells wide."""
    report = state.replies.usage_report or UsageReport((), state.usage, state.cost_usd)
    table = usage_table(report, width)
    lines = [Content.styled(table.header, "$text-muted"), *map(Content, table.models)]
    if table.total:
        lines.append(Content.styled(table.total, "bold"))
    lines += [Content.styled(line, "$text-muted") for line in cache_miss_lines(state.cache_misses)]
    return [line.truncate(width, ellipsis=True) for line in lines]
