"""Side questions: answered from the conversation as it stands, beside what runs, and kept nowhere in it."""

import asyncio
import logging
from collections.abc import Callable

from kimi_tui.base.content import TextPart, system_note
from kimi_tui.base.errors import APIEmptyResponseError, KimiTuiError, UsageError
from kimi_tui.base.identity import new_id
from kimi_tui.base.message import Message
from kimi_tui.base.secrets import blacked_out
from kimi_tui.engine.slash_book import SlashCommand
from kimi_tui.history.context import Context
from kimi_tui.history.conversation import sendable
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.call_ids import CallIds
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.model_call import AnswerBrokeOff, ModelCall
from kimi_tui.soul.senses import perceived
from kimi_tui.soul.spending import Spending
from kimi_tui.wire.events import BtwBegin, BtwEnd, Event

logger = logging.getLogger(__name__)

_BESIDE = (
    "The user asks something by the way, beside the work. Answer the question below shortly, from what "
    "you know by now. You can't call tools here. Neither the question nor your answer is kept in the "
    "conversation."
)
_IN_WORDS = f"{_BESIDE} Answer in words: a call of a tool gets no result."
_ENDED = "The question was dropped before it was answered."


class SideQuestions:
    """Answers them with the same system prompt, tools and history as the next step would have, so that what a
    provider has cached of those serves here too; tools that are called nevertheless are not run."""

    def __init__(
        self,
        *,
        agent: Agent,
        context: Context,
        behaviour: Behaviour,
        limits: Limits,
        spending: Spending,
        send: Callable[[Event], None],
        spent: Callable[[], None],
    ) -> None:
        """`spent` is called after each answer: what the session has used is to be told anew."""
        self._agent = agent
        self._context = context
        self._behaviour = behaviour
        self._limits = limits
        self._spending = spending
        self._send = send
        self._spent = spent
        self._asked: asyncio.Queue[BtwBegin] = asyncio.Queue()
        self._answering: set[asyncio.Task[None]] = set()

    @property
    def command(self) -> SlashCommand:
        """The slash command /btw."""
        return SlashCommand("btw", "Ask something beside the work: /btw QUESTION", self.ask)

    async def ask(self, question: str) -> None:
        """Have `question` answered. Raises UsageError without one."""
        if not question.strip():
            raise UsageError("There is no question.", hint="Type /btw QUESTION.")
        begin = BtwBegin(new_id(), question)
        self._send(begin)
        self._asked.put_nowait(begin)

    async def serve(self) -> None:
        """Answer what is asked, until cancelled. Each BtwBegin gets its BtwEnd."""
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    begin = await self._asked.get()
                    task = group.create_task(self._answer(begin))
                    self._answering.add(task)
                    task.add_done_callback(self._answering.discard)
        finally:
            while not self._asked.empty():
                self._send(BtwEnd(self._asked.get_nowait().id, error=_ENDED))

    def drop(self) -> None:
        """Stop answering what is being answered."""
        for task in self._answering:
            task.cancel()

    async def _answer(self, begin: BtwBegin) -> None:
        end = BtwEnd(begin.id, error=_ENDED)
        try:
            end = BtwEnd(begin.id, response=await self._response(begin.question))
        except KimiTuiError as error:
            end = BtwEnd(begin.id, error=str(error))
        except Exception as error:
            logger.exception("a side question failed")
            end = BtwEnd(begin.id, error=blacked_out(f"An internal error: {type(error).__name__}: {error}."))
        finally:
            self._send(end)
            self._spent()

    async def _response(self, question: str) -> str:
        for words in (_BESIDE, _IN_WORDS):
            if text := await self._said(question, words):
                return text
        raise APIEmptyResponseError("The model gave no answer in words.", hint="Ask again, or in the prompt.")

    async def _said(self, question: str, words: str) -> str:
        """What the model says in words; a tool that it calls instead is not run."""
        self._limits.check_cost(self._spending.cost_usd)
        llm = self._behaviour.require_llm()
        asked = Message("user", (system_note(words), TextPart(question)))
        call = ModelCall(
            chat_provider=self._behaviour.chat_provider,
            system_prompt=self._agent.system_prompt,
            tools=self._agent.toolset.schemas,
            history=perceived([*sendable(self._context.history), asked], llm.capabilities),
            taken_ids=CallIds(),
        )
        try:
            answer = await call.answer(
                step=0,
                max_attempts=self._limits.max_attempts,
                show=lambda _: None,
                on_retry=lambda _: None,
                spend=lambda usage: self._spending.add(usage, llm),
            )
        except AnswerBrokeOff as broken:
            raise broken.__cause__ or broken from None
        return answer.message.text.strip()
