"""Text of a fleet's progress."""

from collections.abc import Sequence
from typing import assert_never

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.fleet.progress import FleetProgress, RunningAttempt
from kimi_tui.frontend.fleet.task_list import ListedTask, TaskState
from kimi_tui.frontend.number_format import format_cost, format_duration, format_tokens
from kimi_tui.i18n.translate import tr, tr_lazy, tr_n, translate_message

FAILURE_NAMES = {
    "check failed": tr_lazy("check failed"),
    "check timed out": tr_lazy("check timed out"),
    "limit reached": tr_lazy("limit reached"),
    "call denied": tr_lazy("call denied"),
    "agent failed": tr_lazy("agent failed"),
    "temporary failure": tr_lazy("temporary failure"),
    "process died": tr_lazy("process died"),
    "time exceeded": tr_lazy("time exceeded"),
    "source missing": tr_lazy("source missing"),
    "disk full": tr_lazy("disk full"),
    "internal error": tr_lazy("internal error"),
}


def failure_name(failure: str) -> str:
    """Return the name of a failure class in the user's language."""
    return tr(FAILURE_NAMES[failure]) if failure in FAILURE_NAMES else failure


def summary_lines(progress: FleetProgress) -> list[str]:
    """Return the counts, the cost and the estimate, one line each."""
    lines = [
        tr(
            "{done} of {total} done: {passed} passed, {failed} failed",
            done=progress.done_count,
            total=progress.total,
            passed=progress.passed,
            failed=progress.failed_count,
        ),
        tr("{running} running, {pending} pending", running=progress.running, pending=progress.pending),
        _cost_line(progress),
        _time_line(progress),
    ]
    if progress.failures:
        failures = ", ".join(f"{failure_name(name)} {count}" for name, count in progress.failures.items())
        lines.append(tr("Failures: {failures}", failures=failures))
    if progress.retried:
        lines.append(tr_n("{count} attempt was repeated", "{count} attempts were repeated", progress.retried))
    return lines


def task_sign(state: TaskState) -> str:
    """Return the sign of a task's state."""
    match state:
        case "pending":
            return "·"
        case "running":
            return "⟳"
        case "passed":
            return "✔"
        case "failed":
            return "✗"
        case _:
            assert_never(state)


def state_name(state: TaskState) -> str:
    """Return the name of a task's state in the user's language."""
    match state:
        case "pending":
            return tr("pending")
        case "running":
            return tr("running")
        case "passed":
            return tr("passed")
        case "failed":
            return tr("failed")
        case _:
            assert_never(state)


def failed_line(task: ListedTask) -> str:
    """Return one line about a failed task."""
    problem = sanitize_line(translate_message(task.problem))
    name = failure_name(task.failure)
    return f"{task.id}  {name}: {problem}" if problem else f"{task.id}  {name}"


def running_line(attempt: RunningAttempt) -> str:
    """Return one line about a running task."""
    return f"{attempt.task_id}  {format_duration(attempt.elapsed_s)}  {sanitize_line(attempt.prompt)}"


def fleet_text(progress: FleetProgress, tasks: Sequence[ListedTask]) -> str:
    """Return the progress with the running and the failed tasks."""
    lines = [*summary_lines(progress)]
    if progress.attempts:
        lines += [f"{tr('running')}:", *map(running_line, progress.attempts)]
    if failed := [task for task in tasks if task.state == "failed"]:
        lines += [f"{tr('failed')}:", *map(failed_line, failed)]
    return "\n".join(lines)


def _cost_line(progress: FleetProgress) -> str:
    tokens = format_tokens(progress.tokens)
    if progress.max_cost is None:
        return tr("Cost: {cost}, {tokens} tokens", cost=format_cost(progress.spent_usd), tokens=tokens)
    return tr(
        "Cost: {cost} of {limit}, {tokens} tokens",
        cost=format_cost(progress.spent_usd),
        limit=format_cost(progress.max_cost),
        tokens=tokens,
    )


def _time_line(progress: FleetProgress) -> str:
    elapsed = format_duration(progress.elapsed_s)
    if not progress.running and not progress.pending:
        return tr("Time: {elapsed}", elapsed=elapsed)
    if progress.remaining_s is None:
        return tr("Time: {elapsed}, remaining: unknown", elapsed=elapsed)
    return tr(
        "Time: {elapsed}, remaining: about {remaining}",
        elapsed=elapsed,
        remaining=format_duration(progress.remaining_s),
    )
