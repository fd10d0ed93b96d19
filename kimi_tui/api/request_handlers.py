"""Handlers for the engine's requests, as functions of the program that uses the API."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar, assert_never

from kimi_tui.base.errors import UsageError
from kimi_tui.wire.events import ApprovalAnswer, ApprovalResponse, ToolReturn
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

T = TypeVar("T")

Approval = bool | ApprovalAnswer | ApprovalResponse
"""True or False, an ApprovalAnswer, or an ApprovalResponse. The model sees the feedback in the response."""
Approve = Callable[[ApprovalRequest], Approval | Awaitable[Approval]]
AnswerQuestions = Callable[[QuestionRequest], Mapping[str, str] | Awaitable[Mapping[str, str]]]
"""Returns answers by question text. Unanswered questions are omitted."""

NO_HANDLER_FEEDBACK = (
    "the program that runs you doesn't approve tool calls. Continue without this call, or finish with what"
    " you have and say what is missing."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHandlers:
    """Functions that handle requests. None: requests of that kind are rejected."""

    approve: Approve | None = None
    answer: AnswerQuestions | None = None

    async def resolve_request(self, request: Request) -> Answer:
        """Return the answer to `request`.

        Raises the errors of the handler, and UsageError if the handler returns an invalid value.
        """
        match request:
            case ApprovalRequest():
                if self.approve is None:
                    return ApprovalResponse(request.id, "reject", NO_HANDLER_FEEDBACK)
                return _to_approval_response(request.id, await _await_value(self.approve(request)))
            case QuestionRequest():
                if self.answer is None:
                    return QuestionResponse(request.id, {}, unanswerable=True)
                return QuestionResponse(request.id, dict(await _await_value(self.answer(request))))
            case ToolCallRequest() | HookRequest():
                return decline(request)
            case _:
                assert_never(request)


def decline(request: Request) -> Answer:
    """Return the answer that rejects `request`."""
    match request:
        case ApprovalRequest():
            return ApprovalResponse(request.id, "reject")
        case QuestionRequest():
            return QuestionResponse(request.id, {}, unanswerable=True)
        case ToolCallRequest():
            error = ToolReturn(is_error=True, message="No client is available to run this tool.")
            return ToolCallResponse(request.id, error)
        case HookRequest():
            return HookResponse(request.id)
        case _:
            assert_never(request)


def _to_approval_response(request_id: str, result: object) -> ApprovalResponse:
    match result:
        case ApprovalResponse():
            return result
        case True | "approve":
            return ApprovalResponse(request_id, "approve")
        case "approve_for_session":
            return ApprovalResponse(request_id, "approve_for_session")
        case "approve_always":
            return ApprovalResponse(request_id, "approve_always")
        case False | "reject":
            return ApprovalResponse(request_id, "reject")
        case _:
            raise UsageError(
                f"`approve` returned an invalid answer: {result!r}.",
                hint="Return True, False, “approve_for_session”, or an ApprovalResponse.",
            )


async def _await_value(result: T | Awaitable[T]) -> T:
    if inspect.isawaitable(result):
        value: T = await result
        return value
    return result
