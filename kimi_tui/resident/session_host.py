"""The resident engine: opens sessions for clients, keeps them, and ends when it isn't needed."""

import asyncio
import logging
import os
from contextlib import suppress
from dataclasses import replace
from typing import Any

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.resident.attached_client import AttachedClient
from kimi_tui.resident.close_writer import close_writer
from kimi_tui.resident.engine_socket import EngineSocket
from kimi_tui.resident.frames import (
    MAX_LINE_BYTES,
    EngineReply,
    Hello,
    InvalidFrame,
    error_line,
    parse_hello,
    welcome_line,
)
from kimi_tui.resident.hosted_session import HostedSession, SessionOpener
from kimi_tui.resident.peer import peer_uid
from kimi_tui.wire.codec import UnknownWireMessage, decode
from kimi_tui.wire.requests import Answer
from kimi_tui.wire.running_session import RunningSession

logger = logging.getLogger(__name__)

IDLE_S = 60.0
"""Seconds after which an idle session without clients is closed, and after that the engine."""
_HELLO_TIMEOUT_S = 10.0
_WATCH_S = 0.5
"""Shortest time between two lists that a watching client gets."""
_SOCKET_CHECK_S = 2.0
"""Seconds between checks whether clients still find the socket."""


_HOW_TO_RESUME = "The conversation is saved. Resume it with --continue."
_ENGINE_STOPPED = KimiTuiError("The resident engine was stopped.", hint=_HOW_TO_RESUME)
_SESSION_STOPPED = KimiTuiError("The session was stopped from another screen.", hint=_HOW_TO_RESUME)


