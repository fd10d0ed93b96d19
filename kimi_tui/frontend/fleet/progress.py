"""Progress of a fleet, read from its database while drivers write to it."""

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg

SUFFIX = ".fleet.db"
"""Suffix of a fleet's database, which is next to the task file."""
_RATE_WINDOW = 50
"""Number of recent results that the estimate of the remaining time is based on."""
_MAX_RUNNING = 100


@frozen(kw_only=True)
class RunningAttempt:
    """A task that runs now."""

    task_id: str
    prompt: str
    attempt: int
    node: str
    elapsed_s: float


@frozen(kw_only=True)
class FleetProgress:
    """Progress of a fleet: counts, cost and times."""

    name: str
    total: int
    pending: int
    running: int
    passed: int
    failures: Mapping[str, int]
    """Number of failed tasks by class, most frequent first."""
    spent_usd: float
    """Cost in dollars, including attempts without a result."""
    max_cost: float | None
    tokens: int
    retried: int
    """Number of repeated attempts."""
    elapsed_s: float
    """Seconds from the first start to the last result."""
    remaining_s: float | None
    """Estimated seconds. None with fewer than three results."""
    attempts: tuple[RunningAttempt, ...]

    @property
    def failed_count(self) -> int:
        """Number of failed tasks."""
        return sum(self.failures.values())

    @property
    def done_count(self) -> int:
        """Number of tasks with a result."""
        return self.passed + self.failed_count


def find_fleets(work_dir: Path) -> list[Path]:
    """Return the databases in a directory, most recently written first."""
    return sorted(work_dir.glob(f"*{SUFFIX}"), key=_written_at, reverse=True)


def database_of(run: Path) -> Path:
    """Return `run` if it is a database, or the database of the task file `run`."""
    return run if run.suffix == ".db" else run.with_name(run.stem + SUFFIX)


def read_progress(path: Path) -> FleetProgress:
    """Read the progress of a fleet. Raises KimiTuiError."""
    with open_fleet(path) as database:
        return _read(database, path.name.removesuffix(SUFFIX))


@contextmanager
def open_fleet(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the database of a fleet for reading. Database errors in the block are raised as KimiTuiError."""
    if not path.is_file():
        raise UsageError(
            msg("No fleet found at {path}.", path=path),
            hint="Choose the task file or the database of a fleet that was started.",
        )
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)
        ) as database:
            yield database
    except sqlite3.Error as error:
        raise KimiTuiError(
            msg("Can't read the fleet {path}: {reason}.", path=path, reason=error),
            hint="Choose a database that `kimi-tui fleet run` has written.",
        ) from error


def _read(database: sqlite3.Connection, name: str) -> FleetProgress:
    states = dict(database.execute("SELECT state, COUNT(*) FROM tasks GROUP BY state").fetchall())
    failures = Counter(
        dict(database.execute("SELECT failure, COUNT(*) FROM results GROUP BY failure").fetchall())
    )
    passed = failures.pop("", 0)
    tokens, first, last = database.execute(
        "SELECT COALESCE(SUM(tokens), 0), MIN(started_at), MAX(started_at + duration_s) FROM results"
    ).fetchone()
    (retried,) = database.execute("SELECT COUNT(*) - COUNT(DISTINCT task) FROM attempts").fetchone()
    unfinished = states.get("pending", 0) + states.get("running", 0)
    return FleetProgress(
        name=name,
        total=sum(states.values()),
        pending=states.get("pending", 0),
        running=states.get("running", 0),
        passed=passed,
        failures=dict(failures.most_common()),
        spent_usd=_read_spending(database),
        max_cost=_max_cost(database),
        tokens=tokens,
        retried=retried,
        elapsed_s=(last - first) if first is not None else 0.0,
        remaining_s=_remaining(database, unfinished),
        attempts=_running(database),
    )


def _read_spending(database: sqlite3.Connection) -> float:
    tables = database.execute("SELECT COUNT(*) FROM sqlite_master WHERE name = 'spending'").fetchone()
    if not tables[0]:
        return 0.0
    row = database.execute("SELECT COALESCE(SUM(usd), 0) FROM spending WHERE budget = 'fleet run'").fetchone()
    return float(row[0])


def _max_cost(database: sqlite3.Connection) -> float | None:
    row = database.execute("SELECT value FROM meta WHERE key = 'max_cost'").fetchone()
    return None if row is None or row[0] == "null" else float(row[0])


def _remaining(database: sqlite3.Connection, unfinished: int) -> float | None:
    """Return the estimated seconds until all tasks have a result, based on the rate of the last results."""
    ends = [
        end
        for (end,) in database.execute(
            "SELECT started_at + duration_s AS ended FROM results ORDER BY ended DESC LIMIT ?",
            (_RATE_WINDOW,),
        )
    ]
    if not unfinished:
        return 0.0
    if len(ends) < 3 or ends[0] <= ends[-1]:
        return None
    return float(unfinished * (ends[0] - ends[-1]) / (len(ends) - 1))


def _running(database: sqlite3.Connection) -> tuple[RunningAttempt, ...]:
    now = time.time()
    rows = database.execute(
        "SELECT id, json_extract(spec, '$.prompt'), attempts, COALESCE(node, ''), claimed_at FROM tasks"
        " WHERE state = 'running' ORDER BY claimed_at LIMIT ?",
        (_MAX_RUNNING,),
    )
    return tuple(
        RunningAttempt(
            task_id=task_id, prompt=prompt, attempt=attempt, node=node, elapsed_s=max(now - claimed_at, 0.0)
        )
        for task_id, prompt, attempt, node, claimed_at in rows
    )


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
