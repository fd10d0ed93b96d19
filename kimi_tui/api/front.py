"""The API's side of the Wire: events go to the turn they belong to, requests to whoever answers them."""

import asyncio
import logging
from collections import deque

from kimi_tui.api.asking import Asking, declined
from kimi_tui.api.turn import Turn
from kimi_tui.base.content import UserInput
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.wire.channel import REQUESTS, Outgoing, Wire
from kimi_tui.wire.commands import Interrupt, Prompt, RunSlash
from kimi_tui.wire.events import ReplayBegin, ReplayEnd, RequestClosed, SessionInfo, TurnBegin, TurnEnd
from kimi_tui.wire.requests import Request

logger = logging.getLogger(__name__)


class Front:
    """Follows one Wire to its end."""

    def __init__(self, *, wire: Wire, asking: Asking, tasks: asyncio.TaskGroup) -> None:
        self._wire = wire
        self._asking = asking
        self._tasks = tasks
        self._subscription = wire.subscribe()
        self._waiting: deque[Turn] = deque()
        self._unwanted: list[Turn] = []
        """Turns that were interrupted before they began."""
        self._turn: Turn | None = None
        self._answering: dict[str, asyncio.Task[None]] = {}
        self.info: SessionInfo | None = None
        self.opened = asyncio.Event()
        """Set when the session is open, or when it never will be."""
        self.failure: KimiTuiError | None = None
        """Why the session ended by itself."""

    @property
    def at_rest(self) -> bool:
        """Whether no turn runs or waits."""
        return self._turn is None and not self._waiting

    def begin(self, user_input: UserInput, command: Prompt | RunSlash) -> Turn:
        """Have `command` run a turn after those that wait; its TurnBegin will have `user_input`."""
        turn = Turn(user_input, interrupt=lambda: self._interrupt(turn))
        if self._wire.closed:
            turn.lose(self._ended())
        else:
            self._waiting.append(turn)
            self._wire.command(command)
        return turn

    async def follow(self) -> None:
        """Pass on what the engine sends, until the Wire closes."""
        replaying = False
        try:
            async for event in self._subscription:
                if isinstance(event, ReplayBegin | ReplayEnd):
                    replaying = isinstance(event, ReplayBegin)
                elif not replaying:
                    self._take(event)
        finally:
            self.opened.set()
            for turn in filter(None, (self._turn, *self._waiting)):
                turn.lose(self._ended())
            for task in self._answering.values():
                task.cancel()

    def _take(self, event: Outgoing) -> None:
        match event:
            case SessionInfo():
                self.info = event
                self.opened.set()
            case TurnBegin(user_input=user_input):
                if self._waiting and self._waiting[0].user_input == user_input:
                    self._turn = self._waiting.popleft()
                    if self._turn in self._unwanted:
                        self._unwanted.remove(self._turn)
                        self._wire.command(Interrupt())
            case RequestClosed(request_id=request_id) if request_id in self._answering:
                self._answering[request_id].cancel()
        if isinstance(event, REQUESTS):
            self._answering[event.id] = self._tasks.create_task(self._answer(event))
        if self._turn is not None:
            self._turn.take(event)
            if isinstance(event, TurnEnd):
                self._turn = None

    async def _answer(self, request: Request) -> None:
        try:
            answer = await self._asking.answered(request)
        except Exception as error:
            logger.exception("a request could not be answered")
            answer = declined(request)
            if self._turn is not None:
                self._turn.fail(error)
                self._turn.interrupt()
        finally:
            self._answering.pop(request.id, None)
        self._wire.answer(answer)

    def _interrupt(self, turn: Turn) -> None:
        if turn is self._turn:
            self._wire.command(Interrupt())
        else:
            self._unwanted.append(turn)

    def _ended(self) -> KimiTuiError:
        return self.failure or KimiTuiError(
            "The session has ended.", hint="Open another one with KimiTui.create."
        )
