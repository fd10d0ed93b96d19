"""Runner of one attempt: print mode in a fresh directory, then the patch and the check."""

import contextlib
import json
import logging
import os
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.base.child_environment import helper_environment
from kimi_tui.base.disk_errors import is_full, mentions_full_disk
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.process_groups import mark_of_process
from kimi_tui.config.own_program import PROGRAM
from kimi_tui.config.session_start import SESSION_START_VARIABLE
from kimi_tui.fleet.attempt import RETRIED, AttemptJob, AttemptResult, CheckOutcome, FailureClass
from kimi_tui.fleet.attempt_folder import ATTEMPT_VARIABLE, attempt_folder
from kimi_tui.fleet.child_process import FinishedProcess, run_child
from kimi_tui.fleet.fleet_task import BundleSource
from kimi_tui.fleet.task_source import SourceMissing, prepare_work_dir
from kimi_tui.fleet.work_tree_patch import WorkTreePatch
from kimi_tui.llm.metering.budget import GATE_VARIABLE

logger = logging.getLogger(__name__)

_CLOSE_S = 60.0
"""How much longer than the agent's time limit its process may run."""
_IMPORT_S = 300.0
_CHECK_OUTPUT = 4000
_STDERR = 600
_SHARED_BUDGET = "SharedBudgetSpent"


class StartObserver:
    """Is notified when an attempt's process starts. Does nothing by default."""

    def report_process(self, job: AttemptJob, folder: Path, mark: str) -> None:
        """Get the attempt's directory and the mark of its process."""


def run_attempt(job: AttemptJob, observer: StartObserver = StartObserver()) -> AttemptResult:
    """Run an attempt in a fresh directory. Never raises: a failure is a result."""
    started_at, start = time.time(), time.monotonic()
    try:
        with attempt_folder(job.task.id, job.folder, keeps=job.keeps_folder) as folder:
            result = _Attempt(job, folder, observer).run()
    except SourceMissing as error:
        result = _failure_result(job, "disk full" if _is_full(error) else "source missing", str(error))
    except (OSError, subprocess.SubprocessError) as error:
        result = _failure_result(job, *_describe(error))
    except KimiTuiError as error:
        result = _failure_result(job, "internal error", str(error))
    except Exception as error:
        logger.exception("an attempt failed")
        result = _failure_result(job, "internal error", f"{type(error).__name__}: {error}")
    return replace(result, started_at=started_at, duration_s=time.monotonic() - start)


def is_retried(result: AttemptResult) -> bool:
    """Return whether another attempt may succeed."""
    return result.failure in RETRIED and not result.budget_spent


def _failure_result(job: AttemptJob, failure: FailureClass, problem: str) -> AttemptResult:
    return AttemptResult(task_id=job.task.id, number=job.number, failure=failure, problem=problem)


def _describe(error: OSError | subprocess.SubprocessError) -> tuple[FailureClass, str]:
    """Return the failure class and a description of an error of a file or of a helper program."""
    text = str(error)
    if isinstance(error, subprocess.CalledProcessError):
        text = f"{text} {(error.stderr or b'').decode('utf-8', 'replace').strip()[-_STDERR:]}"
    return ("disk full" if _is_full(error, text) else "internal error"), text


def _is_full(error: Exception, text: str = "") -> bool:
    return (isinstance(error, OSError) and is_full(error)) or mentions_full_disk(text or str(error))


