"""Router of Wire events to turns, and of requests to their handlers."""

import asyncio
import logging
from collections import deque

from kimi_tui.api.request_handlers import RequestHandlers, decline
from kimi_tui.api.turn import Turn
from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import Interrupt, Prompt, RunSlash
from kimi_tui.wire.events import RequestClosed, SessionInfo, TurnBegin, TurnEnd
from kimi_tui.wire.requests import Request

logger = logging.getLogger(__name__)


class EventRouter:
    """Reads events from a Wire until it closes."""

    def __init__(self, *, wire: Wire, handlers: RequestHandlers, tasks: asyncio.TaskGroup) -> None:
        self._wire = wire
        self._handlers = handlers
        self._tasks = tasks
        self._subscription = wire.subscribe(live_only=True)
        self._queued_turns: deque[Turn] = deque()
        self._interrupted_turns: list[Turn] = []
        """Turns that were interrupted before they began."""
        self._turn: Turn | None = None
        self._request_tasks: dict[str, asyncio.Task[None]] = {}
        self.info: SessionInfo | None = None
        self.opened = asyncio.Event()
        """Set when the session has opened or failed to open."""
        self.failure: KimiTuiError | None = None
        """The error that ended the session."""

    @property
    def is_idle(self) -> bool:
        """Whether no turn is running or queued."""
        return self._turn is None and not self._queued_turns

    def enqueue_turn(self, user_input: UserInput, command: Prompt | RunSlash) -> Turn:
        """Send `command`, which starts a turn, and return the turn.

        `user_input` is the input in the turn's TurnBegin.
        """
        turn = Turn(user_input, owner=self)
        if self._wire.is_closed:
            turn.abort(self._session_ended_error())
        else:
            self._queued_turns.append(turn)
            self._wire.command(command)
        return turn

    async def route_events(self) -> None:
        """Route the engine's events until the Wire closes."""
        try:
            async for event in self._subscription:
                self._route(event)
        finally:
            self.opened.set()
            for turn in filter(None, (self._turn, *self._queued_turns)):
                turn.abort(self._session_ended_error())
            for task in self._request_tasks.values():
                task.cancel()

    def _route(self, event: Outgoing) -> None:
        match event:
            case SessionInfo():
                self.info = event
                self.opened.set()
            case TurnBegin(user_input=user_input):
                if self._queued_turns and self._queued_turns[0].user_input == user_input:
                    self._turn = self._queued_turns.popleft()
                    if self._turn in self._interrupted_turns:
                        self._interrupted_turns.remove(self._turn)
                        self._wire.command(Interrupt())
            case RequestClosed(request_id=request_id) if request_id in self._request_tasks:
                self._request_tasks[request_id].cancel()
        if isinstance(event, Request):
            self._request_tasks[event.id] = self._tasks.create_task(self._handle_request(event))
        if self._turn is not None:
            self._turn.add_event(event)
            if isinstance(event, TurnEnd):
                self._turn = None

    async def _handle_request(self, request: Request) -> None:
        try:
            answer = await self._handlers.resolve_request(request)
        except Exception as error:
            logger.exception("a request handler failed")
            answer = decline(request)
            if self._turn is not None:
                self._turn.fail(error)
                self._turn.interrupt()
        finally:
            self._request_tasks.pop(request.id, None)
        self._wire.answer(answer)

    def interrupt_turn(self, turn: Turn) -> None:
        """Implement `TurnOwner.interrupt_turn`."""
        if turn is self._turn:
            self._wire.command(Interrupt())
        else:
            self._interrupted_turns.append(turn)

    def _session_ended_error(self) -> KimiTuiError:
        return self.failure or KimiTuiError(
            "The session has ended.", hint="Create a new one with KimiTui.create."
        )
