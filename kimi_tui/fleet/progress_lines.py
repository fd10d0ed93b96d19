"""Reports a driver's work line by line."""

import sys
from typing import Protocol

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.fleet.attempt import AttemptResult
from kimi_tui.frontend.number_format import format_cost, format_duration
from kimi_tui.frontend.text.fleet_progress import failure_name
from kimi_tui.i18n.translate import tr, tr_n, translate_message

_MAX_PROBLEM = 200


class LineWriter(Protocol):
    """Prints lines."""

    def print_line(self, line: str) -> None:
        """Print a line that is safe for a terminal."""
        ...


class StderrWriter:
    """Prints lines to standard error."""

    def print_line(self, line: str) -> None:
        """Implement `LineWriter.print_line`."""
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


class ProgressLines:
    """Implements `FleetObserver`."""

    def __init__(self, writer: LineWriter) -> None:
        self._write = writer.print_line

    def report_start(self, count: int) -> None:
        """Implement `FleetObserver.report_start`."""
        if count:
            self._write(
                tr_n(
                    "Took over {count} task of a driver that has exited.",
                    "Took over {count} tasks of drivers that have exited.",
                    count,
                )
            )

    def report_attempt(self, result: AttemptResult, *, is_retried: bool) -> None:
        """Implement `FleetObserver.report_attempt`."""
        facts = [format_duration(result.duration_s)]
        if (cost := result.result.get("cost_usd")) is not None:
            facts.append(format_cost(cost))
        details = ", ".join(facts)
        if not result.failure:
            self._write(tr("✔ {task} passed ({details})", task=result.task_id, details=details))
            return
        problem = sanitize_line(translate_message(result.problem))[:_MAX_PROBLEM]
        name = failure_name(result.failure)
        if is_retried:
            line = tr(
                "↻ {task} runs again: {failure} ({details})",
                task=result.task_id,
                failure=name,
                details=details,
            )
        else:
            line = tr("✗ {task} {failure} ({details})", task=result.task_id, failure=name, details=details)
        self._write(f"{line}: {problem}" if problem else line)

    def report_problem(self, text: str) -> None:
        """Implement `FleetObserver.report_problem`."""
        self._write(sanitize_line(translate_message(text)))
