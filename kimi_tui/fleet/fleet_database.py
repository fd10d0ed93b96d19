"""Database of a fleet: its tasks, attempts and results, in one SQLite file.

A task is `pending`, `running` or `done`. Several drivers can use the file: a driver claims a task before it
starts it, and a task that is done has exactly one result. The tasks of a driver that is gone become pending
again. The same file is the ledger of the fleet's cost.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kimi_tui.base.disk_errors import is_full
from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.process_groups import is_other_process_alive, process_mark
from kimi_tui.fleet.attempt import AttemptResult, FailureClass
from kimi_tui.fleet.fleet_task import FleetTask

_VERSION = 1
_BUSY_TIMEOUT_S = 60.0
_FULL_CODES = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, spec TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending', attempts INTEGER NOT NULL DEFAULT 0,
    driver TEXT, folder TEXT, process TEXT, node TEXT, claimed_at REAL
);
CREATE INDEX IF NOT EXISTS tasks_by_state ON tasks (state, number);
CREATE TABLE IF NOT EXISTS results (
    task TEXT PRIMARY KEY REFERENCES tasks (id), failure TEXT NOT NULL, problem TEXT NOT NULL,
    attempts INTEGER NOT NULL, result TEXT NOT NULL, check_outcome TEXT NOT NULL, patch TEXT NOT NULL,
    bundle BLOB NOT NULL, cost_usd REAL, tokens INTEGER NOT NULL, steps INTEGER NOT NULL, node TEXT NOT NULL,
    started_at REAL NOT NULL, duration_s REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS attempts (
    task TEXT NOT NULL, number INTEGER NOT NULL, failure TEXT NOT NULL, problem TEXT NOT NULL,
    result TEXT NOT NULL, node TEXT NOT NULL, started_at REAL NOT NULL, duration_s REAL NOT NULL,
    PRIMARY KEY (task, number)
);
"""


class DatabaseDiskFull(KimiTuiError):
    """The disk of the database has no space left."""


@frozen(kw_only=True)
class ClaimedTask:
    """A task that this driver runs."""

    task: FleetTask
    attempt: int


@frozen(kw_only=True)
class TaskRow:
    """A task as lists show it."""

    id: str
    prompt: str
    state: str
    attempts: int
    failure: FailureClass
    problem: str
    cost_usd: float | None
    tokens: int
    steps: int
    node: str
    started_at: float
    duration_s: float


@frozen(kw_only=True)
class TaskLocation:
    """Where a running task is."""

    folder: str
    process: str
    node: str
    driver: str


@frozen(kw_only=True)
class StoredResult:
    """Result of a task, with its patch and its session."""

    result: dict[str, Any]
    check: dict[str, Any]
    patch: str
    bundle: bytes


