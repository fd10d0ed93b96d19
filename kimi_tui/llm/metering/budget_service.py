"""Budget service: gives runs on other machines access to the ledgers on this machine, over TCP.

A connection starts with one JSON line `{"token", "task"}`. Every further line is a request
`{"op": "reserve" | "settle" | "slow_down", …}`, answered by one line. When a connection ends, its open
reservations count as spent.
"""

import contextlib
import hmac
import json
import secrets
import socketserver
import threading
from collections.abc import Sequence
from typing import Any, Protocol

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.llm.metering.budget import Budget, EnvironmentGate
from kimi_tui.llm.metering.gate import CallRequest
from kimi_tui.llm.metering.ledger_gate import LedgerGate

_MAX_LINE = 1 << 16


class BudgetSource(Protocol):
    """Source of the budgets of tasks."""

    def budgets_of_id(self, task: str) -> Sequence[Budget]:
        """Return the budgets of a task. Raises KeyError for an unknown task."""
        ...


class BudgetService:
    """Serves the budgets of tasks until closed. Clients need the service's token."""

    def __init__(self, budgets: BudgetSource, *, host: str = "127.0.0.1") -> None:
        self._token = secrets.token_urlsafe(24)
        self._server = _Server((host, 0), _Connection)
        self._server.token, self._server.budgets = self._token, budgets
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def start(self) -> None:
        """Accept connections."""
        self._thread.start()

    def gate_of(self, task: str) -> EnvironmentGate:
        """Return the address, token and task with which a run of `task` connects."""
        host, port = self._server.server_address[:2]
        return EnvironmentGate(address=f"{host!s}:{port}", token=self._token, task=task)

    def close(self) -> None:
        """Stop accepting connections."""
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    block_on_close = False
    token: str
    budgets: BudgetSource


class _Connection(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        """Answer the requests of one run."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            hello = json.loads(self.rfile.readline(_MAX_LINE))
            if not hmac.compare_digest(str(hello["token"]).encode(), self.server.token.encode()):
                return
            with contextlib.closing(
                LedgerGate(self.server.budgets.budgets_of_id(str(hello["task"])))
            ) as gate:
                while line := self.rfile.readline(_MAX_LINE):
                    answer = self._answer(gate, json.loads(line))
                    self.wfile.write(json.dumps(answer).encode() + b"\n")

    def _answer(self, gate: LedgerGate, request: dict[str, Any]) -> dict[str, Any]:
        try:
            match request["op"]:
                case "reserve":
                    decision = gate.reserve(from_jsonable(CallRequest, request["call"]))
                    return {"decision": to_jsonable(decision)}
                case "settle":
                    gate.settle(request["call_id"], request["usd"])
                case "slow_down":
                    gate.slow_down(request["service"], request["wait_s"])
        except KimiTuiError as error:
            return {"error": {"what": error.what, "hint": error.hint}}
        return {}
