"""Ledger: spending and reservations, in an SQLite file that many processes use.

A call starts only if its estimated cost fits into the rest of the budget. If it doesn't fit because of
reservations of other calls, the call waits until these are settled. If nothing is reserved, one call may
start even if it could exceed the limit. So at most one call exceeds a budget if the estimates are upper
bounds, otherwise at most one call per process.

A reservation belongs to a process. If the process has ended, the reservation counts as spent, because the
server may have charged for the call.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.base.process_groups import is_other_process_alive, process_mark
from kimi_tui.llm.metering.budget import Budget
from kimi_tui.llm.metering.gate import CallRequest, GateDecision

BUSY_TIMEOUT_S = 60.0
_RETRY_S = 0.2
"""Seconds until a call that waits for other calls' reservations asks again."""
_FIRST_INTERVAL_S = 0.25
_MAX_INTERVAL_S = 30.0
_RECOVERY = 0.8
"""Factor by which each call shortens the interval between calls, after a rate limit has lengthened it."""
_MAX_PAUSE_S = 120.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS spending (budget TEXT PRIMARY KEY, usd REAL NOT NULL);
CREATE TABLE IF NOT EXISTS reservations (
    call TEXT NOT NULL, budget TEXT NOT NULL, usd REAL NOT NULL, process TEXT NOT NULL,
    PRIMARY KEY (call, budget)
);
CREATE TABLE IF NOT EXISTS rates (
    service TEXT PRIMARY KEY, interval_s REAL NOT NULL, next_start REAL NOT NULL
);
"""


class LedgerClock:
    """Time and date. All processes must share the time, as with the system's monotonic clock."""

    def now(self) -> float:
        """Return the time in seconds."""
        return time.monotonic()

    def today(self) -> date:
        """Return the local date."""
        return date.today()  # noqa: DTZ011 (the user's day)


class SpendingLedger:
    """One ledger. The methods block, can be called from any thread, and raise KimiTuiError."""

    def __init__(self, path: Path, *, clock: LedgerClock = LedgerClock()) -> None:
        self.path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def reserve(self, request: CallRequest, budgets: Sequence[Budget], *, paces: bool = True) -> GateDecision:
        """Reserve the estimated cost in all `budgets`, or in none. `paces`: apply the rate limit as well."""
        with self._transaction() as database:
            self._charge_dead_processes(database)
            for budget in budgets:
                if (decision := self._check(database, budget, request.estimate_usd)) is not None:
                    return decision
            mark = process_mark()
            database.executemany(
                "INSERT OR REPLACE INTO reservations VALUES (?, ?, ?, ?)",
                [(request.call_id, self._name(it), request.estimate_usd, mark) for it in budgets],
            )
            wait_s = self._take_start_time(database, request.service) if paces else 0.0
        return GateDecision(verdict="granted", wait_s=wait_s)

    def settle(self, call_id: str, usd: float | None) -> None:
        """Replace the reservations of a call with its cost. For None, the reserved amount counts."""
        with self._transaction() as database:
            _charge(database, "call = ?", call_id, usd)

    def slow_down(self, service: str, wait_s: float) -> None:
        """Double the interval between the calls to `service`, and pause these calls for `wait_s` seconds."""
        now = self._clock.now()
        with self._transaction() as database:
            interval, next_start = self._rate(database, service)
            interval = min(max(interval * 2, _FIRST_INTERVAL_S), _MAX_INTERVAL_S)
            pause = min(max(wait_s, interval), _MAX_PAUSE_S)
            database.execute(
                "INSERT OR REPLACE INTO rates VALUES (?, ?, ?)",
                (service, interval, max(next_start, now + pause)),
            )

    def spent_usd(self, budget: Budget) -> float:
        """Return the spending of a budget in US dollars, without reservations."""
        with self._transaction() as database:
            self._charge_dead_processes(database)
            return _sum(database, "spending", self._name(budget))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _check(self, database: sqlite3.Connection, budget: Budget, estimate: float) -> GateDecision | None:
        """Return the decision to refuse or delay the call; None if the budget allows it."""
        if budget.limit_usd is None:
            return None
        spent = _sum(database, "spending", self._name(budget))
        if spent >= budget.limit_usd:
            return GateDecision(
                verdict="refused", kind=budget.kind, spent_usd=spent, limit_usd=budget.limit_usd
            )
        reserved = _sum(database, "reservations", self._name(budget))
        if reserved and spent + reserved + estimate > budget.limit_usd:
            return GateDecision(verdict="wait", wait_s=_RETRY_S)
        return None

    def _name(self, budget: Budget) -> str:
        return (
            f"day {self._clock.today().isoformat()}"
            if budget.kind == "day"
            else f"{budget.kind} {budget.key}"
        )

    def _take_start_time(self, database: sqlite3.Connection, service: str) -> float:
        """Return the seconds to wait before this call, and schedule the next call one interval later."""
        now = self._clock.now()
        interval, next_start = self._rate(database, service)
        if not interval:
            return 0.0
        start = max(now, next_start)
        shorter = interval * _RECOVERY
        if shorter < _FIRST_INTERVAL_S / 4:
            database.execute("DELETE FROM rates WHERE service = ?", (service,))
        else:
            database.execute(
                "INSERT OR REPLACE INTO rates VALUES (?, ?, ?)", (service, shorter, start + interval)
            )
        return start - now

    def _rate(self, database: sqlite3.Connection, service: str) -> tuple[float, float]:
        """Return the interval and the next start time, in seconds. Times from before a reboot are ignored."""
        row = database.execute(
            "SELECT interval_s, next_start FROM rates WHERE service = ?", (service,)
        ).fetchone()
        if row is None or row[1] > self._clock.now() + 2 * _MAX_PAUSE_S:
            return 0.0, 0.0
        return float(row[0]), float(row[1])

    def _charge_dead_processes(self, database: sqlite3.Connection) -> None:
        own = process_mark()
        for (mark,) in database.execute("SELECT DISTINCT process FROM reservations").fetchall():
            if mark != own and not is_other_process_alive(mark):
                _charge(database, "process = ?", mark, None)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _mapping_errors(self.path):
            database = self._connection or self._open()
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    database.execute("ROLLBACK")
                raise

    def _open(self) -> sqlite3.Connection:
        self.path.touch(mode=0o600)
        database = sqlite3.connect(
            self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(_SCHEMA)
        self._connection = database
        return database


def _charge(database: sqlite3.Connection, where: str, value: str, usd: float | None) -> None:
    rows = database.execute(f"SELECT budget, usd FROM reservations WHERE {where}", (value,))
    for budget, reserved in rows.fetchall():
        database.execute(
            "INSERT INTO spending VALUES (?, ?) ON CONFLICT DO UPDATE SET usd = usd + excluded.usd",
            (budget, reserved if usd is None else usd),
        )
    database.execute(f"DELETE FROM reservations WHERE {where}", (value,))


def _sum(database: sqlite3.Connection, table: str, budget: str) -> float:
    query = f"SELECT COALESCE(SUM(usd), 0) FROM {table} WHERE budget = ?"
    return float(database.execute(query, (budget,)).fetchone()[0])


@contextmanager
def _mapping_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise KimiTuiError(
            msg("Can't use the cost ledger {path}: {reason}.", path=path, reason=error),
            hint="Free some disk space or make the directory writable, then try again.",
        ) from error
