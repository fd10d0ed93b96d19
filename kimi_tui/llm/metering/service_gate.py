"""Spending gate for a budget service of another process."""

import contextlib
import json
import socket
import threading
from typing import Any

from kimi_tui.base.errors import APIConnectionError, KimiTuiError
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.base.message_text import msg
from kimi_tui.llm.metering.budget import EnvironmentGate
from kimi_tui.llm.metering.gate import CallRequest, GateDecision

_TIMEOUT_S = 90.0


class ServiceGate:
    """Implements `SpendingGate`. Raises APIConnectionError for a lost connection, so that no call starts."""

    def __init__(self, address: EnvironmentGate) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self._lines: Any = None

    def reserve(self, request: CallRequest) -> GateDecision:
        """Implement `SpendingGate.reserve`."""
        answer = self._ask({"op": "reserve", "call": to_jsonable(request)})
        return from_jsonable(GateDecision, answer["decision"])

    def settle(self, call_id: str, usd: float | None) -> None:
        """Implement `SpendingGate.settle`."""
        self._ask({"op": "settle", "call_id": call_id, "usd": usd})

    def slow_down(self, service: str, wait_s: float) -> None:
        """Implement `SpendingGate.slow_down`."""
        self._ask({"op": "slow_down", "service": service, "wait_s": wait_s})

    def close(self) -> None:
        """Implement `SpendingGate.close`. The service charges open reservations."""
        with self._lock:
            self._disconnect()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            try:
                self._connect()
                self._lines.write(json.dumps(request).encode() + b"\n")
                self._lines.flush()
                answer = json.loads(self._lines.readline())
            except (OSError, ValueError) as error:
                self._disconnect()
                raise APIConnectionError(
                    msg("Lost the budget service at {address}.", address=self._address.address),
                    hint="Check that the driver of the fleet runs and that this machine can reach it.",
                ) from error
        if "error" in answer:
            raise KimiTuiError(answer["error"]["what"], hint=answer["error"]["hint"])
        return dict(answer)

    def _connect(self) -> None:
        if self._connection is not None:
            return
        host, _, port = self._address.address.rpartition(":")
        self._connection = socket.create_connection((host, int(port)), timeout=_TIMEOUT_S)
        self._lines = self._connection.makefile("rwb")
        hello = {"token": self._address.token, "task": self._address.task}
        self._lines.write(json.dumps(hello).encode() + b"\n")

    def _disconnect(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError):  # unsent data
                self._lines.close()
            self._connection.close()
            self._connection = None
