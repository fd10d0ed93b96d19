"""Requests that the client hasn't answered yet."""

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
from kimi_tui.wireserver.jsonrpc import RpcReply

logger = logging.getLogger(__name__)


class PendingRequests:
    """Tracks open requests. Every request gets an answer: errors and invalid results count as rejections."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._open: dict[RpcId, Request] = {}

    def add(self, request: Request) -> None:
        """Track a request that is sent to the client."""
        self._open[request.id] = request

    def close(self, request_id: str) -> Request | None:
        """Stop waiting for an answer to a request. Return the request, or None if it wasn't open."""
        return self._open.pop(request_id, None)

    def answer(self, reply: RpcReply) -> None:
        """Pass a reply to the engine.

        A reply to a request that isn't open, such as a replayed one, is ignored.
        """
        request = self._open.pop(reply.id, None)
        if request is None:
            logger.info("ignored a reply to a request that isn't open: %r", reply.id)
            return
        self._wire.answer(_parse_answer(request, reply) or _build_rejection(request, reply.error))


def _parse_answer(request: Request, reply: RpcReply) -> Answer | None:
    """Return the answer in a reply; None if the reply has no valid answer."""
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
    fields = {key: value for key, value in reply.result.items() if value is not None}
    payload: dict[str, Any] = {**fields, name: request.id}
    try:
        answer = decode({"type": kind.__name__, "payload": payload})
    except UnknownWireMessage:
        logger.warning("invalid answer to %s %s", type(request).__name__, request.id, exc_info=True)
        return None
    return answer if isinstance(answer, kind) else None


def _build_rejection(request: Request, error: str) -> Answer:
    """Return the answer to use if the client gave no valid one."""
    match request:
        case ApprovalRequest():
            return ApprovalResponse(request.id, "reject")
        case QuestionRequest():
            return QuestionResponse(request.id, {})
        case ToolCallRequest():
            reason = error or "invalid result"
            return ToolCallResponse(
                request.id,
                ToolReturn(is_error=True, message=f"The client couldn't run {request.name}: {reason}."),
            )
        case HookRequest():
            return HookResponse(request.id)
        case _:
            assert_never(request)
