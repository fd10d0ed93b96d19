"""Backend on this machine: one thread for each running attempt, each with a process."""

import contextlib
import os
import queue
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kimi_tui.fleet.attempt import AttemptJob
from kimi_tui.fleet.attempt_runner import StartObserver, run_attempt
from kimi_tui.fleet.backends.backend import AttemptStarted, BackendEvent


class LocalBackend(StartObserver):
    """Implements `Backend` with processes of this machine."""

    name = "local"
    is_remote = False

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="attempt")
        self._events: queue.SimpleQueue[BackendEvent] = queue.SimpleQueue()
        self._processes: dict[str, int] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    def submit(self, job: AttemptJob) -> None:
        """Implement `Backend.submit`."""
        self._pool.submit(self._run, job)

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Implement `Backend.poll`."""
        events: list[BackendEvent] = []
        with contextlib.suppress(queue.Empty):
            events.append(self._events.get(timeout=timeout_s))
            while True:
                events.append(self._events.get_nowait())
        return events

    def close(self) -> None:
        """Implement `Backend.close`."""
        with self._lock:
            self._is_closed = True
            processes = list(self._processes.values())
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process, signal.SIGTERM)
        self._pool.shutdown(cancel_futures=True)

    def report_process(self, job: AttemptJob, folder: Path, mark: str) -> None:
        """Implement `StartObserver.report_process`."""
        process = int(mark.partition(" ")[0])
        with self._lock:
            self._processes[job.task.id] = process
            if self._is_closed:
                os.killpg(process, signal.SIGTERM)
        self._events.put(AttemptStarted(job.task.id, str(folder), mark))

    def _run(self, job: AttemptJob) -> None:
        try:
            self._events.put(run_attempt(job, self))
        finally:
            with self._lock:
                self._processes.pop(job.task.id, None)
