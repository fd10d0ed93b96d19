"""A client that is attached to a session: gets its messages, and sends commands and answers."""

import asyncio
import logging
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from kimi_tui.base.errors import EngineLost, KimiTuiError
from kimi_tui.base.ids import new_id
from kimi_tui.resident.editor_call import EditorCall, EditorService
from kimi_tui.resident.frames import (
    InvalidFrame,
    call_line,
    done_line,
    end_line,
    message_line,
    parse_object,
    parse_result,
)
from kimi_tui.resident.hosted_session import HostedSession
from kimi_tui.resident.shared_log import LogEntry
from kimi_tui.resident.tool_client import ProviderCommand
from kimi_tui.wire.argument_completion import CompleteArgument
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import UnknownWireMessage, decode, decode_command
from kimi_tui.wire.commands import (
    Command,
    Compare,
    ExcludeTools,
    ReadBranch,
    ReadTask,
    RunShell,
    ShowTimeline,
    Shutdown,
)
from kimi_tui.wire.events import Notification, SessionInfo
from kimi_tui.wire.fragments import merge_fragments
from kimi_tui.wire.requests import Answer, Request

logger = logging.getLogger(__name__)

_BATCH_SIZE = 500
_STALL_S = 30.0
"""Seconds that a client has to read again after it is too far behind. Then it is told, else disconnected."""
_MERGE_FROM = 100
"""Length of a batch from which on adjacent fragments are merged, because the client is behind."""
_VIEWER_COMMANDS = (ShowTimeline, ReadBranch, Compare, ReadTask, CompleteArgument)
"""Commands that only read this session."""


_OTHER_PROVIDER = KimiTuiError(
    "Another client provides the tools and hooks of this session.",
    hint="Register yours when that client has disconnected.",
)