class FleetDatabase:
    """One database. Methods can be called from any thread and raise KimiTuiError."""

    def __init__(self, path: Path, *, creates: bool = False) -> None:
        """Open a database; create it if `creates`. Raises UsageError if it doesn't exist."""
        self.path = path
        self._driver = process_mark()
        self._lock = threading.RLock()
        if not creates and not path.is_file():
            raise UsageError(
                msg("No fleet found at {path}.", path=path),
                hint="Choose the task file or the database of a fleet that was started.",
            )
        with _mapping_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            self._database = sqlite3.connect(
                path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.executescript(_SCHEMA)
        self._check_version()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    # tasks

    def add_tasks(self, tasks: Sequence[FleetTask]) -> int:
        """Add tasks that aren't known yet; return how many. Raises UsageError if a known one differs."""
        with self._transaction() as database:
            known = dict(database.execute("SELECT id, spec FROM tasks").fetchall())
            new = []
            for task in tasks:
                spec = task.model_dump_json(exclude_defaults=True)
                if task.id not in known:
                    new.append((task.id, spec))
                elif known[task.id] != spec:
                    raise UsageError(
                        msg("Task {id} has changed since this fleet was started.", id=task.id),
                        hint="Use another database with --run FILE, or give the changed task another id.",
                    )
            database.executemany("INSERT INTO tasks (id, spec) VALUES (?, ?)", new)
        return len(new)

    def release_dead_drivers(self) -> list[str]:
        """Make the tasks of drivers that are gone pending again. Return the marks of their processes."""
        processes = []
        with self._transaction() as database:
            rows = database.execute(
                "SELECT DISTINCT driver FROM tasks WHERE state = 'running' AND driver != ?", (self._driver,)
            )
            for (driver,) in rows.fetchall():
                if is_other_process_alive(driver):
                    continue
                processes += [
                    process
                    for (process,) in database.execute(
                        "SELECT process FROM tasks WHERE driver = ? AND state = 'running'", (driver,)
                    )
                    if process
                ]
                database.execute(
                    "UPDATE tasks SET state = 'pending', driver = NULL, folder = NULL, process = NULL"
                    " WHERE driver = ? AND state = 'running'",
                    (driver,),
                )
        return processes

    def reset_failed(self, only: Collection[str] | None) -> int:
        """Make failed tasks pending again; their attempts are kept. Return how many."""
        with self._transaction() as database:
            failed = [
                task
                for (task,) in database.execute("SELECT task FROM results WHERE failure != ''").fetchall()
                if only is None or task in only
            ]
            for task in failed:
                database.execute("DELETE FROM results WHERE task = ?", (task,))
                database.execute("UPDATE tasks SET state = 'pending' WHERE id = ?", (task,))
        return len(failed)

    def claim(self, only: Collection[str] | None) -> ClaimedTask | None:
        """Claim the next pending task for this driver."""
        with self._transaction() as database:
            for task_id, spec, attempts in database.execute(
                "SELECT id, spec, attempts FROM tasks WHERE state = 'pending' ORDER BY number"
            ):
                if only is not None and task_id not in only:
                    continue
                database.execute(
                    "UPDATE tasks SET state = 'running', driver = ?, attempts = ?, claimed_at = ?,"
                    " folder = NULL, process = NULL, node = NULL WHERE id = ?",
                    (self._driver, attempts + 1, time.time(), task_id),
                )
                task = FleetTask.model_validate_json(spec)
                return ClaimedTask(task=task, attempt=attempts + 1)
        return None

    def release(self, task_id: str) -> None:
        """Give up a claim: the task is pending again."""
        with self._transaction() as database:
            database.execute(
                "UPDATE tasks SET state = 'pending', driver = NULL, folder = NULL, process = NULL"
                " WHERE id = ? AND driver = ? AND state = 'running'",
                (task_id, self._driver),
            )

    def set_running(self, task_id: str, *, folder: str, process: str, node: str) -> None:
        """Record where a claimed task runs."""
        with self._transaction() as database:
            database.execute(
                "UPDATE tasks SET folder = ?, process = ?, node = ? WHERE id = ? AND driver = ?",
                (folder, process, node, task_id, self._driver),
            )

    # results

    def record_attempt(self, result: AttemptResult) -> None:
        """Record an attempt that isn't the task's result, because the task runs again."""
        with self._transaction() as database:
            self._insert_attempt(database, result)

    def record_result(self, result: AttemptResult) -> bool:
        """Record the result of a task. Return False if the task has one, or belongs to another driver."""
        with self._transaction() as database:
            row = database.execute(
                "SELECT state, driver FROM tasks WHERE id = ?", (result.task_id,)
            ).fetchone()
            if row is None or row[0] == "done" or (row[0] == "running" and row[1] != self._driver):
                return False
            number = self._insert_attempt(database, result)
            line, usage = result.result, result.result.get("usage") or {}
            database.execute(
                "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    result.task_id,
                    result.failure,
                    result.problem,
                    number,
                    json.dumps(line),
                    json.dumps(asdict(result.check)),
                    result.patch.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
                    result.bundle,
                    line.get("cost_usd"),
                    sum(value for value in usage.values() if isinstance(value, int)),
                    line.get("steps", 0),
                    result.node,
                    result.started_at,
                    result.duration_s,
                ),
            )
            database.execute(
                "UPDATE tasks SET state = 'done', driver = NULL, folder = NULL, process = NULL WHERE id = ?",
                (result.task_id,),
            )
        return True

    def _insert_attempt(self, database: sqlite3.Connection, result: AttemptResult) -> int:
        (last,) = database.execute(
            "SELECT COALESCE(MAX(number), 0) FROM attempts WHERE task = ?", (result.task_id,)
        ).fetchone()
        database.execute(
            "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                result.task_id,
                last + 1,
                result.failure,
                result.problem,
                json.dumps(result.result),
                result.node,
                result.started_at,
                result.duration_s,
            ),
        )
        return int(last) + 1

    # queries

    def counts(self) -> dict[str, int]:
        """Return the number of tasks by state."""
        with self._reading() as database:
            counts = dict(database.execute("SELECT state, COUNT(*) FROM tasks GROUP BY state").fetchall())
        return {state: counts.get(state, 0) for state in ("pending", "running", "done")}

    def rows(self) -> list[TaskRow]:
        """Return all tasks, in the order of their file."""
        query = """
            SELECT t.id, json_extract(t.spec, '$.prompt'), t.state, t.attempts, COALESCE(r.failure, ''),
                COALESCE(r.problem, ''), r.cost_usd, COALESCE(r.tokens, 0), COALESCE(r.steps, 0),
                COALESCE(r.node, t.node, ''), COALESCE(r.started_at, t.claimed_at, 0),
                COALESCE(r.duration_s, 0)
            FROM tasks t LEFT JOIN results r ON r.task = t.id ORDER BY t.number
        """
        with self._reading() as database:
            rows = database.execute(query).fetchall()
        names = ("id", "prompt", "state", "attempts", "failure", "problem", "cost_usd", "tokens", "steps",
                 "node", "started_at", "duration_s")  # fmt: skip
        return [TaskRow(**dict(zip(names, row, strict=True))) for row in rows]

    def running(self, task_id: str) -> TaskLocation | None:
        """Return where a task runs, or None if it doesn't."""
        with self._reading() as database:
            row = database.execute(
                "SELECT folder, process, node, driver FROM tasks WHERE id = ? AND state = 'running'",
                (task_id,),
            ).fetchone()
        if row is None:
            return None
        return TaskLocation(folder=row[0] or "", process=row[1] or "", node=row[2] or "", driver=row[3] or "")

    def result(self, task_id: str) -> StoredResult | None:
        """Return the result of a task, if it has one."""
        with self._reading() as database:
            row = database.execute(
                "SELECT result, check_outcome, patch, bundle FROM results WHERE task = ?", (task_id,)
            ).fetchone()
        if row is None:
            return None
        return StoredResult(
            result=json.loads(row[0]), check=json.loads(row[1]), patch=row[2], bundle=bytes(row[3])
        )

    def spent_usd(self) -> float:
        """Return what the fleet has spent, with attempts that have no result."""
        with self._reading() as database, suppress(sqlite3.OperationalError):
            row = database.execute(
                "SELECT COALESCE(SUM(usd), 0) FROM spending WHERE budget = 'fleet run'"
            ).fetchone()
            return float(row[0])
        return 0.0

    def retried_attempts(self) -> int:
        """Return the number of attempts that were not the last of their task."""
        with self._reading() as database:
            (count,) = database.execute("SELECT COUNT(*) - COUNT(DISTINCT task) FROM attempts").fetchone()
        return int(count)

    def set_meta(self, key: str, value: Any) -> None:
        """Store a fact about the run."""
        with self._transaction() as database:
            database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))

    def meta(self, key: str) -> Any:
        """Return a stored fact, or None."""
        with self._reading() as database:
            row = database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def _check_version(self) -> None:
        version = self.meta("version")
        if version is None:
            self.set_meta("version", _VERSION)
        elif version > _VERSION:
            raise KimiTuiError(
                msg("{path} was written by a newer version.", path=self.path), hint="Update kimi-tui."
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _mapping_errors(self.path):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._database.execute("ROLLBACK")
                raise

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _mapping_errors(self.path):
            yield self._database


def _is_disk_full(error: OSError | sqlite3.Error) -> bool:
    if isinstance(error, OSError):
        return is_full(error)
    return getattr(error, "sqlite_errorcode", None) in _FULL_CODES


@contextmanager
def _mapping_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        kind = DatabaseDiskFull if _is_disk_full(error) else KimiTuiError
        raise kind(
            msg("Can't use the fleet's database {path}: {reason}.", path=path, reason=error),
            hint="Free some disk space or make the file writable. Run the same command again to continue.",
        ) from error
