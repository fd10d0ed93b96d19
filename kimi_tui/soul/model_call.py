"""One model call: streamed, retried, and put together."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from kimi_tui.base.content import ContentPart
from kimi_tui.base.errors import APIEmptyResponseError
from kimi_tui.base.message import Message, ToolCall, ToolCallPart
from kimi_tui.base.usage import TokenUsage
from kimi_tui.llm.provider import ChatProvider, ToolSchema
from kimi_tui.soul.answer import AnswerBuilder
from kimi_tui.soul.call_ids import TakenIds
from kimi_tui.soul.retry import LONGEST_WAIT_S, with_retries
from kimi_tui.wire.events import StepRetry


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's whole answer."""

    message: Message
    usage: TokenUsage | None
    message_id: str | None


class AnswerBrokeOff(Exception):
    """The call failed or was cancelled; its cause is the error, `partial` what had been said, if anything."""

    def __init__(self, partial: Message | None) -> None:
        super().__init__("the answer broke off")
        self.partial = partial


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A request to a model."""

    chat_provider: ChatProvider
    system_prompt: str
    tools: Sequence[ToolSchema]
    history: Sequence[Message]
    taken_ids: TakenIds
    """Ids that its tool calls can't have; those that they get are added."""

    async def answer(
        self,
        *,
        step: int,
        max_attempts: int,
        show: Callable[[ContentPart | ToolCall | ToolCallPart], None],
        on_retry: Callable[[StepRetry], None],
        spend: Callable[[TokenUsage], None],
        longest_wait_s: float = LONGEST_WAIT_S,
    ) -> Answer:
        """The answer. `show` gets its parts as they stream, `spend` what they cost, of failed attempts too.

        Raises AnswerBrokeOff from the error of the last attempt or from CancelledError, with what the last
        attempt that said anything had said.
        """
        builder = AnswerBuilder(taken_ids=self.taken_ids)
        before: Message | None = None

        async def attempt() -> None:
            nonlocal builder, before
            before = builder.partial_message() or before
            builder.discard()
            builder = AnswerBuilder(taken_ids=self.taken_ids)
            try:
                await self._stream_into(builder, show)
            finally:
                if builder.usage is not None:
                    spend(builder.usage)

        try:
            await with_retries(
                attempt,
                step=step,
                max_attempts=max_attempts,
                on_retry=on_retry,
                longest_wait_s=longest_wait_s,
            )
        except (Exception, asyncio.CancelledError) as error:
            builder.discard()
            partial = builder.partial_message()
            if partial is None and before is not None:
                partial = before
                for part in partial.content:  # it was taken back for an attempt that said nothing
                    show(part)
            raise AnswerBrokeOff(partial) from error
        return Answer(builder.message(), builder.usage, builder.message_id)

    async def _stream_into(
        self, builder: AnswerBuilder, show: Callable[[ContentPart | ToolCall | ToolCallPart], None]
    ) -> None:
        async with aclosing(
            self.chat_provider.generate(self.system_prompt, self.tools, self.history)
        ) as parts:
            async for part in parts:
                shown = builder.add(part)
                if shown is not None:
                    show(shown)
        if builder.is_empty:
            raise APIEmptyResponseError(
                "The model answered with nothing.", hint="Send the message again, or choose another model."
            )
