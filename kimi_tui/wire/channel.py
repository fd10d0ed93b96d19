"""In-process channel between an engine and its front ends.

The engine sends events and requests; a front end subscribes, answers requests and sends commands. Both run on
one event loop. Nothing here is thread-safe.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.wire.commands import Command
from kimi_tui.wire.events import ApprovalResponse, Event, ReplayBegin, ReplayEnd, RequestClosed
from kimi_tui.wire.fragments import is_fragment, merge_fragments
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
    """The engine has closed the Wire."""


class Subscription:
    """Message queue of one subscriber. A message sent after subscribing arrives exactly once and in order."""

    def __init__(self, *, live_only: bool = False, merges: bool = True, fragments: bool = True) -> None:
        """With `live_only`, replays are left out, including ReplayBegin and ReplayEnd.

        `merges`: whether adjacent queued fragments are merged. `fragments`: whether fragments are queued.
        """
        self._queue: deque[Outgoing] = deque()
        self._arrived = asyncio.Event()
        self._closed = asyncio.Event()
        self._live_only = live_only
        self._merges = merges
        self._has_fragments = fragments
        self._in_replay = False

    def put(self, message: Outgoing) -> None:
        """Queue `message`, unless the subscription is closed or filters the message out."""
        if not self._has_fragments and is_fragment(message):
            return
        if self._closed.is_set() or (self._live_only and self._is_replayed(message)):
            return
        self._queue.append(message)
        self._arrived.set()

    def _is_replayed(self, message: Outgoing) -> bool:
        if isinstance(message, ReplayBegin | ReplayEnd):
            self._in_replay = isinstance(message, ReplayBegin)
            return True
        return self._in_replay

    def close(self) -> None:
        """End the subscription. Queued messages can still be read."""
        self._closed.set()
        self._arrived.set()

    @property
    def is_closed(self) -> bool:
        """Whether the subscription was closed."""
        return self._closed.is_set()

    @property
    def has_pending(self) -> bool:
        """Whether messages are queued."""
        return bool(self._queue)

    def pop_pending(self) -> list[Outgoing]:
        """Return all queued messages, by default with adjacent fragments merged; empty if none are queued."""
        batch = merge_fragments(self._queue) if self._merges else list(self._queue)
        self._queue.clear()
        return batch

    async def drain(self) -> list[Outgoing]:
        """Wait for a message and return all queued messages, by default with adjacent fragments merged.

        The list is empty only if the subscription is closed.
        """
        while not self._queue:
            if self._closed.is_set():
                return []
            self._arrived.clear()
            await self._arrived.wait()
        return self.pop_pending()

    async def wait_closed(self, within_s: float) -> None:
        """Wait up to `within_s` seconds until the subscription is closed. Messages are still queued."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._closed.wait()

    async def __aiter__(self) -> AsyncIterator[Outgoing]:
        """Yield messages one by one until the Wire closes."""
        while batch := await self.drain():
            for message in batch:
                yield message


@dataclass(slots=True, eq=False)
class _QueuedCommand:
    """A command in the queue of the engine, or being handled."""

    command: Command
    done: "asyncio.Future[None] | None" = None
    is_deferred: bool = False
    """Whether the command is done when deferred work ends, not when the engine gets the next command."""

    def complete(self, refusal: KimiTuiError | None = None) -> None:
        """Notify the waiting sender that the command is done, or why it was refused."""
        if self.done is None or self.done.done():
            return
        if refusal is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(refusal)