class SessionHost:
    """Registry of the sessions, and the server of their clients."""

    def __init__(
        self,
        *,
        opener: SessionOpener,
        version: str,
        tasks: asyncio.TaskGroup,
        idle_s: float = IDLE_S,
    ) -> None:
        self._opener = opener
        self._version = version
        self._tasks = tasks
        self._idle_s = idle_s
        self._sessions: list[HostedSession] = []
        self._opening = asyncio.Lock()
        """Held while a client's session is looked up and created, so that two clients get the same one."""
        self._connections: set[asyncio.StreamWriter] = set()
        self._watchers: set[asyncio.Event] = set()
        """Set when something has changed, for each client that watches the list of sessions."""
        self._attached = 0
        """Number of clients that want a session."""
        self._timers: dict[HostedSession | None, asyncio.TimerHandle] = {}
        """Timers that close idle sessions, and with the key None the engine."""
        self._stop = asyncio.Event()

    # lifetime

    def request_stop(self) -> None:
        """End `run`."""
        self._stop.set()

    async def run(self, socket: EngineSocket) -> None:
        """Serve clients on `socket` until the engine is idle or must stop. Then close all sessions."""
        self._update_engine_timer()
        while not self._stop.is_set():
            server = await asyncio.start_unix_server(
                self._handle_connection, sock=socket.listener, limit=MAX_LINE_BYTES
            )
            await self._wait_until_misplaced(socket)
            server.close()
        await asyncio.gather(*(session.stop(_ENGINE_STOPPED) for session in list(self._sessions)))
        for writer in list(self._connections):
            await close_writer(writer)
        for timer in self._timers.values():
            timer.cancel()

    async def _wait_until_misplaced(self, socket: EngineSocket) -> None:
        """Return when the engine must stop, or the socket's file was deleted and there is a new one."""
        while not self._stop.is_set():
            if not socket.is_in_place and socket.listen_again():
                logger.warning("the socket was deleted; listening again")
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(_SOCKET_CHECK_S):
                    await self._stop.wait()

    def handle_change(self, session: HostedSession) -> None:
        """Start or stop the timer that closes an idle session. Forget one that has ended."""
        for changed in self._watchers:
            changed.set()
        if session.has_ended:
            if session in self._sessions:
                self._sessions.remove(session)
            self._cancel_timer(session)
            self._update_engine_timer()
        elif session.is_needed:
            self._cancel_timer(session)
        elif session not in self._timers:
            self._timers[session] = asyncio.get_running_loop().call_later(
                self._idle_s, self._close_idle_session, session
            )

    def _close_idle_session(self, session: HostedSession) -> None:
        self._timers.pop(session, None)
        if not session.is_needed:
            logger.info("closing the idle session %s", session.id)
            self._tasks.create_task(session.stop())

    def _update_engine_timer(self) -> None:
        if self._sessions or self._attached:
            self._cancel_timer(None)
        elif None not in self._timers:
            self._timers[None] = asyncio.get_running_loop().call_later(self._idle_s, self._stop.set)

    def _cancel_timer(self, key: HostedSession | None) -> None:
        if (timer := self._timers.pop(key, None)) is not None:
            timer.cancel()

    # connections

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not _is_same_user(writer):
            logger.warning("refused a connection of another user")
            writer.close()
            return
        self._connections.add(writer)
        try:
            async with asyncio.timeout(_HELLO_TIMEOUT_S):
                hello = parse_hello(await reader.readline())
            await self._serve(hello, reader, writer)
        except KimiTuiError as error:
            writer.write(error_line(error))
        except (InvalidFrame, ValueError, ConnectionError, TimeoutError) as error:
            logger.info("a connection ended: %s", error)
        except asyncio.CancelledError:  # the engine ends
            logger.debug("a connection was canceled")
        finally:
            await close_writer(writer)
            self._connections.discard(writer)

    async def _serve(self, hello: Hello, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle a client's request. Raises KimiTuiError if it is refused."""
        welcome = EngineReply(version=self._version, pid=os.getpid())
        match hello.request:
            case "shutdown":
                stopped = tuple(
                    session.describe() for session in self._sessions if session.snapshot.is_working
                )
                writer.write(welcome_line(replace(welcome, sessions=stopped)))
                await writer.drain()
                self.request_stop()
                return
            case _:
                self._check_version(hello)
        match hello.request:
            case "open":
                self._attached += 1
                self._update_engine_timer()
                try:
                    await self._attach(hello, reader, writer, welcome)
                finally:
                    self._attached -= 1
                    self._update_engine_timer()
            case "prepare":
                self._cancel_timer(None)
                self._update_engine_timer()
                writer.write(welcome_line(welcome))
            case "list":
                writer.write(welcome_line(replace(welcome, sessions=self._describe_all())))
            case "watch":
                await self._serve_watcher(reader, writer, welcome)
            case "answer":
                accepted = self._find(hello.session).answer(_parse_answer(hello))
                writer.write(welcome_line(replace(welcome, is_accepted=accepted)))
            case "stop":
                session = self._find(hello.session)
                description = session.describe()
                await session.stop(_SESSION_STOPPED)
                writer.write(welcome_line(replace(welcome, sessions=(description,))))

    async def _attach(
        self, hello: Hello, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, welcome: EngineReply
    ) -> None:
        session = await self._open(hello)
        writer.write(welcome_line(welcome))
        await AttachedClient(
            session,
            reader,
            writer,
            is_viewer=hello.is_viewer,
            editor_services=frozenset(hello.editor_services),
        ).serve()

    def _describe_all(self) -> tuple[RunningSession, ...]:
        return tuple(session.describe() for session in self._sessions if session.is_open)

    async def _serve_watcher(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, welcome: EngineReply
    ) -> None:
        """Send the list of sessions, now and after changes, until the client leaves."""
        changed = asyncio.Event()
        self._watchers.add(changed)
        sending = asyncio.ensure_future(self._send_changes(writer, welcome, changed))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._watchers.discard(changed)
            sending.cancel()
            leaving.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send_changes(
        self, writer: asyncio.StreamWriter, welcome: EngineReply, changed: asyncio.Event
    ) -> None:
        sent = None
        while True:
            changed.clear()
            progress = [session.progress for session in self._sessions if session.is_open]
            if progress != sent:
                sent = progress
                writer.write(welcome_line(replace(welcome, sessions=self._describe_all())))
                await writer.drain()
            await asyncio.sleep(_WATCH_S)
            await changed.wait()

    def _check_version(self, hello: Hello) -> None:
        if hello.version != self._version:
            raise KimiTuiError(
                msg(
                    "The resident engine is version {engine}, and this is version {client}.",
                    engine=self._version,
                    client=hello.version,
                ),
                hint="Run `kimi-tui serve --restart`. It saves all sessions and stops their turns and "
                "background tasks.",
            )

    # sessions

    def _find(self, prefix: str) -> HostedSession:
        """Return the session whose id begins with `prefix`. Raises UsageError."""
        found = [session for session in self._sessions if prefix and session.id.startswith(prefix)]
        if len(found) == 1:
            return found[0]
        problem = (
            msg("Several sessions begin with “{prefix}”.", prefix=prefix)
            if found
            else msg("Session “{prefix}” isn't running.", prefix=prefix)
        )
        raise UsageError(problem, hint="`kimi-tui ps` lists the sessions.")

    def _find_open_id(self, options: dict[str, Any]) -> str | None:
        """Return the id of the open session that a client names. One without messages isn't on disk yet."""
        named = None if options.get("fork") else options.get("session")
        return next((each.id for each in self._sessions if named and each.id == named), None)

    async def _open(self, hello: Hello) -> HostedSession:
        """Return the session that a client wants, opened if it isn't yet. Raises KimiTuiError."""
        async with self._opening:
            session_id = self._find_open_id(hello.options)
            if session_id is None:
                session_id = await asyncio.to_thread(self._opener.find, hello.options)
            session = next((each for each in self._sessions if session_id and each.id == session_id), None)
            if session is not None and session.is_stopping:
                await session.stop()
                session = None
            if session is not None:
                return session
            if hello.is_viewer:
                raise UsageError(
                    "Only a running session can be watched.", hint="`kimi-tui ps` lists the sessions."
                )
            session = HostedSession(self, requested_id=session_id or "")
            self._sessions.append(session)
            self._tasks.create_task(session.run(self._opener, hello.options))
            return session


def _is_same_user(writer: asyncio.StreamWriter) -> bool:
    """Return whether the client belongs to our user. The directory's mode protects where this is unknown."""
    uid = peer_uid(writer.get_extra_info("socket"))
    return uid is None or uid == os.getuid()


def _parse_answer(hello: Hello) -> Answer:
    try:
        answer = decode(hello.answer)
    except UnknownWireMessage as error:
        raise InvalidFrame(str(error)) from error
    if not isinstance(answer, Answer):
        raise InvalidFrame("The answer isn't one.")
    return answer
