"""Table of tokens and cost by model."""

from collections.abc import Sequence

from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.frontend.number_format import format_cost, format_tokens
from kimi_tui.frontend.text.cell_width import cell_len, fit_cells, pad_left
from kimi_tui.i18n.translate import tr
from kimi_tui.wire.usage import UsageReport

_WIDE_CELLS = 66
"""Minimum width for the columns of the cache."""
_GAP = "  "


@frozen
class UsageTable:
    """Lines of the table, aligned."""

    header: str
    models: tuple[str, ...]
    total: str
    """Line with the sums of all models. Empty with one model."""


def usage_table(report: UsageReport, width: int) -> UsageTable:
    """Return a line for each model, at most `width` cells wide. Narrow tables omit the cache."""
    rows = [(it.model, it.usage, it.cost_usd) for it in report.models]
    if (earlier := _subtract(report.usage, [usage for _, usage, _ in rows])).total:
        counted = sum(cost or 0.0 for _, _, cost in rows)
        cost = None if report.cost_usd is None else max(0.0, report.cost_usd - counted)
        rows.append((tr("earlier, all models") if rows else tr("all models"), earlier, cost or None))
    is_wide = width >= _WIDE_CELLS
    header = [tr("model"), *_column_names(is_wide=is_wide)]
    cells = [[sanitize_line(name), *_columns(usage, cost, is_wide=is_wide)] for name, usage, cost in rows]
    total = [tr("total"), *_columns(report.usage, report.cost_usd, is_wide=is_wide)]
    table = [header, *cells, *([total] if len(cells) != 1 else [])]
    lines = _align(table, width)
    return UsageTable(lines[0], tuple(lines[1 : 1 + len(cells)]), lines[-1] if len(cells) != 1 else "")


def usage_text(report: UsageReport) -> tuple[str, str]:
    """Return the heading and the table as text."""
    table = usage_table(report, 100)
    return tr("Cost"), "\n".join(filter(None, (table.header, *table.models, table.total)))


def _column_names(*, is_wide: bool) -> list[str]:
    if is_wide:
        return [tr("input"), tr("cache reads"), tr("cache writes"), tr("output"), tr("cost")]
    return [tr("input"), tr("output"), tr("cost")]


def _columns(usage: TokenUsage, cost_usd: float | None, *, is_wide: bool) -> list[str]:
    cost = tr("no price") if cost_usd is None else format_cost(cost_usd)
    if not is_wide:
        return [format_tokens(usage.input), format_tokens(usage.output), cost]
    counts = (usage.input_other, usage.input_cache_read, usage.input_cache_creation, usage.output)
    return [*map(format_tokens, counts), cost]


def _subtract(total: TokenUsage, parts: Sequence[TokenUsage]) -> TokenUsage:
    counted = sum(parts, TokenUsage())
    return TokenUsage(
        max(0, total.input_other - counted.input_other),
        max(0, total.output - counted.output),
        max(0, total.input_cache_read - counted.input_cache_read),
        max(0, total.input_cache_creation - counted.input_cache_creation),
    )


def _align(table: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return the rows as lines: names at the left, shortened to fit, numbers at the right."""
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    numbers_width = sum(widths[1:]) + len(_GAP) * (len(widths) - 1)
    name_width = max(min(widths[0], width - numbers_width), 6)
    return [
        _GAP.join(
            (
                fit_cells(name, name_width),
                *(pad_left(cell, cells) for cell, cells in zip(rest, widths[1:], strict=True)),
            )
        )
        for name, *rest in table
    ]
