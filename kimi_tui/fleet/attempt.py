"""Attempts: the job of a backend, and its result. Both can be pickled."""

import platform
import time
from dataclasses import dataclass, field
from typing import Any, Literal

from kimi_tui.fleet.fleet_task import FleetTask

FailureClass = Literal[
    "",
    "check failed",
    "check timed out",
    "limit reached",
    "call denied",
    "agent failed",
    "temporary failure",
    "process died",
    "time exceeded",
    "source missing",
    "disk full",
    "internal error",
]
"""Why a task failed; empty if it passed."""
RETRIED: frozenset[FailureClass] = frozenset({"temporary failure", "process died"})
"""Failures that another attempt may not have."""
CheckVerdict = Literal["none", "passed", "failed", "timed out", "not run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of print mode that all tasks of a run share."""

    demo: bool = False
    model: str | None = None
    agent: str | None = None
    yolo: bool = False
    sandbox: bool | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    mcp_config_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptJob:
    """One attempt at a task."""

    task: FleetTask
    number: int
    """1 for the first attempt."""
    options: RunOptions = RunOptions()
    session_start: str = ""
    """Start of the session in the system prompt, the same for all attempts at a task."""
    gate: str = ""
    """The budgets, as the value of `GATE_VARIABLE`."""
    config_files: dict[str, bytes] = field(default_factory=dict)
    """Files of the user's data directory that a run reads, by relative path."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables that the other machine may lack."""
    source: bytes | None = None
    """The source as an archive, for another machine. None: read it from this one."""
    folder: str = ""
    """Directory for the attempt's own directory. Empty: the system's temporary directory."""
    keeps_folder: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutcome:
    """The verdict of a check."""

    verdict: CheckVerdict
    exit_code: int | None = None
    output: str = ""
    """End of its output."""
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """What an attempt produced."""

    task_id: str
    number: int
    failure: FailureClass = ""
    problem: str = ""
    """What went wrong, in one or two sentences."""
    budget_spent: bool = False
    """Whether the budget of the fleet or the day ended it. The task isn't done then."""
    result: dict[str, Any] = field(default_factory=dict)
    """The result line of print mode; empty if there is none."""
    patch: str = ""
    bundle: bytes = b""
    check: CheckOutcome = CheckOutcome(verdict="none")
    node: str = field(default_factory=platform.node)
    started_at: float = field(default_factory=time.time)
    """Seconds since the epoch."""
    duration_s: float = 0.0
