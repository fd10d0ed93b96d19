"""Requests of the engine that the client has been asked, and its answers on their way back."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import assert_never

from acp.schema import AllowedOutcome, ToolCallUpdate

from kimi_tui.acp.client import Client, ClientRefused
from kimi_tui.acp.narrator import Narrator
from kimi_tui.acp.permission import answer_in, options_for
from kimi_tui.acp.questions import answers_in, choices_for, chosen_label, form_of, in_words
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Interrupt
from kimi_tui.wire.events import ApprovalResponse, ToolReturn
from kimi_tui.wire.requests import (
    ApprovalRequest,
    HookRequest,
    HookResponse,
    QuestionRequest,
    QuestionResponse,
    Request,
    ToolCallRequest,
    ToolCallResponse,
)

logger = logging.getLogger(__name__)


class Asking:
    """Asks beside the session's updates. Every request gets an answer: an error or nonsense means no."""

    def __init__(self, *, client: Client, wire: Wire, tasks: asyncio.TaskGroup) -> None:
        self._client = client
        self._wire = wire
        self._tasks = tasks
        self._open: dict[str, asyncio.Task[None]] = {}

    async def ask(self, request: Request, *, session_id: str, narrator: Narrator) -> None:
        """Put `request` to the client; its answer goes to the engine when it comes."""
        match request:
            case ApprovalRequest():
                started, call = narrator.asked(request)
                for update in started:
                    await self._client.update(session_id, update)
                self._begin(request.id, lambda: self._consent(request, session_id, call))
            case QuestionRequest() if self._client.takes_forms:
                call_id = narrator.shown_id(request.tool_call_id)
                self._begin(request.id, lambda: self._form(request, session_id, call_id))
            case QuestionRequest():
                self._begin(request.id, lambda: self._choices(request, session_id, narrator))
            case ToolCallRequest():
                refusal = ToolReturn(is_error=True, message="The client runs no tools of its own.")
                self._wire.answer(ToolCallResponse(request.id, refusal))
            case HookRequest():
                self._wire.answer(HookResponse(request.id))
            case _:
                assert_never(request)

    def close(self, request_id: str) -> None:
        """No answer is wanted any more."""
        asking = self._open.pop(request_id, None)
        if asking is not None:
            asking.cancel()

    def close_all(self) -> None:
        """None is wanted to any request."""
        for request_id in list(self._open):
            self.close(request_id)

    def _begin(self, request_id: str, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            await work()

        task = self._tasks.create_task(run())
        self._open[request_id] = task
        task.add_done_callback(lambda _: self._open.pop(request_id, None))

    async def _consent(self, request: ApprovalRequest, session_id: str, call: ToolCallUpdate) -> None:
        try:
            response = await self._client.ask_permission(session_id, call, options_for(request))
        except ClientRefused as error:
            logger.warning("the client gave no consent: %s", error)
            self._wire.answer(ApprovalResponse(request.id, "reject"))
            return
        answer = answer_in(response, request)
        if answer is None:
            self._wire.command(Interrupt())
        else:
            self._wire.answer(ApprovalResponse(request.id, answer))

    async def _form(self, request: QuestionRequest, session_id: str, call_id: str | None) -> None:
        form = form_of(request, session_id=session_id, tool_call_id=call_id)
        try:
            answers = answers_in(await self._client.ask_form(form), request)
        except ClientRefused as error:
            self._leave_unanswered(request, error)
        else:
            self._wire.answer(QuestionResponse(request.id, answers))

    async def _choices(self, request: QuestionRequest, session_id: str, narrator: Narrator) -> None:
        """Question by question, as if consent were asked for: every client knows that."""
        answers: dict[str, str] = {}
        for question in request.questions:
            started, call = narrator.questioned(request.tool_call_id, in_words(question))
            for update in started:
                await self._client.update(session_id, update)
            try:
                response = await self._client.ask_permission(session_id, call, choices_for(question))
            except ClientRefused as error:
                self._leave_unanswered(request, error)
                return
            for answered in narrator.answered(request.tool_call_id):
                await self._client.update(session_id, answered)
            if not isinstance(response.outcome, AllowedOutcome):
                self._wire.command(Interrupt())
                return
            if answer := chosen_label(response.outcome.option_id, question):
                answers[question.question] = answer
        self._wire.answer(QuestionResponse(request.id, answers))

    def _leave_unanswered(self, request: QuestionRequest, error: ClientRefused) -> None:
        logger.warning("the client asked no question: %s", error)
        self._wire.answer(QuestionResponse(request.id, {}, unanswerable=True))
