"""Backend on Ray: each attempt is a Ray task. The only module that imports Ray.

Ray runs a task again if its worker or node dies, so an attempt may run more than once, each time in a fresh
directory. Only the result that the driver receives counts.
"""

import logging
import os
import re
import socket
import time
from dataclasses import replace
from importlib import import_module
from typing import Any

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.fleet.attempt import AttemptJob, AttemptResult, FailureClass
from kimi_tui.fleet.attempt_runner import run_attempt
from kimi_tui.fleet.backends.backend import Backend, BackendEvent

logger = logging.getLogger(__name__)

_NODE_FAILURES = 20
"""How often Ray runs an attempt again after its worker or node died."""
_RESOURCES_EVERY_S = 5.0
_QUEUED_SHARE = 0.25
"""Attempts that wait in Ray, so that a free CPU never waits for the driver; as a share of the CPUs."""

_ERROR_LINE = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Exit|Failure|Interrupt|Missing)\b")


def connect_ray(target: str, *, workers: int | None, cpus_per_task: float) -> Backend:
    """Connect to a cluster, or start one on this machine if `target` is `ray` and none runs.

    Raises UsageError, KimiTuiError.
    """
    try:
        ray = import_module("ray")
    except ImportError as error:
        raise UsageError(
            "Ray isn't installed.", hint="Install it with `pip install 'kimi-tui[ray]'`, or use --on local."
        ) from error
    address = {} if target == "ray" else {"address": target}
    try:
        if not ray.is_initialized():
            os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
            if address:
                node_address(target)  # fails sooner than Ray's client, and with the reason
            ray.init(**address, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:
        raise KimiTuiError(
            msg(
                "Can't connect to Ray at {target}: {reason}.",
                target=target,
                reason=_reason(error),
            ),
            hint="Check that the cluster runs, and the address.",
        ) from error
    return RayBackend(ray, workers=workers, cpus_per_task=cpus_per_task)


def node_address(target: str) -> str:
    """Return the address of this machine as the nodes of the cluster see it."""
    if target.startswith("ray://"):
        host, _, port = target.removeprefix("ray://").partition(":")
        with socket.create_connection((host, int(port or 10001)), timeout=10) as connection:
            return str(connection.getsockname()[0])
    return str(import_module("ray.util").get_node_ip_address())


def _reason(error: Exception) -> str:
    text = (isinstance(error, OSError) and error.strerror) or str(error)
    return text.strip().rstrip(".")


def _failure_result(job: AttemptJob, failure: FailureClass, problem: str) -> AttemptResult:
    return AttemptResult(task_id=job.task.id, number=job.number, failure=failure, problem=problem)


def _last_error_line(traceback: str) -> str:
    """Return the last line with an exception's type and message, or else the last line."""
    lines = [line.rstrip() for line in traceback.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if _ERROR_LINE.match(line)), lines[-1] if lines else "")


def _run_remotely(job: AttemptJob, source: bytes | None, config_files: dict[str, bytes]) -> AttemptResult:
    """Run an attempt in a Ray worker."""
    return run_attempt(replace(job, source=source, config_files=config_files))


class RayBackend:
    """Implements `Backend` with a connected Ray client."""

    name = "ray"
    is_remote = True

    def __init__(self, ray: Any, *, workers: int | None, cpus_per_task: float) -> None:
        self._ray = ray
        self._workers = workers
        self._cpus = cpus_per_task
        self._run = ray.remote(num_cpus=cpus_per_task, max_retries=_NODE_FAILURES)(_run_remotely)
        self._jobs: dict[Any, AttemptJob] = {}
        self._stored: dict[int, tuple[object, Any]] = {}
        """References to objects that many jobs share, by identity. The objects are kept alive."""
        self._slots = 1
        self._resources_read_at = -_RESOURCES_EVERY_S

    @property
    def slots(self) -> int:
        """Implement `Backend.slots`: as many as the cluster has CPUs for, and a few that wait."""
        now = time.monotonic()
        if now - self._resources_read_at >= _RESOURCES_EVERY_S:
            self._resources_read_at = now
            cpus = float(self._ray.cluster_resources().get("CPU", 1.0))
            running = max(int(cpus / self._cpus), 1)
            self._slots = self._workers or running + max(int(running * _QUEUED_SHARE), 2)
        return self._slots

    def submit(self, job: AttemptJob) -> None:
        """Implement `Backend.submit`."""
        source = None if job.source is None else self._store(job.source)
        config_files = self._store(job.config_files)
        reference = self._run.remote(replace(job, source=None, config_files={}), source, config_files)
        self._jobs[reference] = job

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Implement `Backend.poll`."""
        if not self._jobs:
            time.sleep(timeout_s)
            return []
        references = list(self._jobs)
        ready, rest = self._ray.wait(references, num_returns=1, timeout=timeout_s)
        if ready and rest:
            more, _ = self._ray.wait(rest, num_returns=len(rest), timeout=0)
            ready += more
        return [self._receive(reference) for reference in ready]

    def close(self) -> None:
        """Implement `Backend.close`."""
        for reference in self._jobs:
            self._ray.cancel(reference, force=True)
        self._jobs.clear()
        self._ray.shutdown()

    def _receive(self, reference: Any) -> AttemptResult:
        job = self._jobs.pop(reference)
        try:
            result: AttemptResult = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            logger.exception("attempt %d of task %s failed in a Ray worker", job.number, job.task.id)
            return _failure_result(job, "internal error", _last_error_line(sanitize(str(error))))
        except self._ray.exceptions.RayError as error:
            problem = str(error).strip().splitlines()
            return _failure_result(job, "process died", problem[0] if problem else type(error).__name__)
        return result

    def _store(self, value: object) -> Any:
        if id(value) not in self._stored:
            self._stored[id(value)] = (value, self._ray.put(value))
        return self._stored[id(value)][1]
