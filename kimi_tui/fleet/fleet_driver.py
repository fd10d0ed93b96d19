"""Driver of a fleet: claims tasks, hands them to a backend, and records the results."""

import contextlib
import logging
import os
import platform
import signal
import threading
from collections.abc import Collection, Mapping
from dataclasses import field, replace
from typing import Protocol

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.process_groups import is_other_process_alive
from kimi_tui.config.session_start import local_time
from kimi_tui.fleet.attempt import AttemptJob, AttemptResult, RunOptions
from kimi_tui.fleet.attempt_runner import is_retried
from kimi_tui.fleet.backends.backend import AttemptStarted, Backend
from kimi_tui.fleet.fleet_database import ClaimedTask, DatabaseDiskFull, FleetDatabase
from kimi_tui.fleet.fleet_task import FleetTask
from kimi_tui.fleet.task_source import SourceMissing, pack_source

logger = logging.getLogger(__name__)

_POLL_S = 0.5
_FULL_DISK_RETRY_S = 5.0


class FleetObserver(Protocol):
    """Observes a driver. Called in the driver's thread."""

    def report_start(self, count: int) -> None:
        """The driver starts; `count` tasks were taken over from drivers that are gone."""
        ...

    def report_attempt(self, result: AttemptResult, *, is_retried: bool) -> None:
        """An attempt ended."""
        ...

    def report_problem(self, text: str) -> None:
        """Something went wrong that the driver can work around."""
        ...


class GateSource(Protocol):
    """Knows the budgets of tasks."""

    def gate_of(self, task: FleetTask) -> str:
        """Return the budgets of a task, as the value of `GATE_VARIABLE`."""
        ...


