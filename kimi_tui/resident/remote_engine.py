"""A session of the resident engine behind a local Wire, as if its engine were in this process."""

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from kimi_tui.base.errors import EngineLost, KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.resident.connection import EngineNotRunning, Streams, connect
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
from kimi_tui.resident.tool_client import ProviderCommand
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.codec import encode_command
from kimi_tui.wire.commands import Command, Prompt, RunSlash, Shutdown
from kimi_tui.wire.events import (
    ApprovalResponse,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    SessionInfo,
    TurnBegin,
    TurnEnd,
    TurnFailure,
)
from kimi_tui.wire.requests import Answer, Request

logger = logging.getLogger(__name__)

_MAX_RESTARTS = 3
"""Number of times that a lost engine is started again ..."""
_RESTART_PERIOD_S = 60.0
"""... until a connection has lasted this long."""
_LOST_TURN = TurnFailure(
    msg("The resident engine has ended unexpectedly."),
    msg(
        "It was started again, and the session is open. Send the prompt again if the response is incomplete."
    ),
    EngineLost.__name__,
)


class LocalEditor(Protocol):
    """The editor of this client, which the session uses."""

    @property
    def services(self) -> frozenset[EditorService]:
        """What the editor provides."""
        ...

    async def run(self, call: EditorCall) -> EditorResult:
        """Run a call and return its result. A cancellation ends a command."""
        ...


class EngineRestarter(Protocol):
    """Starts the engine again after it was killed."""

    async def restart(self) -> None:
        """Start the engine unless it is running. Raises KimiTuiError."""
        ...

    def options_for(self, session_id: str) -> dict[str, Any]:
        """Return the options that open a session again."""
        ...


@dataclass(slots=True)
class _Link:
    """State of one connection."""

    session_id: str = ""
    skips_replay: bool = False
    """Whether the next replay is left out, because the front end has shown it."""
    in_replay: bool = False
    in_turn: bool = False
    waiting: list[TurnBegin] = field(default_factory=list)
    """Turns of prompts that haven't begun yet."""
    last_command: int = 0
    running: dict[int, "asyncio.Future[None]"] = field(default_factory=dict)
    """Commands that the engine isn't done with."""
    calls: "dict[str, asyncio.Task[None]]" = field(default_factory=dict)
    """Calls that run in the editor."""

    def is_skipped(self, message: Any) -> bool:
        """Return whether `message` is part of a replay that is left out."""
        if not self.skips_replay:
            return False
        if isinstance(message, ReplayBegin):
            self.in_replay = True
        elif isinstance(message, ReplayEnd):
            self.in_replay = self.skips_replay = False
            return True
        return self.in_replay

    def track(self, message: Any) -> None:
        """Record which turns have begun and ended. Those of a replay have ended, too."""
        if isinstance(message, TurnBegin):
            self.in_turn = True
            if message in self.waiting:
                self.waiting.remove(message)
        elif isinstance(message, TurnEnd):
            self.in_turn = False


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
        restarter: EngineRestarter | None = None,
    ) -> None:
        """`options` are those that the engine's SessionOpener expects. `editor` is what its tools can use.

        With a `restarter`, a session continues after the engine was killed. Its running turn fails.
        """
        self._data_dir = data_dir
        self._editor = editor
        self._restarter = restarter
        self._provided: dict[type, Command] = {}
        """The last commands that registered tools and hooks of this client."""
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
        link, restarts = _Link(), 0
        try:
            while True:
                began = time.monotonic()
                try:
                    return await self._serve_connection(link, wire)
                except (ConnectionError, InvalidFrame, EngineNotRunning, EngineLost) as error:
                    if isinstance(error, KimiTuiError) and not restarts:
                        raise
                    if time.monotonic() - began > _RESTART_PERIOD_S:
                        restarts = 0
                    if self._restarter is None or not link.session_id or restarts == _MAX_RESTARTS:
                        raise _engine_lost(link.session_id) from error
                restarts += 1
                _end_turns(link, wire)
                await self._restarter.restart()
                self._hello = replace(self._hello, options=self._restarter.options_for(link.session_id))
                link = _Link(session_id=link.session_id, skips_replay=True)
        finally:
            wire.close()

    async def _serve_connection(self, link: _Link, wire: Wire) -> None:
        """Serve `wire` until Shutdown.

        Raises KimiTuiError, and ConnectionError or InvalidFrame if the connection is lost.
        """
        async with connect(self._data_dir, self._hello) as (streams, _):
            for command in self._provided.values():
                streams[1].write(_command_line(command, link, None))
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

    async def _send(self, writer: asyncio.StreamWriter, link: _Link, wire: Wire) -> None:
        """Send commands until Shutdown. Raises ConnectionError."""
        async for command in wire.commands():
            if isinstance(command, Shutdown):
                return
            if isinstance(command, ProviderCommand):
                self._provided[type(command)] = command
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            wire.defer_completion(done)
            writer.write(_command_line(command, link, done))
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
        if link.is_skipped(message):
            return
        link.track(message)
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


def _command_line(command: Command, link: _Link, done: "asyncio.Future[None] | None") -> bytes:
    """Return the line that sends a command. `done` is completed when the engine is done with it."""
    link.last_command += 1
    if done is not None:
        link.running[link.last_command] = done
    match command:
        case Prompt(user_input=user_input, prompt_id=prompt_id):
            link.waiting.append(TurnBegin(user_input, prompt_id))
        case RunSlash(line=line, prompt_id=str(prompt_id)):  # it takes a turn
            link.waiting.append(TurnBegin(f"/{line.strip()}", prompt_id))
        case _:
            pass
    return to_line({"command": encode_command(command), "id": link.last_command})


def _end_turns(link: _Link, wire: Wire) -> None:
    """End what the lost engine won't: requests, commands, the running turn and those that wait."""
    wire.close_requests()
    for command in link.running.values():
        _complete(command, None)
    if link.in_turn:
        wire.send(TurnEnd("failed", failure=_LOST_TURN))
    for begin in link.waiting:
        wire.send(begin)
        wire.send(TurnEnd("failed", failure=_LOST_TURN))


def _engine_lost(session_id: str) -> EngineLost:
    return EngineLost(
        "The connection to the resident engine was lost.",
        session_id=session_id,
        hint="The conversation is saved. Resume it with --continue.",
    )


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
