"""Tasks of a fleet, read from its database while drivers write to it."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.frontend.fleet.progress import open_fleet

TaskState = Literal["pending", "running", "passed", "failed"]
_QUERY = """
    SELECT t.id, json_extract(t.spec, '$.prompt'), t.state, COALESCE(r.failure, ''), COALESCE(r.problem, ''),
        t.attempts, COALESCE(r.node, t.node, ''), t.claimed_at, r.duration_s, {cost},
        json_extract(t.spec, '$.check')
    FROM tasks t LEFT JOIN results r ON r.task = t.id {join} ORDER BY t.number
"""
_SPENDING = {
    "cost": "COALESCE(s.usd, r.cost_usd)",
    "join": "LEFT JOIN spending s ON s.budget = 'task ' || t.id",
}
_NO_SPENDING = {"cost": "r.cost_usd", "join": ""}


@frozen(kw_only=True)
class ListedTask:
    """A task of a fleet."""

    id: str
    prompt: str
    state: TaskState
    failure: str
    """Class of the failure. Empty if the task hasn't failed."""
    problem: str
    attempts: int
    """Number of attempts, including the running one."""
    node: str
    elapsed_s: float | None
    """Duration of the running or last attempt, in seconds. None before the first attempt."""
    cost_usd: float | None
    """Cost of all attempts so far, in dollars. None if unknown."""
    check: str
    """The check command. Empty if the task has no check."""


def read_tasks(path: Path) -> tuple[ListedTask, ...]:
    """Return the tasks of a fleet, in the order of the task file. Raises KimiTuiError."""
    now = time.time()
    with open_fleet(path) as database:
        parts = _SPENDING if _has_spending(database) else _NO_SPENDING
        rows = database.execute(_QUERY.format(**parts)).fetchall()
    return tuple(_task_of(row, now) for row in rows)


def _task_of(row: tuple[object, ...], now: float) -> ListedTask:
    task_id, prompt, state, failure, problem, attempts, node, claimed_at, duration_s, cost, check = row
    is_running = state == "running"
    elapsed = max(now - float(str(claimed_at)), 0.0) if is_running and claimed_at is not None else duration_s
    return ListedTask(
        id=str(task_id),
        prompt=str(prompt),
        state=_state_of(str(state), str(failure)),
        failure=str(failure),
        problem=str(problem),
        attempts=int(str(attempts)),
        node=str(node),
        elapsed_s=None if elapsed is None else float(str(elapsed)),
        cost_usd=None if cost is None else float(str(cost)),
        check=str(check or ""),
    )


def _state_of(state: str, failure: str) -> TaskState:
    match state:
        case "done":
            return "failed" if failure else "passed"
        case "running":
            return "running"
        case _:
            return "pending"


def _has_spending(database: sqlite3.Connection) -> bool:
    with closing(database.execute("SELECT 1 FROM sqlite_master WHERE name = 'spending'")) as rows:
        return rows.fetchone() is not None
