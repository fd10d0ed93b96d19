"""Rows of the table of attempts."""

from collections.abc import Sequence

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.number_format import format_cost, format_duration
from kimi_tui.frontend.text.attempts import attempt_name, attempt_state, verdict_text
from kimi_tui.frontend.text.cell_width import cell_len, fit_cells, pad_left, pad_right
from kimi_tui.i18n.translate import tr
from kimi_tui.wire.attempts import Attempt

_MARK_CELLS = 6
_MAX_NAME_CELLS = 24
_STATE_CELLS = 14
_LINES_CELLS = 9
_TIME_CELLS = 10
_COST_CELLS = 7


def attempt_header(attempts: Sequence[Attempt], *, has_message: bool) -> str:
    """Return the titles of the columns. With `has_message`, the last column is the last message."""
    return " " + "  ".join(
        (
            pad_right("", _MARK_CELLS),
            pad_right(tr("model"), _name_cells(attempts)),
            pad_right(tr("result"), _STATE_CELLS),
            pad_left("+ −", _LINES_CELLS),
            pad_left(tr("time"), _TIME_CELLS),
            pad_left(tr("cost"), _COST_CELLS),
            *([tr("last message")] if has_message else []),
        )
    )


def attempt_row(
    attempt: Attempt, attempts: Sequence[Attempt], *, selected: str, now: float, has_message: bool
) -> str:
    """Return the row of one of `attempts`. `selected` is the mark for its selected files."""
    seconds = attempt.duration_s or (max(0.0, now - attempt.started) if attempt.started else 0.0)
    return "  ".join(
        (
            f"{selected}{attempt.number:>3}",
            fit_cells(attempt_name(attempt), _name_cells(attempts)),
            fit_cells(_result(attempt), _STATE_CELLS),
            pad_left(f"+{attempt.added} −{attempt.removed}" if attempt.files else "", _LINES_CELLS),
            pad_left(format_duration(seconds) if seconds else "", _TIME_CELLS),
            pad_left("" if attempt.cost_usd is None else format_cost(attempt.cost_usd), _COST_CELLS),
            *([sanitize_line(attempt.last_message)] if has_message else []),
        )
    )


def _result(attempt: Attempt) -> str:
    """Return the result of the check. If the attempt hasn't finished, return its state."""
    has_result = attempt.state == "finished" and not attempt.is_adopted and attempt.verdict is not None
    return verdict_text(attempt.verdict) if has_result else attempt_state(attempt)


def _name_cells(attempts: Sequence[Attempt]) -> int:
    return min(max((cell_len(attempt_name(each)) for each in attempts), default=10), _MAX_NAME_CELLS)
