"""Client that speaks the Wire protocol with the real program over pipes."""

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Callable
from typing import Any

from tests.e2e.program import Program
from tests.timeouts import TEST_TIMEOUT_S


class WireTestClient:
    """Sends lines, and reads lines in a thread, so that neither side blocks the other."""

    def __init__(self, program: Program, *arguments: str, reads: bool = True) -> None:
        self.process = program.start("--wire", *arguments, stdin=subprocess.PIPE)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.seen: list[dict[str, Any]] = []
        """All messages so far, in order."""
        self._last_id = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._errors: list[bytes] = []
        self._error_reader = threading.Thread(target=self._read_errors, daemon=True)
        self._error_reader.start()
        if reads:
            self._reader.start()

    def send_raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, **message: Any) -> None:
        self.send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def start_call(self, method: str, params: Any = None, **more: Any) -> str:
        """Call a method without waiting. Return the id of the call."""
        self._last_id += 1
        call_id = f"c{self._last_id}"
        self.send(id=call_id, method=method, **({} if params is None else {"params": params}), **more)
        return call_id

    def call(self, method: str, /, **params: Any) -> dict[str, Any]:
        """Call a method and wait for its response."""
        return self.answer_to(self.start_call(method, params))

    def prompt(self, text: Any) -> dict[str, Any]:
        return self.call("prompt", user_input=text)

    def initialize(self, **params: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.call("initialize", protocol_version="1.10", **params)["result"]
        return result

    def answer_to(self, call_id: Any) -> dict[str, Any]:
        return self.wait_for(lambda it: "method" not in it and it["id"] == call_id)

    def wait_for(self, matches: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the next message for which `matches` is true."""
        while True:
            try:
                line = self._lines.get(timeout=TEST_TIMEOUT_S)
            except queue.Empty:
                raise AssertionError(f"no such message; received: {self.kinds}, {self.stderr}") from None
            assert line, f"the server ended; received: {self.kinds}, {self.stderr}"
            message: dict[str, Any] = json.loads(line)
            self.seen.append(message)
            if matches(message):
                return message

    def event(self, kind: str, **payload: Any) -> dict[str, Any]:
        """Wait for the next event or request of a type and return its payload."""
        message = self.wait_for(
            lambda it: (
                it.get("params", {}).get("type") == kind
                and payload.items() <= it["params"]["payload"].items()
            )
        )
        result: dict[str, Any] = message["params"]["payload"]
        return result

    def answer(self, request_id: str, **result: Any) -> None:
        self.send(id=request_id, result={"request_id": request_id, **result})

    def approve(self, response: str = "approve", **more: Any) -> dict[str, Any]:
        """Answer the next approval request and return it."""
        request = self.event("ApprovalRequest")
        self.answer(request["id"], response=response, **more)
        return request

    @property
    def kinds(self) -> list[str]:
        """Types of the events and requests so far."""
        return [it["params"]["type"] for it in self.seen if "method" in it]

    @property
    def text(self) -> str:
        """Text of the model so far."""
        payloads = [
            it["params"]["payload"] for it in self.seen if it.get("params", {}).get("type") == "ContentPart"
        ]
        return "".join(payload.get("text", "") for payload in payloads)

    @property
    def stderr(self) -> str:
        return b"".join(self._errors).decode()

    def last_event(self, kind: str) -> dict[str, Any]:
        """Return the payload of the last received event of a type."""
        payloads = [it["params"]["payload"] for it in self.seen if it.get("params", {}).get("type") == kind]
        payload: dict[str, Any] = payloads[-1]
        return payload

    def start_reading(self) -> None:
        """Start to read, for a client created with `reads=False`."""
        self._reader.start()

    def close_stdout(self) -> None:
        """Close the pipe that the client reads from."""
        assert self.process.stdout is not None
        self.process.stdout.close()

    def close_stdin(self) -> int:
        """Close the server's input and wait until it exits. Its remaining messages are added to `seen`."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.wait_for_exit()

    def wait_for_exit(self) -> int:
        """Wait until the server exits. Return its exit code."""
        code = self.process.wait(TEST_TIMEOUT_S)
        if self._reader.is_alive():
            self._reader.join(TEST_TIMEOUT_S)
        while not self._lines.empty():
            if line := self._lines.get():
                self.seen.append(json.loads(line))
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._error_reader.join()
        if self._reader.is_alive():
            self._reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._errors.append(line)
