"""A session of the resident engine behind a local Wire, as if its engine were in this process."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from kimi_tui.base.errors import EngineLost
from kimi_tui.resident.connection import Streams, connect
from kimi_tui.resident.editor_call import EditorCall, EditorResult, EditorService
from kimi_tui.resident.frames import (
    Hello,
    InvalidFrame,
    answer_line,
    parse_call,
    parse_error,
    parse_message,
    parse_object,
    result_line,
    to_line,
)
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.codec import encode_command
from kimi_tui.wire.commands import Shutdown
from kimi_tui.wire.events import ApprovalResponse, RequestClosed, SessionInfo
from kimi_tui.wire.requests import Answer, Request

logger = logging.getLogger(__name__)


class LocalEditor(Protocol):
    """The editor of this client, which the session uses."""

    @property
    def services(self) -> frozenset[EditorService]:
        """What the editor provides."""
        ...

    async def run(self, call: EditorCall) -> EditorResult:
        """Run a call and return its result. A cancellation ends a command."""
        ...


@dataclass(slots=True)
class _Link:
    """State of one connection."""

    session_id: str = ""
    last_command: int = 0
    running: dict[int, "asyncio.Future[None]"] = field(default_factory=dict)
    """Commands that the engine isn't done with."""
    calls: "dict[str, asyncio.Task[None]]" = field(default_factory=dict)
    """Calls that run in the editor."""


class RemoteEngine:
    """Connects to the resident engine, which opens the session if it isn't open yet."""

    def __init__(
        self,
        *,
        data_dir: Path,
        version: str,
        options: dict[str, Any],
        is_viewer: bool = False,
        editor: LocalEditor | None = None,
    ) -> None:
        """`options` are those that the engine's SessionOpener expects. `editor` is what its tools can use."""
        self._data_dir = data_dir
        self._editor = editor
        self._hello = Hello(
            version=version,
            request="open",
            options=options,
            is_viewer=is_viewer,
            editor_services=tuple(sorted(editor.services)) if editor is not None else (),
        )

    async def serve(self, wire: Wire) -> None:
        """Pass the messages of the session to `wire`, and its commands and answers to the engine.

        Returns after Shutdown, which only disconnects: the session continues. Finally closes the Wire.
        Raises EngineNotRunning, EngineLost, and the KimiTuiError that ended the session.
        """
        link = _Link()
        try:
            async with connect(self._data_dir, self._hello) as (streams, _):
                receiving = asyncio.ensure_future(self._receive(streams, link, wire))
                sending = asyncio.ensure_future(self._send(streams[1], link, wire))
                try:
                    await asyncio.wait([receiving, sending], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    receiving.cancel()
                    sending.cancel()
                    for call in link.calls.values():
                        call.cancel()
                    await asyncio.wait([receiving, sending, *link.calls.values()])
                for task in (receiving, sending):
                    if not task.cancelled():
                        task.result()
        except (ConnectionError, InvalidFrame) as error:
            raise EngineLost(
                "The connection to the resident engine was lost.",
                session_id=link.session_id,
                hint="The conversation is saved. Resume it with --continue.",
            ) from error
        finally:
            wire.close()

    async def _send(self, writer: asyncio.StreamWriter, link: _Link, wire: Wire) -> None:
        """Send commands until Shutdown. Raises ConnectionError."""
        async for command in wire.commands():
            if isinstance(command, Shutdown):
                return
            link.last_command += 1
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            link.running[link.last_command] = done
            wire.defer_completion(done)
            writer.write(to_line({"command": encode_command(command), "id": link.last_command}))
            await writer.drain()

    async def _receive(self, streams: Streams, link: _Link, wire: Wire) -> None:
        """Pass messages on until the session ends. Raises ConnectionError, InvalidFrame and KimiTuiError."""
        reader, writer = streams
        while True:
            try:
                line = await reader.readline()
            except ValueError as error:
                raise InvalidFrame(str(error)) from error
            if not line.endswith(b"\n"):
                raise ConnectionResetError
            data = parse_object(line)
            if "message" in data:
                self._pass_on(parse_message(data), link, wire, writer)
            elif "done" in data:
                _complete(link.running.pop(data["done"], None), data.get("error"))
            elif "call" in data:
                self._start_call(parse_call(data), link, writer)
            elif "end" in data:
                if isinstance(data["end"], dict):
                    raise parse_error(data["end"])
                return

    def _start_call(self, call: EditorCall, link: _Link, writer: asyncio.StreamWriter) -> None:
        if call.kind == "cancel":
            if (running := link.calls.get(call.id)) is not None:
                running.cancel()
        elif self._editor is not None:
            task = asyncio.ensure_future(_run_call(self._editor, call, writer))
            link.calls[call.id] = task
            task.add_done_callback(lambda _: link.calls.pop(call.id, None))
            task.add_done_callback(lambda ended: _report_unstarted(call, ended, writer))

    def _pass_on(self, message: Any, link: _Link, wire: Wire, writer: asyncio.StreamWriter) -> None:
        match message:
            case RequestClosed(request_id=request_id):
                wire.close_request(request_id, was_answered=False)
            case ApprovalResponse(request_id=request_id):
                wire.close_request(request_id, was_answered=True)
                wire.send(message)
            case _ if isinstance(message, Request):
                wire.open_request(message).add_done_callback(_AnswerSender(writer))
            case _:
                if isinstance(message, SessionInfo):
                    link.session_id = message.session_id
                wire.send(message)


def _complete(command: "asyncio.Future[None] | None", error: Any) -> None:
    if command is None or command.done():
        return
    if isinstance(error, dict):
        command.set_exception(parse_error(error))
    else:
        command.set_result(None)


async def _run_call(editor: LocalEditor, call: EditorCall, writer: asyncio.StreamWriter) -> None:
    try:
        result = await editor.run(call)
    except Exception:
        logger.exception("a call in the editor failed")
        result = EditorResult(id=call.id)
    with suppress(ConnectionError):
        writer.write(result_line(result))


def _report_unstarted(call: EditorCall, ended: "asyncio.Task[None]", writer: asyncio.StreamWriter) -> None:
    """Send a result for a call that was canceled before it began."""
    if ended.cancelled():
        with suppress(ConnectionError):
            writer.write(result_line(EditorResult(id=call.id)))


class _AnswerSender:
    """Sends the answer to a request when there is one."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def __call__(self, future: "asyncio.Future[Answer]") -> None:
        if not future.cancelled():
            with suppress(ConnectionError):
                self._writer.write(answer_line(future.result()))
