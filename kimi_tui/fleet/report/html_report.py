"""Report as one HTML file, without scripts and external files."""

from collections.abc import Sequence
from html import escape

from kimi_tui.base.terminal_text import sanitize
from kimi_tui.fleet.fleet_database import TaskRow
from kimi_tui.fleet.report.markdown_report import figures
from kimi_tui.fleet.report.run_summary import RunComparison, RunSummary
from kimi_tui.fleet.report.svg_chart import draw_histogram, draw_shares
from kimi_tui.frontend.number_format import format_cost, format_duration, format_tokens

_STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --dim: #656d76; --line: #d0d7de; --back: #ffffff;
        --pass: #1a7f37; --fail: #cf222e; --bar: #0969da; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --dim: #8d96a0; --line: #30363d;
        --back: #0d1117; --pass: #3fb950; --fail: #f85149; --bar: #4493f8; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 60rem;
       margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number { text-align: right; white-space: nowrap; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1.5rem; }
figure { margin: 0; } figcaption { color: var(--dim); margin-bottom: .3rem; }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: var(--dim); }
.bar { fill: var(--bar); } .axis { stroke: var(--line); }
.pass { fill: var(--pass); } .fail { fill: var(--fail); } .fail1 { fill: var(--fail); opacity: .75; }
.fail2 { fill: var(--fail); opacity: .5; } .fail3 { fill: var(--fail); opacity: .3; }
.passed { color: var(--pass); } .failed { color: var(--fail); }
.prompt { max-width: 24rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
"""
_SHADES = ("fail", "fail1", "fail2", "fail3")


def render_html(summary: RunSummary, comparison: RunComparison | None) -> str:
    """Return the page."""
    title = f"Fleet {_text(summary.name)}"
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>',
        f"<body><h1>{title}</h1>",
        _table(("", ""), [(name, value) for name, value in figures(summary)]),
        f'<div class="charts">{"".join(_charts(summary))}</div>',
    ]
    if comparison is not None:
        parts.append(_comparison(comparison))
    parts += ["<h2>Tasks</h2>", _task_table(summary), "</body></html>"]
    return "\n".join(parts) + "\n"


def _charts(summary: RunSummary) -> list[str]:
    shares = [("passed", summary.passed, "pass")]
    shares += [
        (name, count, _SHADES[min(number, len(_SHADES) - 1)])
        for number, (name, count) in enumerate(summary.failures)
    ]
    rows = summary.rows
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    times = [row.duration_s for row in rows]
    tokens = [float(row.tokens) for row in rows]
    charts = [("Pass rate", draw_shares(shares, title="Pass rate"))]
    if costs:
        charts.append(("Cost per task", draw_histogram(costs, label=format_cost, title="Cost per task")))
    charts.append(("Time per task", draw_histogram(times, label=format_duration, title="Time per task")))
    charts.append(
        (
            "Tokens per task",
            draw_histogram(tokens, label=lambda value: format_tokens(round(value)), title="Tokens per task"),
        )
    )
    return [f"<figure><figcaption>{name}</figcaption>{chart}</figure>" for name, chart in charts]


def _comparison(comparison: RunComparison) -> str:
    before, after = comparison.before, comparison.after
    pairs = zip(figures(before)[:5], figures(after)[:5], strict=True)
    rows = [(name, earlier, later) for (name, earlier), (_, later) in pairs]
    rows.append((f"Fixed, of {comparison.common} common tasks", "", ", ".join(comparison.fixed) or "none"))
    rows.append(("Broken", "", ", ".join(comparison.broken) or "none"))
    return f"<h2>Compared with {_text(before.name)}</h2>" + _table(("", before.name, after.name), rows)


def _task_table(summary: RunSummary) -> str:
    head = "".join(
        f"<th>{name}</th>"
        for name in ("Task", "Verdict", "Prompt", "Attempts", "Steps", "Tokens", "Cost", "Time")
    )
    return f"<table><tr>{head}</tr>{''.join(map(_task_row, summary.rows))}</table>"


def _task_row(row: TaskRow) -> str:
    style, verdict = ("failed", row.failure) if row.failure else ("passed", "passed")
    cost = format_cost(row.cost_usd) if row.cost_usd is not None else ""
    numbers = (
        str(row.attempts),
        str(row.steps),
        format_tokens(row.tokens),
        cost,
        format_duration(row.duration_s),
    )
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    return (
        f'<tr><td>{_text(row.id)}</td><td class="{style}" title="{_text(row.problem)}">{_text(verdict)}</td>'
        f'<td class="prompt" title="{_text(row.prompt)}">{_text(row.prompt)}</td>{cells}</tr>'
    )


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    title = "".join(f"<th>{_text(name)}</th>" for name in head) if any(head) else ""
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{f'<tr>{title}</tr>' if title else ''}{body}</table>"


def _text(text: str) -> str:
    return escape(sanitize(text))