class _Attempt:
    """One attempt in its directory: `work`, `data` (the data directory of the run) and `git`."""

    def __init__(self, job: AttemptJob, folder: Path, observer: StartObserver) -> None:
        self._job = job
        self._folder = folder
        self._observer = observer
        self._work_dir = folder / "work"
        self._data_dir = folder / "data"
        self._bundle = folder / "session.kimi.zip"
        self._patch = WorkTreePatch(self._work_dir, folder / "git")
        self._session_id = ""

    def run(self) -> AttemptResult:
        self._prepare()
        finished = self._run_agent()
        outcome = _result_line(finished.stdout)
        patch, bundle = "", b""
        failure, problem = _classify(finished, outcome)
        try:
            patch = self._patch.compute()
            bundle = self._bundle.read_bytes() if self._bundle.is_file() else self._export_bundle()
        except (OSError, subprocess.SubprocessError) as error:  # the outcome and its cost still count
            failure, problem = _describe(error)
        result = AttemptResult(
            task_id=self._job.task.id, number=self._job.number, result=outcome, patch=patch, bundle=bundle
        )
        if failure in ("", "limit reached", "call denied"):
            check = self._run_check()
            if not failure and check.verdict in ("failed", "timed out"):
                failure = "check failed" if check.verdict == "failed" else "check timed out"
                problem = check.output.strip()[-_STDERR:]
            result = replace(result, check=check)
        elif self._job.task.check is not None:
            result = replace(result, check=CheckOutcome(verdict="not run"))
        budget_spent = (outcome.get("error") or {}).get("kind") == _SHARED_BUDGET
        return replace(result, failure=failure, problem=problem, budget_spent=budget_spent)

    def _prepare(self) -> None:
        self._work_dir.mkdir()
        self._data_dir.mkdir(mode=0o700)
        for name, content in self._job.config_files.items():
            path = self._data_dir / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.write_bytes(content)
        cache_dir = Path(self._job.folder or tempfile.gettempdir()) / f"kimi-fleet-git-{os.getuid()}"
        bundle = prepare_work_dir(
            self._job.task, self._work_dir, cache_dir=cache_dir, archive=self._job.source
        )
        if bundle is not None:
            self._import_bundle(bundle)
        self._patch.record()

    def _import_bundle(self, bundle: Path) -> None:
        """Import the session of a bundle and go to its checkpoint."""
        self._run_program("sessions", "import", str(bundle))
        sessions = list((self._data_dir / "tui-sessions").glob("*/*/context.jsonl"))
        self._session_id = sessions[0].parent.name if sessions else ""
        source = self._job.task.source
        if isinstance(source, BundleSource) and source.checkpoint is not None:
            checkpoint = str(source.checkpoint)
            self._run_program("checkpoints", "revert", checkpoint, "--session", self._session_id, "--yes")

    def _run_program(self, *arguments: str) -> None:
        finished = run_child(
            (*PROGRAM, *arguments),
            work_dir=self._work_dir,
            environment=self._environment(),
            timeout_s=_IMPORT_S,
        )
        if finished.exit_code != 0:
            problem = finished.stderr.strip()[-_STDERR:] or f"exit code {finished.exit_code}"
            raise SourceMissing(problem, hint="Check the bundle and the checkpoint.")

    def _run_agent(self) -> FinishedProcess:
        prompt_file = self._folder / "prompt.txt"
        prompt_file.write_text(self._job.task.prompt, "utf-8")
        return run_child(
            (*PROGRAM, *self._arguments(prompt_file)),
            work_dir=self._work_dir,
            environment=self._environment(),
            timeout_s=self._job.task.limits.max_time + _CLOSE_S,
            on_start=lambda pid: self._observer.report_process(self._job, self._folder, mark_of_process(pid)),
        )

    def _arguments(self, prompt_file: Path) -> list[str]:
        task, options = self._job.task, self._job.options
        arguments = ["--print", "--input", str(prompt_file), "--output-format", "json"]
        arguments += ["--work-dir", str(self._work_dir), "--bundle", str(self._bundle)]
        arguments += ["--max-time", str(task.limits.max_time)]
        values = {
            "--model": task.model or options.model,
            "--agent": task.agent or options.agent,
            "--session": self._session_id,
            "--max-steps-per-turn": task.limits.max_steps,
        }
        for flag, value in values.items():
            if value:
                arguments += [flag, str(value)]
        if options.demo and not task.model:
            arguments.append("--demo")
        if options.yolo:
            arguments.append("--yolo")
        if options.sandbox is not None:
            arguments.append("--sandbox" if options.sandbox else "--no-sandbox")
        for rule in options.allow:
            arguments += ["--allow", rule]
        for rule in options.deny:
            arguments += ["--deny", rule]
        for file in options.mcp_config_files:
            arguments += ["--mcp-config-file", file]
        return arguments

    def _environment(self) -> dict[str, str]:
        environment = {**os.environ, **self._job.environment, "KIMI_SHARE_DIR": str(self._data_dir)}
        environment[ATTEMPT_VARIABLE] = str(self._folder)
        environment[SESSION_START_VARIABLE] = self._job.session_start
        if self._job.gate:
            environment[GATE_VARIABLE] = self._job.gate
        return environment

    def _export_bundle(self) -> bytes:
        """Return the session of a run that was killed as a bundle, if there is one."""
        sessions = list((self._data_dir / "tui-sessions").glob("*/*/context.jsonl"))
        if not sessions:
            return b""
        with contextlib.suppress(SourceMissing, OSError):
            self._run_program(
                "sessions", "export", sessions[0].parent.name, "--format", "bundle", "-o", str(self._bundle)
            )
        return self._bundle.read_bytes() if self._bundle.is_file() else b""

    def _run_check(self) -> CheckOutcome:
        task = self._job.task
        if task.check is None:
            return CheckOutcome(verdict="none")
        start = time.monotonic()
        finished = run_child(
            ("/bin/sh", "-c", task.check),
            work_dir=self._work_dir,
            environment={**helper_environment(), ATTEMPT_VARIABLE: str(self._folder)},
            timeout_s=task.limits.check_time,
            merges_output=True,
        )
        if finished.timed_out:
            verdict: Any = "timed out"
        else:
            verdict = "passed" if finished.exit_code == 0 else "failed"
        return CheckOutcome(
            verdict=verdict,
            exit_code=finished.exit_code,
            output=finished.stdout[-_CHECK_OUTPUT:],
            duration_s=time.monotonic() - start,
        )


def _result_line(stdout: str) -> dict[str, Any]:
    """Return the result line, or an empty dict if the process died before it wrote one."""
    for line in reversed(stdout.splitlines()):
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict) and value.get("type") == "result":
                return value
    return {}


def _classify(finished: FinishedProcess, outcome: dict[str, Any]) -> tuple[FailureClass, str]:
    """Return the failure of the agent's process, and a description of the problem."""
    error = outcome.get("error") or {}
    problem = " ".join(filter(None, (error.get("what"), error.get("hint"))))
    if finished.timed_out:
        return "time exceeded", problem or "The agent didn't end in time and was killed."
    if not outcome or finished.exit_code < 0:
        stderr = finished.stderr.strip()[-_STDERR:]
        return "process died", stderr or f"The process ended with {finished.exit_code} and without a result."
    match finished.exit_code:
        case ExitCode.DONE:
            return "", ""
        case ExitCode.LIMIT:
            return "limit reached", problem or f"Outcome: {outcome.get('outcome')}."
        case ExitCode.DENIED:
            tools = ", ".join(dict.fromkeys(each.get("tool", "") for each in outcome.get("denials", ())))
            return "call denied", f"Denied: {tools}. Allow it with --yolo or --allow."
        case ExitCode.TRANSIENT:
            return "temporary failure", problem
        case ExitCode.TERMINATED | ExitCode.INTERRUPTED:
            return "process died", problem or "The process was terminated."
        case _:
            return "disk full" if mentions_full_disk(problem) else "agent failed", problem
