"""The channel: the one door between an engine and its front ends.

The engine sends events and asks requests; a front end subscribes, answers and gives commands. Both live on
one event loop; nothing here crosses threads.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass

from kimi_tui.wire.commands import Command
from kimi_tui.wire.events import ApprovalResponse, Event, RequestClosed
from kimi_tui.wire.fragments import merge_fragments
from kimi_tui.wire.requests import (
    Answer,
    ApprovalRequest,
    HookRequest,
    HookResponse,
    QuestionRequest,
    QuestionResponse,
    Request,
    ToolCallRequest,
    ToolCallResponse,
)

Outgoing = Event | Request


class WireClosed(Exception):
    """The other side has gone."""


class Subscription:
    """One listener's queue. Everything sent since it subscribed arrives once and in order."""

    def __init__(self, detach: Callable[["Subscription"], None]) -> None:
        self._queue: deque[Outgoing] = deque()
        self._arrived = asyncio.Event()
        self._closed = asyncio.Event()
        self._detach = detach

    def put(self, message: Outgoing) -> None:
        """Queue `message`."""
        self._queue.append(message)
        self._arrived.set()

    def close(self) -> None:
        """No more messages come; those queued still do."""
        self._closed.set()
        self._arrived.set()
        self._detach(self)

    @property
    def has_pending(self) -> bool:
        """Whether anything is queued."""
        return bool(self._queue)

    def take(self) -> list[Outgoing]:
        """All that is queued, adjacent fragments merged; empty when there is nothing."""
        batch = merge_fragments(self._queue)
        self._queue.clear()
        return batch

    async def drain(self) -> list[Outgoing]:
        """All that is queued, adjacent fragments merged; waits for the first. Empty only when closed."""
        while not self._queue:
            if self._closed.is_set():
                return []
            self._arrived.clear()
            await self._arrived.wait()
        return self.take()

    async def closing(self, within_s: float) -> None:
        """Wait until no more messages come, at most so long; what comes meanwhile is queued."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._closed.wait()

    async def __aiter__(self) -> AsyncIterator[Outgoing]:
        """Messages one by one, until the Wire closes."""
        while batch := await self.drain():
            for message in batch:
                yield message


@dataclass(slots=True, eq=False)
class _Given:
    """A command on its way to the engine."""

    command: Command
    carried_out: "asyncio.Future[None] | None" = None
    goes_on: bool = False
    """Whether something else than the next command says when it is carried out."""

    def end(self) -> None:
        """It is carried out."""
        if self.carried_out is not None and not self.carried_out.done():
            self.carried_out.set_result(None)


class Wire:
    """Events and requests one way, commands and answers the other."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []
        self._commands: asyncio.Queue[_Given | None] = asyncio.Queue()
        self._open_requests: dict[str, tuple[Request, asyncio.Future[Answer]]] = {}
        self._waiting: set[asyncio.Future[None]] = set()
        self._following: _Given | None = None
        """The command that the engine follows just now."""
        self._closed = False

    # the engine's side

    def send(self, event: Outgoing) -> None:
        """Give `event` to every subscriber."""
        for subscription in self._subscriptions:
            subscription.put(event)

    async def ask(self, request: Request) -> Answer:
        """Send `request` and wait for its answer. Cancelled, it tells the front ends that it is closed."""
        if self._closed:
            raise WireClosed
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open_requests[request.id] = (request, future)
        self.send(request)
        answer: Answer | None = None
        try:
            answer = await future
            return answer
        finally:
            self._open_requests.pop(request.id, None)
            if answer is None:  # an answer that came along with the cancellation came too late
                self.send(RequestClosed(request.id))

    async def commands(self) -> AsyncIterator[Command]:
        """Commands as they come, until the Wire closes.

        Asking for the next says that one is carried out, unless `goes_on` said otherwise.
        """
        while (given := await self._commands.get()) is not None:
            self._following = given
            yield given.command
            self._following = None
            if not given.goes_on:
                given.end()

    def goes_on(self, work: "asyncio.Future[None]") -> None:
        """The command that is followed just now is carried out only when `work` has ended."""
        if (given := self._following) is not None:
            given.goes_on = True
            work.add_done_callback(lambda _: given.end())

    def close(self) -> None:
        """End every subscription and the commands; open requests are cancelled."""
        self._closed = True
        for _, future in list(self._open_requests.values()):
            future.cancel()
        for waiting in list(self._waiting):
            waiting.cancel()
        for subscription in list(self._subscriptions):
            subscription.close()
        self._commands.put_nowait(None)

    # the front end's side

    def subscribe(self) -> Subscription:
        """Listen from now on."""
        subscription = Subscription(self._forget)
        if self._closed:
            subscription.close()
        else:
            self._subscriptions.append(subscription)
        return subscription

    def command(self, command: Command) -> None:
        """Give the engine a command."""
        if not self._closed:
            self._commands.put_nowait(_Given(command))

    async def carry_out(self, command: Command) -> None:
        """Give the engine a command and wait until it is done with it; of a Prompt, until its turn is due.

        What it sent meanwhile is in the subscriptions by then. Raises WireClosed when the engine has gone.
        """
        if self._closed:
            raise WireClosed
        carried_out: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._commands.put_nowait(_Given(command, carried_out))
        self._waiting.add(carried_out)
        try:
            await asyncio.wait([carried_out])
        finally:
            self._waiting.discard(carried_out)
        if carried_out.cancelled():
            raise WireClosed

    def answer(self, answer: Answer) -> bool:
        """Answer a request.

        False when it is not open (any more), such as a replayed one, or asks for another kind of answer.
        """
        asked = self._open_requests.get(_request_id(answer))
        if asked is None:
            return False
        request, future = asked
        if future.done() or not isinstance(answer, _ANSWERS[type(request)]):
            return False
        future.set_result(answer)
        return True

    @property
    def closed(self) -> bool:
        """Whether the engine has gone."""
        return self._closed

    def _forget(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)


def _request_id(answer: Answer) -> str:
    match answer:
        case ApprovalResponse(request_id=request_id):
            return request_id
        case QuestionResponse(request_id=request_id) | HookResponse(request_id=request_id):
            return request_id
        case ToolCallResponse(tool_call_id=request_id):
            return request_id


_ANSWERS: dict[type, type] = {
    ApprovalRequest: ApprovalResponse,
    QuestionRequest: QuestionResponse,
    ToolCallRequest: ToolCallResponse,
    HookRequest: HookResponse,
}

REQUESTS = (ApprovalRequest, QuestionRequest, ToolCallRequest, HookRequest)
"""For telling requests from events in a subscription."""
