"""The result that a run comes to: one object, last on every exit (`docs/headless.md`)."""

import signal
from typing import Any

from kimi_tui.base.encoding import to_jsonable
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.value import value
from kimi_tui.headless.tally import Tally
from kimi_tui.wire.mcp import McpServerStatus

_SIGNAL_OUTCOMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung_up"}


@value
class Ending:
    """How the run ended."""

    exit_code: int
    outcome: str
    """finished, denied, rejected, max_steps, limit, failed, cancelled, interrupted, terminated, hung_up or
    output_closed."""


def ending_of(
    tally: Tally,
    *,
    signal_number: int | None = None,
    output_closed: bool = False,
    allow_denials: bool = False,
) -> Ending:
    """What counts most: a signal, then a reader that has gone, then an error or limit, then denials."""
    if signal_number is not None:
        return Ending(128 + signal_number, _SIGNAL_OUTCOMES.get(signal.Signals(signal_number), "interrupted"))
    if output_closed:
        return Ending(ExitCode.PIPE_CLOSED, "output_closed")
    if tally.exit_code is not ExitCode.DONE:
        return Ending(tally.exit_code, tally.outcome)
    if tally.denials and not allow_denials:
        return Ending(ExitCode.DENIED, "denied")
    return Ending(ExitCode.DONE, "finished")


def result_of(tally: Tally, ending: Ending, *, duration_s: float) -> dict[str, Any]:
    """The result as JSON values."""
    result: dict[str, Any] = {
        "type": "result",
        "outcome": ending.outcome,
        "exit_code": int(ending.exit_code),
        "is_error": ending.exit_code != ExitCode.DONE,
        "retryable": ending.exit_code == ExitCode.TRANSIENT,
    }
    if tally.error is not None:
        result["error"] = to_jsonable(tally.error)
    result |= {
        "session_id": tally.session_id,
        "turns": tally.turns,
        "steps": tally.steps,
        "usage": to_jsonable(tally.usage),
    }
    if tally.cost_usd is not None:
        result["cost_usd"] = round(tally.cost_usd, 6)
    if tally.mcp is not None:
        result["mcp_servers"] = [_server(server) for server in tally.mcp.servers]
    if tally.plan is not None:
        result["plan"] = {"content": tally.plan.content, "file_path": tally.plan.file_path}
    if tally.structured is not None:
        result["structured_output"] = tally.structured.value
    return result | {
        "denials": [to_jsonable(denial) for denial in tally.denials.values()],
        "files_changed": list(tally.files_changed),
        "checkpoints": tally.checkpoints,
        "duration_ms": round(duration_s * 1000),
    }


def _server(server: McpServerStatus) -> dict[str, Any]:
    told: dict[str, Any] = {"name": server.name, "status": server.status, "tools": len(server.tools)}
    return told | ({"error": server.error} if server.error else {})


def result_of_failure(error: KimiTuiError) -> dict[str, Any]:
    """The result of a run that `error` ended before it began."""
    tally = Tally()
    tally.fail(error)
    return result_of(tally, ending_of(tally), duration_s=0.0)
