"""What MCP servers ask during a call: the user over the Wire, the model with the user's consent."""

import asyncio
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import aclosing
from urllib.parse import urlsplit

from kimi_tui.base.content import TextPart, text_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.identity import new_id
from kimi_tui.base.terminal import revealed
from kimi_tui.base.usage import TokenUsage
from kimi_tui.llm.provider import LLM
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.tools.approval import Approval, McpSubject, ToolRejected
from kimi_tui.tools.mcp.elicitation import (
    DECLINE,
    LEFT_OUT,
    OPEN_LINK,
    BadAnswer,
    Field,
    consent_question,
    fields_of,
    link_question,
)
from kimi_tui.tools.mcp.listener import Elicitation, Elicited, Sampled, Sampling
from kimi_tui.tools.permission.rule import SAMPLING
from kimi_tui.tools.tool import RunningCall
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.display import BriefBlock
from kimi_tui.wire.requests import Question, QuestionRequest, QuestionResponse

_AT_ONCE = 4
"""How many questions a request holds."""
_SHOWN = 4_000


class McpAsking:
    """`tools.mcp.server.Asking` for a session."""

    def __init__(
        self,
        wire: Wire,
        *,
        approval: Approval,
        behaviour: Behaviour,
        spend: Callable[[TokenUsage, LLM], None],
        open_link: Callable[[str], bool] = webbrowser.open,
    ) -> None:
        self._wire = wire
        self._approval = approval
        self._behaviour = behaviour
        self._spend = spend
        self._open_link = open_link

    async def elicit(self, server: str, call: RunningCall, wanted: Elicitation) -> Elicited:
        """Ask the user. To dismiss the question is to cancel; there is a choice to decline."""
        if wanted.schema is None:
            return await self._visit(server, call, wanted)
        fields = fields_of(wanted.message, wanted.schema, server=server)
        if not fields:
            answers = await self._ask(call, [consent_question(wanted.message, server=server)])
            if not answers:
                return Elicited("cancel")
            return Elicited("decline") if DECLINE in answers else Elicited("accept", {})
        content: dict[str, object] = {}
        waiting = list(fields)
        while waiting:
            asked, waiting = waiting[:_AT_ONCE], waiting[_AT_ONCE:]
            answers = await self._ask(call, [field.question for field in asked])
            if len(answers) < len(asked):
                return Elicited("cancel")
            if DECLINE in answers:
                return Elicited("decline")
            waiting = [*_taken(asked, answers, content), *waiting]
        return Elicited("accept", content)

    async def sample(self, server: str, call: RunningCall, wanted: Sampling) -> Sampled:
        """Have the model answer, when the user allows it. Raises KimiTuiError."""
        asked = "\n\n".join(f"{it.role}: {text_of(it.content)}" for it in wanted.messages)
        told = f"It is told: {wanted.system_prompt}\n\n" if wanted.system_prompt else ""
        try:
            await self._approval.request(
                call,
                action="use the model",
                description=f"{server} wants to ask the model, at your cost",
                subject=McpSubject(server, SAMPLING),
                display=(BriefBlock(_shown(told + asked)),),
            )
        except ToolRejected as rejection:
            raise KimiTuiError("The user does not allow it.") from rejection
        llm = self._behaviour.require_llm()
        texts: list[str] = []
        usage: TokenUsage | None = None
        try:
            async with aclosing(
                llm.chat_provider.generate(wanted.system_prompt, (), wanted.messages)
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
                self._spend(usage, llm)
        return Sampled("".join(texts), llm.chat_provider.model_name)

    async def _visit(self, server: str, call: RunningCall, wanted: Elicitation) -> Elicited:
        if urlsplit(wanted.url).scheme not in ("http", "https"):
            return Elicited("decline")
        answers = await self._ask(call, [link_question(wanted.message, wanted.url, server=server)])
        if not answers:
            return Elicited("cancel")
        if DECLINE in answers:
            return Elicited("decline")
        if OPEN_LINK in answers:
            await asyncio.to_thread(self._open_link, wanted.url)
        return Elicited("accept")

    async def _ask(self, call: RunningCall, questions: Sequence[Question]) -> list[str]:
        """The answers in the order of the questions; fewer when the user dismissed them."""
        request = QuestionRequest(new_id(), call.id, tuple(questions))
        answer = await self._wire.ask(request)
        if not isinstance(answer, QuestionResponse):
            raise TypeError(f"a question was answered with {type(answer).__name__}")
        given = (answer.answers.get(question.question) for question in questions)
        return [text for text in given if text is not None]


def _taken(fields: Sequence[Field], answers: Sequence[str], content: dict[str, object]) -> list[Field]:
    """Put the values into `content`; the fields whose answers are none, to be asked again."""
    again = []
    for field, answer in zip(fields, answers, strict=True):
        try:
            value = field.read(answer)
        except BadAnswer as problem:
            again.append(field.again(str(problem)))
            continue
        if value is not LEFT_OUT:
            content[field.name] = value
    return again


def _shown(text: str) -> str:
    """The beginning of what the model would be told, with everything in it to be seen."""
    left_out = len(text) - _SHOWN
    return revealed(text[:_SHOWN]) + (
        f"\n[{left_out:,} more characters are not shown]" if left_out > 0 else ""
    )