class AttachedClient:
    """Sends a session's messages from its cursor on, and handles the lines of a client until either ends."""

    def __init__(
        self,
        session: HostedSession,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        is_viewer: bool,
        editor_services: frozenset[EditorService] = frozenset(),
    ) -> None:
        """`is_viewer`: whether the client may only read. `editor_services`: what its editor provides."""
        self._session = session
        self._reader = reader
        self._writer = writer
        self._is_viewer = is_viewer
        self._replies: deque[tuple[int, bytes]] = deque()
        """Lines with the position in the log that they follow."""
        self._arrived = asyncio.Event()
        self._is_writing = False
        """Whether the client hasn't read enough of what was sent."""
        self._stall_timer: asyncio.TimerHandle | None = None
        self.cursor = session.log.end
        self.editor_services = editor_services

    def notify_new(self) -> None:
        """Send the new entries of the log. A client that is too far behind must read soon."""
        self._arrived.set()
        if self._is_stalled and self._stall_timer is None:
            self._stall_timer = asyncio.get_running_loop().call_later(_STALL_S, self._end_stall)

    @property
    def _is_stalled(self) -> bool:
        """Whether the client doesn't read, and what it needs next is no longer in the log."""
        return self._is_writing and self.cursor < self._session.log.start

    def _end_stall(self) -> None:
        self._stall_timer = None
        if self._is_stalled:
            logger.warning("disconnected a client that doesn't read")
            self._writer.transport.abort()

    async def serve(self) -> None:
        """Serve the client until it disconnects or the session ends."""
        history = self._session.attach(self)
        self.cursor = self._session.log.end
        if self.editor_services and not self._is_viewer:
            self._session.editor.add(self)
        try:
            async with asyncio.TaskGroup() as group:
                sending = group.create_task(self._send_all(history))
                reading = group.create_task(self._read_all(group))
                await asyncio.wait([sending, reading], return_when=asyncio.FIRST_COMPLETED)
                sending.cancel()
                reading.cancel()
                self._leave()  # not only when its commands are done
        except* (ConnectionError, InvalidFrame) as problems:
            logger.info("a client was disconnected: %s", problems.exceptions[0])
        finally:
            self._leave()

    def _leave(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
        self._session.editor.remove(self)
        self._session.detach(self)

    # to the client

    async def _send_all(self, history: Sequence[Outgoing]) -> None:
        """Send the history, then the log as it grows, and finally how the session ended."""
        waiting = filter(self._can_use, history)
        while batch := list(islice(waiting, _BATCH_SIZE)):
            await self._write([self._line_of(message) for message in batch])
        while True:
            self._arrived.clear()
            session = self._session
            if self.cursor < session.log.start:
                return await self._write([end_line(_too_slow(session.id))])
            if self.cursor < session.log.end or self._replies:
                await self._write(list(self._next_lines()))
                session.drop_read_entries()
            elif session.has_ended:
                return await self._write([end_line(session.end_reason)])
            else:
                await self._arrived.wait()

    def _next_lines(self) -> Iterator[bytes]:
        """Yield the next lines, and move the cursor behind them."""
        log = self._session.log
        while self._replies and self._replies[0][0] <= self.cursor:
            yield self._replies.popleft()[1]
        end = min(self.cursor + _BATCH_SIZE, log.end, *(position for position, _ in self._replies))
        entries = [entry for entry in log.read(self.cursor, end) if self._gets(entry)]
        self.cursor = end
        if len(entries) >= _MERGE_FROM:
            yield from map(self._line_of, merge_fragments(entry.message for entry in entries))
        else:
            yield from (self._line_of(entry.message) if self._is_viewer else entry.line for entry in entries)

    def _gets(self, entry: LogEntry) -> bool:
        if entry.recipients is not None and self not in entry.recipients:
            return False
        return self._can_use(entry.message)

    def _can_use(self, message: Outgoing) -> bool:
        return not (self._is_viewer and isinstance(message, Request))

    def _line_of(self, message: Outgoing) -> bytes:
        if self._is_viewer and isinstance(message, SessionInfo):
            message = replace(message, read_only=True)
        return message_line(message)

    async def _write(self, lines: Sequence[bytes]) -> None:
        self._writer.write(b"".join(lines))
        self._is_writing = True
        await self._writer.drain()
        self._is_writing = False

    def send_call(self, call: EditorCall) -> None:
        """Send a call to the client's editor, after all messages so far."""
        self._session.collect()
        self._replies.append((self._session.log.end, call_line(call)))
        self._arrived.set()

    # from the client

    async def _read_all(self, group: asyncio.TaskGroup) -> None:
        """Handle the client's lines until it disconnects. Raises ConnectionError and InvalidFrame."""
        while line := await _read_line(self._reader):
            data = parse_object(line)
            try:
                if "command" in data:
                    command_id = data.get("id")
                    command = decode_command(data["command"])
                    group.create_task(self._run(command, command_id if isinstance(command_id, int) else None))
                elif "answer" in data and not self._is_viewer:
                    answer = decode(data["answer"])
                    if isinstance(answer, Answer):
                        self._session.answer(answer)
                elif "result" in data:
                    self._session.editor.receive(self, parse_result(data))
            except UnknownWireMessage as error:
                raise InvalidFrame(str(error)) from error

    async def _run(self, command: Command, command_id: int | None) -> None:
        if (problem := self._find_problem(command)) is not None:
            self._session.send_to(self, _notice(problem))
        elif self._is_passed_on(command):
            await self._session.run_command(self, command)
        if command_id is not None:
            refusal = problem if problem is _OTHER_PROVIDER else None
            self._replies.append((self._session.log.end, done_line(command_id, refusal)))
            self._arrived.set()

    def _is_passed_on(self, command: Command) -> bool:
        """Return whether the engine gets `command`, which isn't refused."""
        if isinstance(command, ExcludeTools) and len(self._session.clients) > 1:
            return False  # the other clients support these tools
        return not isinstance(command, Shutdown)  # a client leaves by disconnecting; the session continues

    def _find_problem(self, command: Command) -> KimiTuiError | None:
        """Return why the client can't send `command`; None if it can."""
        if self._is_viewer and not isinstance(command, (*_VIEWER_COMMANDS, Shutdown)):
            return KimiTuiError("You're only watching this session.", hint="Attach to it to take part.")
        if isinstance(command, RunShell) and command.on_terminal:
            return KimiTuiError(
                "Commands that use the terminal can't run in a resident session.",
                hint="Run it in another terminal, or with a single ! if it needs no input.",
            )
        is_shared = isinstance(command, ExcludeTools) and len(self._session.clients) > 1
        if isinstance(command, ProviderCommand) and not is_shared:
            return None if self._session.tool_client.accepts(self, command) else _OTHER_PROVIDER
        return None


async def _read_line(reader: asyncio.StreamReader) -> bytes:
    """Return a complete line, or an empty string at the end. Raises ConnectionError and InvalidFrame."""
    try:
        line = await reader.readline()
    except ValueError as error:
        raise InvalidFrame(str(error)) from error
    return line if line.endswith(b"\n") else b""


def _notice(error: KimiTuiError) -> Notification:
    return Notification(
        id=new_id(),
        category="session",
        type="refused",
        source_kind="engine",
        source_id="",
        title=error.what,
        body=error.hint,
        severity="warning",
    )


def _too_slow(session_id: str) -> EngineLost:
    return EngineLost(
        "This client couldn't keep up with the session.",
        session_id=session_id,
        hint="Attach again with `kimi-tui attach`.",
    )
