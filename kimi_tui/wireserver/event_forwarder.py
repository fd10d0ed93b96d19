"""Forwards the engine's events and requests to the client."""

import asyncio

from kimi_tui.wire.channel import Outgoing, Subscription, Wire
from kimi_tui.wire.codec import encode
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwBegin,
    BtwEnd,
    Notification,
    RequestClosed,
    SessionInfo,
    StatusUpdate,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest, QuestionResponse, Request
from kimi_tui.wireserver.client import WireClient
from kimi_tui.wireserver.jsonrpc import ErrorCode, RpcError
from kimi_tui.wireserver.pending_requests import PendingRequests
from kimi_tui.wireserver.session_status import SessionStatus
from kimi_tui.wireserver.turn_result import build_turn_result


class EventForwarder:
    """Subscribes to the Wire. Answers a prompt after its turn has ended and all its events were sent."""

    def __init__(
        self, *, wire: Wire, client: WireClient, status: SessionStatus, requests: PendingRequests
    ) -> None:
        self._wire = wire
        self._client = client
        self._status = status
        self._requests = requests
        self._subscription: Subscription = wire.subscribe(
            live_only=True,  # clients request replays explicitly
            merges=client.dialect is None,
        )
        self._held: list[Outgoing] | None = []
        """Events from before the client's first call; None after they were sent."""
        self._side_questions: set[str] = set()
        """Ids of unanswered side questions."""
        self._is_sending = False
        self._idle = asyncio.Event()

    async def forward_events(self) -> None:
        """Forward the engine's messages until the Wire closes."""
        try:
            while batch := await self._subscription.drain():
                self._is_sending = True
                for message in batch:
                    await self._forward(message)
                self._is_sending = False
                self._idle.set()
        finally:
            self._is_sending = False
            self._idle.set()
            if (call := self._status.prompt) is not None:
                self._status.prompt = None
                error = RpcError(
                    ErrorCode.INTERNAL, "The session ended during the turn. See the log for details."
                )
                self._client.reject(call, error)

    async def send_held_events(self) -> None:
        """Send the events from before the client's first call that the client supports."""
        held, self._held = self._held or (), None
        for message in held:
            is_for_kimi_cli = (
                self._client.dialect is not None
                and isinstance(message, StatusUpdate)
                and message.mcp_status is not None
            )
            if (
                self._client.capabilities.supports_timeline
                or is_for_kimi_cli
                or isinstance(message, Notification)
            ):
                await self._client.send(encode(message))

    async def wait_until_idle(self) -> None:
        """Return when all events so far are sent and all side questions are answered."""
        while self._subscription.has_pending or self._is_sending or self._side_questions:
            self._idle.clear()
            await self._idle.wait()

    async def _forward(self, message: Outgoing) -> None:
        match message:
            case SessionInfo():
                self._status.update_info(message)
                if self._client.dialect is not None:
                    self._client.dialect.update_info(message)
            case TurnBegin():
                self._status.begin_turn(message)
            case RequestClosed(request_id=request_id):
                await self._close_request(message, request_id)
                return
            case ApprovalResponse(request_id=request_id):
                self._requests.close(request_id)  # another client may have answered the request
            case BtwBegin(id=question_id):
                self._side_questions.add(question_id)
            case BtwEnd(id=question_id):
                self._side_questions.discard(question_id)
            case QuestionRequest(id=request_id) if not self._can_anyone_answer:
                self._wire.answer(QuestionResponse(request_id, {}, unanswerable=True))
                return
        if isinstance(message, Request):
            self._requests.add(message)
        if self._held is not None:
            self._held.append(message)
            if isinstance(message, TurnEnd):
                self._status.end_turn()
            return
        await self._client.send(encode(message))
        if isinstance(message, TurnEnd):
            self._end_turn(message)

    @property
    def _can_anyone_answer(self) -> bool:
        """Whether this client, or another one of the session, can show questions."""
        info = self._status.info
        return self._client.capabilities.supports_question or (info is not None and info.resident)

    async def _close_request(self, message: RequestClosed, request_id: str) -> None:
        request = self._requests.close(request_id)
        if self._client.capabilities.supports_timeline:
            await self._client.send(encode(message))
        elif isinstance(request, ApprovalRequest):
            response = ApprovalResponse(request_id, "reject", "The turn was interrupted.")
            await self._client.send(encode(response))

    def _end_turn(self, turn: TurnEnd) -> None:
        call = self._status.end_turn()
        if call is None:
            return
        try:
            self._client.send_result(call.id, build_turn_result(turn))
        except RpcError as error:
            self._client.reject(call, error)
