"""Side questions: answered from the conversation while turns continue, and not added to the conversation."""

import asyncio
import logging

from kimi_tui.base.content_parts import TextPart, system_note
from kimi_tui.base.errors import APIEmptyResponseError, KimiTuiError, UsageError
from kimi_tui.base.ids import new_id
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.base.redaction import redact
from kimi_tui.engine.slash.registry import SlashCommand
from kimi_tui.history.context import Context
from kimi_tui.history.message_history import complete_tool_results
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.call_ids import CallIds
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.modalities import drop_unsupported_media
from kimi_tui.soul.model_call import ModelCall, ResponseInterrupted
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.soul import Soul
from kimi_tui.soul.usage_totals import UsageTotals
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import BtwBegin, BtwEnd

logger = logging.getLogger(__name__)

_INSTRUCTIONS = (
    "The user is asking a side question. Answer the question below briefly, from what you already know. "
    "You can't call tools here. Neither the question nor your response becomes part of the conversation."
)
_TEXT_ONLY_INSTRUCTIONS = f"{_INSTRUCTIONS} Respond with text: tool calls are not run."
_CANCELED = "The question was canceled."


class SideQuestions:
    """Answers side questions.

    Sends the same system prompt, tools and history as the next step, so that the provider's cache applies.
    Tool calls in the response are not run.
    """

    def __init__(
        self,
        *,
        agent: Agent,
        context: Context,
        runtime_settings: RuntimeSettings,
        limits: Limits,
        usage_totals: UsageTotals,
        sender: EventSender,
        soul: Soul,
    ) -> None:
        """`soul` sends the usage after each response."""
        self._agent = agent
        self._context = context
        self._runtime_settings = runtime_settings
        self._limits = limits
        self._usage_totals = usage_totals
        self._sender = sender
        self._soul = soul
        self._queue: asyncio.Queue[BtwBegin] = asyncio.Queue()
        self._running: set[asyncio.Task[None]] = set()

    @property
    def command(self) -> SlashCommand:
        """The slash command /btw."""
        return SlashCommand("btw", "Ask a side question: /btw QUESTION", self.ask)

    async def ask(self, question: str) -> None:
        """Queue `question`. Raises UsageError if `question` is empty."""
        if not question.strip():
            raise UsageError("/btw requires a question.", hint="Type /btw QUESTION.")
        begin = BtwBegin(new_id(), question)
        self._sender.send(begin)
        self._queue.put_nowait(begin)

    async def serve(self) -> None:
        """Answer queued questions until canceled. Each BtwBegin gets a BtwEnd."""
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    begin = await self._queue.get()
                    task = group.create_task(self._run(begin))
                    self._running.add(task)
                    task.add_done_callback(self._running.discard)
        finally:
            while not self._queue.empty():
                self._sender.send(BtwEnd(self._queue.get_nowait().id, error=_CANCELED))

    def cancel_running(self) -> None:
        """Cancel the questions that are being answered."""
        for task in self._running:
            task.cancel()

    async def _run(self, begin: BtwBegin) -> None:
        end = BtwEnd(begin.id, error=_CANCELED)
        try:
            end = BtwEnd(begin.id, response=await self._answer(begin.question))
        except KimiTuiError as error:
            end = BtwEnd(begin.id, error=str(error))
        except Exception as error:
            logger.exception("a side question failed")
            end = BtwEnd(
                begin.id,
                error=msg(
                    "Internal error: {error}: {problem}.",
                    error=type(error).__name__,
                    problem=redact(str(error)),
                ),
            )
        finally:
            self._sender.send(end)
            self._soul.send_status()

    async def _answer(self, question: str) -> str:
        for instructions in (_INSTRUCTIONS, _TEXT_ONLY_INSTRUCTIONS):
            if text := await self._request_text(question, instructions):
                return text
        raise APIEmptyResponseError(
            "The model returned no text.", hint="Ask again, or ask in a normal prompt."
        )

    async def _request_text(self, question: str, instructions: str) -> str:
        """Return the text of the model's response, which may be empty. Tool calls are not run."""
        self._limits.check_cost(self._usage_totals.cost_usd)
        llm = self._runtime_settings.require_llm()
        prompt = Message("user", (system_note(instructions), TextPart(question)))
        call = ModelCall(
            chat_provider=self._runtime_settings.chat_provider,
            system_prompt=self._agent.system_prompt,
            tools=self._agent.toolset.schemas,
            history=drop_unsupported_media(
                [*complete_tool_results(self._context.history), prompt], llm.capabilities
            ),
            reserved_ids=CallIds(),
        )
        try:
            response = await call.run(
                step=0,
                max_attempts=self._limits.max_attempts,
                on_part=lambda _: None,
                on_retry=lambda _: None,
                on_usage=lambda usage: self._usage_totals.add(usage, llm),
            )
        except ResponseInterrupted as interruption:
            raise interruption.__cause__ or interruption from None
        return response.message.text.strip()