class Wire:
    """Carries events and requests to the front ends, and commands and answers to the engine."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []
        self._commands: asyncio.Queue[_QueuedCommand | None] = asyncio.Queue()
        self._open_requests: dict[str, tuple[Request, asyncio.Future[Answer]]] = {}
        self._completions: set[asyncio.Future[None]] = set()
        self._current_command: _QueuedCommand | None = None
        """The command that the engine is handling."""
        self._closed = False

    # engine side

    def send(self, event: Outgoing) -> None:
        """Send `event` to every subscriber."""
        for subscription in self._subscriptions:
            subscription.put(event)

    async def ask(self, request: Request) -> Answer:
        """Send `request` and wait for its answer. If canceled, send RequestClosed to the front ends.

        Raises WireClosed.
        """
        future = self.open_request(request)
        answer: Answer | None = None
        try:
            answer = await future
            return answer
        finally:  # an answer that arrives with the cancellation is too late
            self.close_request(request.id, was_answered=answer is not None)

    def open_request(self, request: Request) -> "asyncio.Future[Answer]":
        """Send `request` and return its future answer. `close_request` must follow. Raises WireClosed."""
        if self._closed:
            raise WireClosed
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open_requests[request.id] = (request, future)
        self.send(request)
        return future

    def close_request(self, request_id: str, *, was_answered: bool) -> None:
        """Remove a request and cancel its future answer. No effect if the request isn't open.

        Unless the request `was_answered`, send RequestClosed to the front ends.
        """
        if (open_request := self._open_requests.pop(request_id, None)) is None:
            return
        open_request[1].cancel()
        if not was_answered:
            self.send(RequestClosed(request_id))

    def close_requests(self) -> None:
        """Close all open requests without an answer."""
        for request_id in list(self._open_requests):
            self.close_request(request_id, was_answered=False)

    async def commands(self) -> AsyncIterator[Command]:
        """Yield commands until the Wire closes.

        Getting the next command marks the current one as done, unless `defer_completion` was called.
        """
        while (queued := await self._commands.get()) is not None:
            self._current_command = queued
            yield queued.command
            self._current_command = None
            if not queued.is_deferred:
                queued.complete()

    def defer_completion(self, work: "asyncio.Future[None]") -> None:
        """Mark the current command as done only when `work` has finished."""
        if (queued := self._current_command) is not None:
            queued.is_deferred = True
            work.add_done_callback(lambda _: queued.complete(_refusal(work)))

    def close(self) -> None:
        """Close all subscriptions, end the commands and cancel open requests."""
        self._closed = True
        for _, future in list(self._open_requests.values()):
            future.cancel()
        for completion in list(self._completions):
            completion.cancel()
        for subscription in self._subscriptions:
            subscription.close()
        self._commands.put_nowait(None)

    # front end side

    def subscribe(
        self, *, live_only: bool = False, merges: bool = True, fragments: bool = True
    ) -> Subscription:
        """Return a subscription to all messages sent after this call. With `live_only`, replays are left out.

        `merges`: whether adjacent queued fragments are merged. With `fragments=False`, fragments are left
        out and don't wake the subscriber.
        """
        subscription = Subscription(live_only=live_only, merges=merges, fragments=fragments)
        if self._closed:
            subscription.close()
        else:
            self._subscriptions = [each for each in self._subscriptions if not each.is_closed]
            self._subscriptions.append(subscription)
        return subscription

    def command(self, command: Command) -> None:
        """Send a command to the engine."""
        if not self._closed:
            self._commands.put_nowait(_QueuedCommand(command))

    async def command_and_wait(self, command: Command) -> None:
        """Send a command and wait until it is done. A Prompt is done when its turn can start.

        When this method returns, all events sent while the command ran are in the subscriptions.

        Raises: WireClosed if the engine has closed the Wire. KimiTuiError if the engine refuses the client's
        tools and hooks because another client has registered some.
        """
        if self._closed:
            raise WireClosed
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._commands.put_nowait(_QueuedCommand(command, done))
        self._completions.add(done)
        try:
            await asyncio.wait([done])
        finally:
            self._completions.discard(done)
        if done.cancelled():
            raise WireClosed
        done.result()

    def answer(self, answer: Answer) -> bool:
        """Send the answer to a request and return whether it was accepted.

        An answer is rejected if its request isn't open, was replayed, or expects another type of answer.
        """
        open_request = self._open_requests.get(_request_id(answer))
        if open_request is None:
            return False
        request, future = open_request
        if future.done() or not isinstance(answer, _ANSWER_TYPES[type(request)]):
            return False
        future.set_result(answer)
        return True

    @property
    def is_closed(self) -> bool:
        """Whether the engine has closed the Wire."""
        return self._closed


def _refusal(work: "asyncio.Future[None]") -> KimiTuiError | None:
    problem = None if work.cancelled() else work.exception()
    return problem if isinstance(problem, KimiTuiError) else None


def _request_id(answer: Answer) -> str:
    match answer:
        case ApprovalResponse(request_id=request_id):
            return request_id
        case QuestionResponse(request_id=request_id) | HookResponse(request_id=request_id):
            return request_id
        case ToolCallResponse(tool_call_id=request_id):
            return request_id


_ANSWER_TYPES: dict[type, type] = {
    ApprovalRequest: ApprovalResponse,
    QuestionRequest: QuestionResponse,
    ToolCallRequest: ToolCallResponse,
    HookRequest: HookResponse,
}
