"""Result of a run: one object, written last on every exit (`docs/headless.md`)."""

import signal
from typing import Any

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.headless.run_stats import RunStats
from kimi_tui.wire.mcp_status import McpServerStatus

_SIGNAL_OUTCOMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung_up"}


@frozen
class RunOutcome:
    """Exit code and outcome of a run."""

    exit_code: int
    outcome: str
    """finished, denied, rejected, max_steps, limit, failed, cancelled, interrupted, terminated, hung_up or
    output_closed.
    """


def determine_outcome(
    stats: RunStats,
    *,
    signal_number: int | None = None,
    output_closed: bool = False,
    allow_denials: bool = False,
) -> RunOutcome:
    """Return the outcome. In order of priority: a signal, closed output, an error or limit, denials."""
    if signal_number is not None:
        return RunOutcome(
            128 + signal_number, _SIGNAL_OUTCOMES.get(signal.Signals(signal_number), "interrupted")
        )
    if output_closed:
        return RunOutcome(ExitCode.PIPE_CLOSED, "output_closed")
    if stats.exit_code is not ExitCode.DONE:
        return RunOutcome(stats.exit_code, stats.outcome)
    if stats.denials and not allow_denials:
        return RunOutcome(ExitCode.DENIED, "denied")
    return RunOutcome(ExitCode.DONE, "finished")


def build_result(stats: RunStats, run_outcome: RunOutcome, *, duration_s: float) -> dict[str, Any]:
    """Return the result as JSON values."""
    result: dict[str, Any] = {
        "type": "result",
        "outcome": run_outcome.outcome,
        "exit_code": int(run_outcome.exit_code),
        "is_error": run_outcome.exit_code != ExitCode.DONE,
        "retryable": run_outcome.exit_code == ExitCode.TRANSIENT,
    }
    if stats.error is not None:
        result["error"] = to_jsonable(stats.error)
    result |= {
        "session_id": stats.session_id,
        "turns": stats.turns,
        "steps": stats.steps,
        "usage": to_jsonable(stats.usage),
    }
    if stats.cost_usd is not None:
        result["cost_usd"] = round(stats.cost_usd, 6)
    if stats.mcp is not None:
        result["mcp_servers"] = [_server_status(server) for server in stats.mcp.servers]
    if stats.plan is not None:
        result["plan"] = {"content": stats.plan.content, "file_path": stats.plan.file_path}
    if stats.structured is not None:
        result["structured_output"] = stats.structured.value
    return result | {
        "denials": [to_jsonable(denial) for denial in stats.denials.values()],
        "files_changed": list(stats.files_changed),
        "checkpoints": stats.checkpoints,
        "duration_ms": round(duration_s * 1000),
    }


def _server_status(server: McpServerStatus) -> dict[str, Any]:
    status: dict[str, Any] = {"name": server.name, "status": server.status, "tools": len(server.tools)}
    return status | ({"error": server.error} if server.error else {})


def build_failure_result(error: KimiTuiError) -> dict[str, Any]:
    """Return the result of a run that failed with `error` before it started."""
    stats = RunStats()
    stats.fail(error)
    return build_result(stats, determine_outcome(stats), duration_s=0.0)