@frozen(kw_only=True)
class DriverOptions:
    """Options of a driver."""

    run_options: RunOptions
    config_files: dict[str, bytes]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables for runs on other machines."""
    only: Collection[str] | None = None
    """Ids of the tasks to run. None: all."""
    retries: int = 2
    """Further attempts after a temporary failure or a dead process."""
    folder: str = ""
    keeps_folders: bool = False


@frozen(kw_only=True)
class DriverOutcome:
    """Why a driver stopped."""

    reason: str
    """`done`, `budget` or `interrupted`."""
    problem: str = ""


class FleetDriver:
    """Runs the pending tasks of a database on a backend until none is left."""

    def __init__(
        self,
        database: FleetDatabase,
        backend: Backend,
        options: DriverOptions,
        *,
        gates: GateSource,
        observer: FleetObserver,
    ) -> None:
        self._database = database
        self._backend = backend
        self._options = options
        self._gates = gates
        self._observer = observer
        self._active: dict[str, AttemptJob] = {}
        self._failures: dict[str, int] = {}
        """Retried failures by task, in this driver."""
        self._unrecorded: list[AttemptResult] = []
        """Results that couldn't be stored, because the disk is full."""
        self._disk_is_full = False
        self._stop = threading.Event()
        self._budget_problem = ""
        self._sources: dict[str, bytes | None] = {}

    def stop(self) -> None:
        """Stop soon: running attempts are given up and their tasks are pending again."""
        self._stop.set()

    def run(self) -> DriverOutcome:
        """Run until no task is pending or running, also in other drivers. Raises KimiTuiError."""
        self._observer.report_start(self._take_over())
        try:
            while not self._stop.is_set():
                if self._unrecorded:
                    self._record_again()
                    if not self._unrecorded:
                        continue
                elif not self._budget_problem:
                    self._fill_if_possible()
                is_waiting = bool(self._unrecorded) or self._disk_is_full
                if not self._active and not is_waiting and not self._waits_for_others():
                    break
                self._process_events(_POLL_S)
        finally:
            self._backend.close()
            self._give_up()
        if self._stop.is_set():
            return DriverOutcome(reason="interrupted")
        if self._budget_problem:
            return DriverOutcome(reason="budget", problem=self._budget_problem)
        return DriverOutcome(reason="done")

    def _take_over(self) -> int:
        """Release the tasks of dead drivers, and kill the processes that they left."""
        processes = self._database.release_dead_drivers()
        for mark in processes:
            if is_other_process_alive(mark):
                with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):
                    os.killpg(int(mark.partition(" ")[0]), signal.SIGKILL)
        return len(processes)

    def _waits_for_others(self) -> bool:
        """Return whether another driver runs tasks that may still come back."""
        if self._budget_problem:
            return False
        if not self._database.counts()["running"]:
            return False
        self._take_over()
        self._stop.wait(_POLL_S)
        return True

    def _fill_if_possible(self) -> None:
        """Start tasks. While the disk of the database is full, wait for space."""
        try:
            self._fill()
        except DatabaseDiskFull as error:
            if not self._disk_is_full:
                self._observer.report_problem(str(error))
            self._disk_is_full = True
            self._stop.wait(_FULL_DISK_RETRY_S)
        else:
            self._disk_is_full = False

    def _fill(self) -> None:
        while len(self._active) < self._backend.slots:
            claimed = self._database.claim(self._options.only)
            if claimed is None:
                return
            self._submit(claimed)

    def _submit(self, claimed: ClaimedTask) -> None:
        task = claimed.task
        job = AttemptJob(
            task=task,
            number=claimed.attempt,
            options=self._options.run_options,
            session_start=local_time(),
            gate=self._gates.gate_of(task),
            config_files=self._options.config_files,
            folder=self._options.folder,
            keeps_folder=self._options.keeps_folders,
        )
        self._active[task.id] = job
        try:
            if self._backend.is_remote:
                job = replace(job, source=self._pack(task), environment=dict(self._options.environment))
            self._backend.submit(job)
        except (SourceMissing, OSError) as error:
            self._finish(
                AttemptResult(
                    task_id=task.id, number=job.number, failure="source missing", problem=str(error)
                )
            )

    def _pack(self, task: FleetTask) -> bytes | None:
        key = task.source.model_dump_json() if task.source is not None else ""
        if key not in self._sources:
            self._sources[key] = pack_source(task)
        return self._sources[key]

    def _process_events(self, timeout_s: float) -> None:
        for event in self._backend.poll(timeout_s):
            if isinstance(event, AttemptStarted):
                with contextlib.suppress(KimiTuiError):  # only used to watch and to clean up
                    self._database.set_running(
                        event.task_id, folder=event.folder, process=event.process, node=platform.node()
                    )
            elif event.task_id in self._active:
                self._finish(event)

    def _finish(self, result: AttemptResult) -> None:
        if result.budget_spent:
            self._budget_problem = self._budget_problem or result.problem
            self._observer.report_attempt(result, is_retried=True)
            self._active.pop(result.task_id, None)
            self._store(result)
            return
        failures = self._failures.get(result.task_id, 0)
        retried = is_retried(result) and failures < self._options.retries
        self._observer.report_attempt(result, is_retried=retried)
        if retried:
            self._failures[result.task_id] = failures + 1
            with contextlib.suppress(KimiTuiError):
                self._database.record_attempt(result)
            job = replace(self._active[result.task_id], number=result.number + 1)
            self._active[result.task_id] = job
            self._backend.submit(job)
            return
        self._active.pop(result.task_id, None)
        self._store(result)

    def _store(self, result: AttemptResult) -> None:
        """Store a result, or keep it until the disk has space again."""
        try:
            if result.budget_spent:
                self._database.record_attempt(result)
                self._database.release(result.task_id)
            else:
                self._database.record_result(result)
        except KimiTuiError as error:
            self._unrecorded.append(result)
            self._observer.report_problem(str(error))

    def _record_again(self) -> None:
        """Try to store the results that couldn't be stored. No further tasks start before."""
        waiting, self._unrecorded = self._unrecorded, []
        for result in waiting:
            self._store(result)
        if self._unrecorded:
            self._stop.wait(_FULL_DISK_RETRY_S)

    def _give_up(self) -> None:
        for task_id in self._active:
            with contextlib.suppress(KimiTuiError):
                self._database.release(task_id)
