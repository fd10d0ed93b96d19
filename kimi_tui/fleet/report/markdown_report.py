"""Report as Markdown."""

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.fleet.report.run_summary import RunComparison, RunSummary
from kimi_tui.frontend.number_format import format_cost, format_duration, format_tokens

_MAX_PROBLEM = 160


def render_markdown(summary: RunSummary, comparison: RunComparison | None) -> str:
    """Return the report. It ends with a table of the failed tasks."""
    lines = [f"# Fleet {_cell(summary.name)}", ""]
    lines += ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in figures(summary))]
    if comparison is not None:
        lines += ["", *_comparison_lines(comparison)]
    failed = [row for row in summary.rows if row.failure]
    if failed:
        lines += ["", "## Failures", "", "| Task | Failure | Problem | Attempts | Cost | Time |"]
        lines.append("|---|---|---|---|---|---|")
    for row in failed:
        problem = sanitize_line(row.problem)[:_MAX_PROBLEM]
        cells = (row.id, row.failure, problem, str(row.attempts))
        cost = format_cost(row.cost_usd) if row.cost_usd is not None else ""
        lines.append(f"| {' | '.join(map(_cell, cells))} | {cost} | {format_duration(row.duration_s)} |")
    return "\n".join(lines) + "\n"


def figures(summary: RunSummary) -> list[tuple[str, str]]:
    """Return the figures of a run with their names."""
    total = len(summary.rows)
    facts = [
        ("Passed", f"{summary.passed} of {total} ({summary.pass_rate:.1%})"),
        ("Cost", format_cost(summary.spent_usd)),
        ("Tokens", format_tokens(summary.tokens)),
        ("Time of all tasks", format_duration(summary.agent_s)),
        ("Median time", format_duration(summary.median_s)),
        ("Repeated attempts", str(summary.retried)),
    ]
    if summary.unfinished:
        facts.append(("Not done yet", str(summary.unfinished)))
    facts += [(f"Failure: {name}", str(count)) for name, count in summary.failures]
    return facts


def _comparison_lines(comparison: RunComparison) -> list[str]:
    before, after = comparison.before, comparison.after
    pairs = zip(figures(before)[:5], figures(after)[:5], strict=True)
    return [
        f"## Compared with {_cell(before.name)}",
        "",
        f"| | {_cell(before.name)} | {_cell(after.name)} |",
        "|---|---|---|",
        *(f"| {name} | {earlier} | {later} |" for (name, earlier), (_, later) in pairs),
        "",
        f"Tasks with a result in both runs: {comparison.common}.",
        f"Fixed: {_names(comparison.fixed)}.",
        f"Broken: {_names(comparison.broken)}.",
    ]


def _names(tasks: tuple[str, ...]) -> str:
    return ", ".join(map(_cell, tasks)) or "none"


def _cell(text: str) -> str:
    return sanitize_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
