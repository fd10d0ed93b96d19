"""What the engine says, passed on to the client as far as it is for it."""

import asyncio

from kimi_tui.wire.channel import REQUESTS, Outgoing, Subscription, Wire
from kimi_tui.wire.codec import encode
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwBegin,
    BtwEnd,
    Notification,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    SessionInfo,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest, QuestionResponse
from kimi_tui.wireserver.client import Client
from kimi_tui.wireserver.jsonrpc import ErrorCode, RpcError
from kimi_tui.wireserver.open_requests import OpenRequests
from kimi_tui.wireserver.outcome import result_of
from kimi_tui.wireserver.served import Served


class Showing:
    """Follows the Wire. A prompt is answered here, once its turn has ended and all of it was shown."""

    def __init__(self, *, wire: Wire, client: Client, served: Served, requests: OpenRequests) -> None:
        self._wire = wire
        self._client = client
        self._served = served
        self._requests = requests
        self._subscription: Subscription = wire.subscribe()
        self._held: list[Outgoing] | None = []
        """What the session told before the client's first word; None from then on."""
        self._side_questions: set[str] = set()
        """Those that wait for their answer."""
        self._is_replay = False
        self._showing = False
        self._quiet = asyncio.Event()

    async def follow(self) -> None:
        """Pass on what the engine sends, until the Wire closes."""
        try:
            while batch := await self._subscription.drain():
                self._showing = True
                for message in batch:
                    await self._show(message)
                self._showing = False
                self._quiet.set()
        finally:
            self._showing = False
            self._quiet.set()
            if (call := self._served.prompt) is not None:
                self._served.prompt = None
                ended = RpcError(ErrorCode.INTERNAL, "The session ended before the turn did. See the log.")
                self._client.refuse(call, ended)

    async def greet(self) -> None:
        """The client has spoken: tell what happened before, as far as it is news to it."""
        held, self._held = self._held or (), None
        for message in held:
            if self._client.capabilities.supports_timeline or isinstance(message, Notification):
                await self._client.show(encode(message))

    async def settled(self) -> None:
        """Return when all that was said so far is shown, and no side question waits."""
        while self._subscription.has_pending or self._showing or self._side_questions:
            self._quiet.clear()
            await self._quiet.wait()

    async def _show(self, message: Outgoing) -> None:
        if isinstance(message, ReplayBegin | ReplayEnd):
            self._is_replay = isinstance(message, ReplayBegin)
            return
        if self._is_replay:
            return  # the client asks for a replay when it wants one
        match message:
            case SessionInfo():
                self._served.introduce(message)
            case TurnBegin():
                self._served.in_turn = True
            case RequestClosed(request_id=request_id):
                await self._close_request(message, request_id)
                return
            case BtwBegin(id=question_id):
                self._side_questions.add(question_id)
            case BtwEnd(id=question_id):
                self._side_questions.discard(question_id)
            case QuestionRequest(id=request_id) if not self._client.capabilities.supports_question:
                self._wire.answer(QuestionResponse(request_id, {}, unanswerable=True))
                return
        if isinstance(message, REQUESTS):
            self._requests.add(message)
        if self._held is not None:
            self._held.append(message)
            return
        await self._client.show(encode(message))
        if isinstance(message, TurnEnd):
            self._end_turn(message)

    async def _close_request(self, message: RequestClosed, request_id: str) -> None:
        request = self._requests.close(request_id)
        if self._client.capabilities.supports_timeline:
            await self._client.show(encode(message))
        elif isinstance(request, ApprovalRequest):
            closed = ApprovalResponse(request_id, "reject", "The turn was interrupted.")
            await self._client.show(encode(closed))

    def _end_turn(self, turn: TurnEnd) -> None:
        self._served.in_turn = False
        call, self._served.prompt = self._served.prompt, None
        if call is None:
            return
        try:
            self._client.result(call.id, result_of(turn))
        except RpcError as error:
            self._client.refuse(call, error)
