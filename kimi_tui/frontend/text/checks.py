"""Text of the check that runs after steps that changed files."""

from typing import assert_never

from kimi_tui.base.terminal_text import sanitize_code_line, sanitize_line
from kimi_tui.frontend.number_format import format_duration
from kimi_tui.i18n.translate import tr
from kimi_tui.wire.checks import CheckResult, CheckState, StepCheck

_MAX_OUTPUT_LINES = 10


def check_sign(state: CheckState) -> str:
    """Return one character for the state of a check."""
    match state:
        case "pass":
            return "✔"
        case "fail":
            return "✗"
        case "skip":
            return "–"
        case "running":
            return "…"
        case _:
            assert_never(state)


def check_result_text(result: CheckResult) -> tuple[str, str]:
    """Return the headline and the end of the output. Both are empty if the result is the same as before."""
    command, step = sanitize_line(result.command), result.checkpoint
    match result.change:
        case "":
            return "", ""
        case "began_to_fail":
            headline = tr("✔ → ✗ “{command}” has failed since step {number}.", command=command, number=step)
        case "failed_before":
            headline = tr("✗ “{command}” already failed before the first step.", command=command)
        case "passes_again":
            headline = tr("✗ → ✔ “{command}” passes since step {number}.", command=command, number=step)
        case _:
            assert_never(result.change)
    lines = []
    if result.change != "failed_before":
        lines.append(tr("Step: {label}", label=sanitize_line(result.label)))
    if result.is_provisional:
        lines.append(tr("Provisional: files changed while the command ran."))
    if result.timed_out:
        lines.append(tr("The command was ended after {time}.", time=format_duration(result.duration_s)))
    if result.output and result.change != "failed_before":
        lines += [sanitize_code_line(line) for line in result.output.splitlines()[-_MAX_OUTPUT_LINES:]]
    return headline, "\n".join(lines)


def step_check_line(check: StepCheck) -> str:
    """Return one line about the check of a step."""
    command = sanitize_line(check.command)
    match check.state:
        case "pass":
            text = tr("“{command}” passes", command=command)
        case "fail" if check.is_first_failure:
            text = tr("“{command}” has failed since this step", command=command)
        case "fail":
            text = tr("“{command}” fails", command=command)
        case "skip":
            text = tr("“{command}” is inconclusive (exit code 125)", command=command)
        case "running":
            text = tr("“{command}” is running", command=command)
        case _:
            assert_never(check.state)
    if check.state == "running":
        return f"{check_sign(check.state)} {text}"
    time = format_duration(check.duration_s)
    note = f" · {tr('provisional: files changed while it ran')}" if check.is_provisional else ""
    return f"{check_sign(check.state)} {text} · {time}{note}"
