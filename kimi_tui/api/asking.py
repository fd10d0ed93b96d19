"""Requests of the engine, answered by functions of the program that uses the API."""

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
"""Yes or no; a word of ApprovalAnswer; or an ApprovalResponse, whose feedback the model reads."""
Approve = Callable[[ApprovalRequest], Approval | Awaitable[Approval]]
AnswerQuestions = Callable[[QuestionRequest], Mapping[str, str] | Awaitable[Mapping[str, str]]]
"""Answers by the question's text; none for no answer."""

NOBODY = (
    "the program that runs you approves nothing here. Go on without it, or end with what you have and name"
    " what is missing."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who is asked for what; None for nobody."""

    approve: Approve | None = None
    answer: AnswerQuestions | None = None

    async def answered(self, request: Request) -> Answer:
        """The answer to `request`. Raises what the function raises, and UsageError for what is no answer."""
        match request:
            case ApprovalRequest():
                if self.approve is None:
                    return ApprovalResponse(request.id, "reject", NOBODY)
                return _approval(request.id, await _value(self.approve(request)))
            case QuestionRequest():
                if self.answer is None:
                    return QuestionResponse(request.id, {}, unanswerable=True)
                return QuestionResponse(request.id, dict(await _value(self.answer(request))))
            case ToolCallRequest() | HookRequest():
                return declined(request)
            case _:
                assert_never(request)


def declined(request: Request) -> Answer:
    """The answer to `request` that lets nothing happen."""
    match request:
        case ApprovalRequest():
            return ApprovalResponse(request.id, "reject")
        case QuestionRequest():
            return QuestionResponse(request.id, {}, unanswerable=True)
        case ToolCallRequest():
            nobody = ToolReturn(is_error=True, message="Nobody is here to run this tool.")
            return ToolCallResponse(request.id, nobody)
        case HookRequest():
            return HookResponse(request.id)
        case _:
            assert_never(request)


def _approval(request_id: str, told: object) -> ApprovalResponse:
    match told:
        case ApprovalResponse():
            return told
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
                f"`approve` returned {told!r}, which is no answer.",
                hint="Return True, False, “approve_for_session”, or an ApprovalResponse.",
            )


async def _value(told: T | Awaitable[T]) -> T:
    if inspect.isawaitable(told):
        value: T = await told
        return value
    return told
