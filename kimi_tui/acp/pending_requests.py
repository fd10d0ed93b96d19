"""The engine's requests that the client hasn't answered yet."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import assert_never

from acp.schema import AllowedOutcome, ToolCallUpdate

from kimi_tui.acp.client import AcpClient, ClientDisconnected, ClientRequestError
from kimi_tui.acp.permission_options import parse_outcome, permission_options
from kimi_tui.acp.question_forms import build_choices, build_form, chosen_label, parse_answers, question_text
from kimi_tui.acp.session_update_translator import SessionUpdateTranslator
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


class AcpPendingRequests:
    """Asks the client in background tasks, so that session updates continue.

    An error or an invalid result counts as a rejection. If the client disconnects, its requests stay open for
    other clients of the session.
    """

    def __init__(self, *, client: AcpClient, wire: Wire, tasks: asyncio.TaskGroup) -> None:
        self._client = client
        self._wire = wire
        self._tasks = tasks
        self._open: dict[str, asyncio.Task[None]] = {}

    async def ask(self, request: Request, *, session_id: str, translator: SessionUpdateTranslator) -> None:
        """Send `request` to the client. The answer is forwarded to the engine in the background."""
        match request:
            case ApprovalRequest():
                started, call = translator.build_permission_update(request)
                for update in started:
                    await self._client.send_update(session_id, update)
                self._start_request(request.id, lambda: self._ask_permission(request, session_id, call))
            case QuestionRequest() if self._client.supports_forms:
                call_id = translator.client_call_id(request.tool_call_id)
                self._start_request(request.id, lambda: self._ask_form(request, session_id, call_id))
            case QuestionRequest():
                self._start_request(request.id, lambda: self._ask_choices(request, session_id, translator))
            case ToolCallRequest():
                unavailable = ToolReturn(is_error=True, message="No client is available to run this tool.")
                self._wire.answer(ToolCallResponse(request.id, unavailable))
            case HookRequest():
                self._wire.answer(HookResponse(request.id))
            case _:
                assert_never(request)

    def close(self, request_id: str) -> None:
        """Stop waiting for the answer to a request."""
        task = self._open.pop(request_id, None)
        if task is not None:
            task.cancel()

    def close_all(self) -> None:
        """Stop waiting for all answers."""
        for request_id in list(self._open):
            self.close(request_id)

    def _start_request(self, request_id: str, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            try:
                await work()
            except ClientDisconnected:
                logger.info("the client left without an answer")

        task = self._tasks.create_task(run())
        self._open[request_id] = task
        task.add_done_callback(lambda _: self._open.pop(request_id, None))

    async def _ask_permission(self, request: ApprovalRequest, session_id: str, call: ToolCallUpdate) -> None:
        try:
            response = await self._client.ask_permission(session_id, call, permission_options(request))
        except ClientDisconnected:
            raise
        except ClientRequestError as error:
            logger.warning("a permission request failed: %s", error)
            self._wire.answer(ApprovalResponse(request.id, "reject"))
            return
        answer = parse_outcome(response, request)
        if answer is None:
            self._wire.command(Interrupt())
        else:
            self._wire.answer(ApprovalResponse(request.id, answer))

    async def _ask_form(self, request: QuestionRequest, session_id: str, call_id: str | None) -> None:
        form = build_form(request, session_id=session_id, tool_call_id=call_id)
        try:
            answers = parse_answers(await self._client.ask_form(form), request)
        except ClientDisconnected:
            raise
        except ClientRequestError as error:
            self._answer_as_unanswerable(request, error)
        else:
            self._wire.answer(QuestionResponse(request.id, answers))

    async def _ask_choices(
        self, request: QuestionRequest, session_id: str, translator: SessionUpdateTranslator
    ) -> None:
        """Ask each question as a permission request. All clients support these."""
        answers: dict[str, str] = {}
        for question in request.questions:
            started, call = translator.build_question_update(request.tool_call_id, question_text(question))
            for update in started:
                await self._client.send_update(session_id, update)
            try:
                response = await self._client.ask_permission(session_id, call, build_choices(question))
            except ClientDisconnected:
                raise
            except ClientRequestError as error:
                self._answer_as_unanswerable(request, error)
                return
            for answered in translator.resolve_request(request.tool_call_id):
                await self._client.send_update(session_id, answered)
            if not isinstance(response.outcome, AllowedOutcome):
                self._wire.command(Interrupt())
                return
            if answer := chosen_label(response.outcome.option_id, question):
                answers[question.question] = answer
        self._wire.answer(QuestionResponse(request.id, answers))

    def _answer_as_unanswerable(self, request: QuestionRequest, error: ClientRequestError) -> None:
        logger.warning("a question couldn't be asked: %s", error)
        self._wire.answer(QuestionResponse(request.id, {}, unanswerable=True))
