"""Requests from MCP servers during a call: elicitation over the Wire, sampling with the user's consent."""

import asyncio
import webbrowser
from collections.abc import Sequence
from contextlib import aclosing
from urllib.parse import urlsplit

from kimi_tui.base.content_parts import TextPart, text_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.ids import new_id
from kimi_tui.base.terminal_text import show_invisible
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.mcp.client_handler import ElicitationRequest, ElicitationResult, SamplingRequest, SamplingResult
from kimi_tui.mcp.elicitation import (
    DECLINE,
    OMITTED,
    OPEN_LINK,
    FormField,
    InvalidAnswer,
    build_consent_question,
    build_fields,
    build_link_question,
)
from kimi_tui.permission.rule import SAMPLING
from kimi_tui.permission.subject import McpSubject
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.usage_totals import UsageTotals
from kimi_tui.tools.approval import Approval, ToolRejected
from kimi_tui.tools.tool import CallContext
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.display_blocks import BriefBlock
from kimi_tui.wire.requests import Question, QuestionRequest, QuestionResponse

_MAX_QUESTIONS = 4
"""Maximum number of questions in one request."""
_MAX_SHOWN_CHARACTERS = 4_000


class McpServerRequests:
    """Implements `mcp.server.ServerRequests` for a session."""

    def __init__(
        self,
        wire: Wire,
        *,
        approval: Approval,
        runtime_settings: RuntimeSettings,
        usage_totals: UsageTotals,
    ) -> None:
        self._wire = wire
        self._approval = approval
        self._runtime_settings = runtime_settings
        self._usage_totals = usage_totals

    async def elicit(self, server: str, call: CallContext, request: ElicitationRequest) -> ElicitationResult:
        """Ask the user. A dismissed question cancels the request; the answer DECLINE declines the request."""
        if request.schema is None:
            return await self._open_url(server, call, request)
        fields = build_fields(request.message, request.schema, server=server)
        if not fields:
            answers = await self._ask(call, [build_consent_question(request.message, server=server)])
            if not answers:
                return ElicitationResult("cancel")
            return ElicitationResult("decline") if DECLINE in answers else ElicitationResult("accept", {})
        content: dict[str, object] = {}
        remaining = list(fields)
        while remaining:
            batch, remaining = remaining[:_MAX_QUESTIONS], remaining[_MAX_QUESTIONS:]
            answers = await self._ask(call, [field.question for field in batch])
            if len(answers) < len(batch):
                return ElicitationResult("cancel")
            if DECLINE in answers:
                return ElicitationResult("decline")
            remaining = [*_collect_answers(batch, answers, content), *remaining]
        return ElicitationResult("accept", content)

    async def sample(self, server: str, call: CallContext, request: SamplingRequest) -> SamplingResult:
        """Return the model's response. Raises KimiTuiError if the user rejects the request."""
        messages = "\n\n".join(f"{it.role}: {text_of(it.content)}" for it in request.messages)
        system_prompt = f"System prompt: {request.system_prompt}\n\n" if request.system_prompt else ""
        try:
            await self._approval.request(
                call,
                action="use the model",
                description=f"{server} wants to send a request to the model at your cost",
                subject=McpSubject(server, SAMPLING),
                display=(BriefBlock(_preview(system_prompt + messages)),),
            )
        except ToolRejected as rejection:
            raise KimiTuiError("The user rejected the request.") from rejection
        llm = self._runtime_settings.require_llm()
        texts: list[str] = []
        usage: TokenUsage | None = None
        try:
            async with aclosing(
                llm.chat_provider.generate(request.system_prompt, (), request.messages)
            ) as stream:
                async for part in stream:
                    match part:
                        case TextPart(text):
                            texts.append(text)
                        case TokenUsage():
                            usage = part
                        case _:
                            pass
        finally:
            if usage is not None:
                self._usage_totals.add(usage, llm)
        return SamplingResult("".join(texts), llm.chat_provider.model_name)

    async def _open_url(
        self, server: str, call: CallContext, request: ElicitationRequest
    ) -> ElicitationResult:
        if urlsplit(request.url).scheme not in ("http", "https"):
            return ElicitationResult("decline")
        answers = await self._ask(call, [build_link_question(request.message, request.url, server=server)])
        if not answers:
            return ElicitationResult("cancel")
        if DECLINE in answers:
            return ElicitationResult("decline")
        if OPEN_LINK in answers:
            await asyncio.to_thread(webbrowser.open, request.url)
        return ElicitationResult("accept")

    async def _ask(self, call: CallContext, questions: Sequence[Question]) -> list[str]:
        """Return the answers in the order of the questions; fewer if the user dismissed them."""
        request = QuestionRequest(new_id(), call.id, tuple(questions))
        response = await self._wire.ask(request)
        if not isinstance(response, QuestionResponse):
            raise TypeError(f"a question was answered with {type(response).__name__}")
        answers = (response.answers.get(question.question) for question in questions)
        return [answer for answer in answers if answer is not None]


def _collect_answers(
    fields: Sequence[FormField], answers: Sequence[str], content: dict[str, object]
) -> list[FormField]:
    """Add the values to `content`. Return the fields with invalid answers."""
    invalid = []
    for field, answer in zip(fields, answers, strict=True):
        try:
            value = field.parse(answer)
        except InvalidAnswer as error:
            invalid.append(field.retry(str(error)))
            continue
        if value is not OMITTED:
            content[field.name] = value
    return invalid


def _preview(text: str) -> str:
    """Return the beginning of the request for display, with invisible characters made visible."""
    hidden = len(text) - _MAX_SHOWN_CHARACTERS
    return show_invisible(text[:_MAX_SHOWN_CHARACTERS]) + (
        f"\n[{hidden:,} more characters not shown]" if hidden > 0 else ""
    )
