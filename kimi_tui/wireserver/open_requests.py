"""Requests that the client has been sent, and its answers on their way back."""

import logging
from typing import Any, assert_never

from kimi_tui.base.json_rpc import RpcId
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.codec import UnknownWireMessage, decode
from kimi_tui.wire.events import ApprovalResponse, ToolReturn
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
from kimi_tui.wireserver.jsonrpc import Reply

logger = logging.getLogger(__name__)


class OpenRequests:
    """Those without an answer. Every request gets one: an error of the client, or nonsense, means no."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._open: dict[RpcId, Request] = {}

    def add(self, request: Request) -> None:
        """The client is asked."""
        self._open[request.id] = request

    def close(self, request_id: str) -> Request | None:
        """No answer is wanted any more. Returns the request if it was open."""
        return self._open.pop(request_id, None)

    def answer(self, reply: Reply) -> None:
        """Pass an answer on. One to a request that isn't open, such as a replayed one, is dropped."""
        request = self._open.pop(reply.id, None)
        if request is None:
            logger.info("an answer to no open request: %r", reply.id)
            return
        self._wire.answer(_answer_in(request, reply) or _refusal(request, reply.error))


def _answer_in(request: Request, reply: Reply) -> Answer | None:
    """The answer in a result; None when there is none that fits."""
    if reply.error or not isinstance(reply.result, dict):
        return None
    match request:
        case ApprovalRequest():
            kind: type[Answer] = ApprovalResponse
        case QuestionRequest():
            kind = QuestionResponse
        case ToolCallRequest():
            kind = ToolCallResponse
        case HookRequest():
            kind = HookResponse
        case _:
            assert_never(request)
    name = "tool_call_id" if kind is ToolCallResponse else "request_id"
    given = {key: value for key, value in reply.result.items() if value is not None}
    payload: dict[str, Any] = {**given, name: request.id}
    try:
        answer = decode({"type": kind.__name__, "payload": payload})
    except UnknownWireMessage:
        logger.warning("an answer to %s %s doesn't fit", type(request).__name__, request.id, exc_info=True)
        return None
    return answer if isinstance(answer, kind) else None


def _refusal(request: Request, error: str) -> Answer:
    """What counts when the client gave no answer that can be used."""
    match request:
        case ApprovalRequest():
            return ApprovalResponse(request.id, "reject")
        case QuestionRequest():
            return QuestionResponse(request.id, {})
        case ToolCallRequest():
            why = error or "its result can't be read"
            return ToolCallResponse(
                request.id,
                ToolReturn(is_error=True, message=f"The client could not run {request.name}: {why}."),
            )
        case HookRequest():
            return HookResponse(request.id)
        case _:
            assert_never(request)
