"""Access of a session to files and terminals in the editor of an attached client."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from kimi_tui.base.ids import new_id
from kimi_tui.resident.editor_call import EditorCall, EditorResult, EditorService
from kimi_tui.tools.shell.output_pipe import OutputReceiver
from kimi_tui.tools.shell.shell import ExitStatus

FILE_TIMEOUT_S = 15.0
"""Seconds to wait for one file. Clients have their own, shorter limit."""
END_TIMEOUT_S = 15.0
"""Seconds to wait for the result of a command after its timeout or cancellation."""


class EditorClient(Protocol):
    """A client with an editor."""

    @property
    def editor_services(self) -> frozenset[EditorService]:
        """What its editor provides."""
        ...

    def send_call(self, call: EditorCall) -> None:
        """Send a call to the client, after all messages so far."""
        ...


class EditorLink:
    """Implements `Editor` and `Terminals` of the tools with the editor that was attached first.

    When that client leaves, the next one with an editor takes its place. Without any, the session uses the
    disk and its own processes.
    """

    def __init__(self) -> None:
        self._clients: list[EditorClient] = []
        self._calls: dict[str, tuple[EditorClient, asyncio.Future[EditorResult | None]]] = {}

    # clients

    def add(self, client: EditorClient) -> None:
        """Add a client with an editor."""
        self._clients.append(client)

    def remove(self, client: EditorClient) -> None:
        """Remove a client. Its open calls end without a result."""
        if client in self._clients:
            self._clients.remove(client)
        for owner, result in list(self._calls.values()):
            if owner is client and not result.done():
                result.set_result(None)

    def receive(self, client: EditorClient, result: EditorResult) -> None:
        """Pass on the result of a call of this client. Others are ignored."""
        owner, future = self._calls.get(result.id, (None, None))
        if owner is client and future is not None and not future.done():
            future.set_result(result)

    # the editor

    async def read(self, path: Path) -> str | None:
        """Return the text of a file in the editor; None if it is unavailable."""
        result = await self._access_file(EditorCall(id=new_id(), kind="read", path=str(path)))
        return result.text if result is not None and result.is_done else None

    async def write(self, path: Path, text: str) -> bool:
        """Write a file through the editor. Return False if it didn't."""
        result = await self._access_file(EditorCall(id=new_id(), kind="write", path=str(path), text=text))
        return result is not None and result.is_done

    async def _access_file(self, call: EditorCall) -> EditorResult | None:
        if (client := self._find("files")) is None:
            return None
        result = self._start(client, call)
        try:
            await asyncio.wait([result], timeout=FILE_TIMEOUT_S)
            return result.result() if result.done() else None
        finally:
            self._calls.pop(call.id, None)

    # the terminals

    @property
    def is_available(self) -> bool:
        """Whether an attached editor has terminals."""
        return self._find("terminals") is not None

    async def run(
        self,
        command: str,
        *,
        call_id: str,
        work_dir: Path,
        timeout_s: float,
        output: OutputReceiver,
    ) -> ExitStatus | None:
        """Run `command` in a terminal of the editor. Return None if it has none and nothing was run.

        If the client leaves while the command runs, the command has failed.
        """
        if (client := self._find("terminals")) is None:
            return None
        call = EditorCall(
            id=new_id(),
            kind="run",
            path=str(work_dir),
            text=command,
            tool_call_id=call_id,
            timeout_s=timeout_s,
        )
        future = self._start(client, call)
        try:
            await asyncio.wait([future], timeout=timeout_s + END_TIMEOUT_S)
        except asyncio.CancelledError:
            client.send_call(EditorCall(id=call.id, kind="cancel"))
            with suppress(asyncio.CancelledError):  # canceled again: the output is lost
                await asyncio.wait([future], timeout=END_TIMEOUT_S)
            self._pass_output(future, output)
            raise
        finally:
            self._calls.pop(call.id, None)
        if (result := future.result() if future.done() else None) is None:
            output.receive(b"\n[The client lost the terminal of this command.]\n")
            return ExitStatus(1)
        self._pass_output(future, output)
        return ExitStatus(result.status, timed_out=result.timed_out) if result.is_done else None

    def _pass_output(self, future: "asyncio.Future[EditorResult | None]", output: OutputReceiver) -> None:
        if future.done() and (result := future.result()) is not None:
            output.receive(result.text.encode("utf-8", "replace"))

    def _find(self, service: EditorService) -> EditorClient | None:
        return next((client for client in self._clients if service in client.editor_services), None)

    def _start(self, client: EditorClient, call: EditorCall) -> "asyncio.Future[EditorResult | None]":
        result: asyncio.Future[EditorResult | None] = asyncio.get_running_loop().create_future()
        self._calls[call.id] = (client, result)
        client.send_call(call)
        return result
