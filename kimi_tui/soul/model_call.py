"""One model call: streams the response, with retries."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing

from kimi_tui.base.content_parts import ContentPart
from kimi_tui.base.errors import APIEmptyResponseError, EmptyAtOutputLimit
from kimi_tui.base.frozen import frozen
from kimi_tui.base.logging import log_event
from kimi_tui.base.message import Message, ToolCall, ToolCallPart
from kimi_tui.base.message_text import msg
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.history.token_estimate import estimate_tokens
from kimi_tui.llm.provider import ChatProvider, ToolSchema
from kimi_tui.soul.call_ids import ReservedIds
from kimi_tui.soul.response_builder import ResponseBuilder
from kimi_tui.soul.retry import MAX_WAIT_S, run_with_retries
from kimi_tui.wire.events import StepRetry

logger = logging.getLogger(__name__)


@frozen
class ModelResponse:
    """A model's complete response."""

    message: Message
    usage: TokenUsage | None
    message_id: str | None
    model: str = ""
    """The model that wrote the response, as named in the config."""
    cost_usd: float | None = None
    """Cost of the response in US dollars; None if the model has no price."""
    is_cut: bool = False
    """Whether the response reached the model's output limit."""


class ResponseInterrupted(Exception):
    """The call failed or was canceled. `__cause__` is the error, `partial` the response so far, if any."""

    def __init__(self, partial: Message | None) -> None:
        super().__init__("the response was interrupted")
        self.partial = partial


@frozen(kw_only=True)
class ModelCall:
    """A request to a model."""

    chat_provider: ChatProvider
    system_prompt: str
    tools: Sequence[ToolSchema]
    history: Sequence[Message]
    reserved_ids: ReservedIds
    """Ids that the response's tool calls can't use. The call adds the new ids."""

    async def run(
        self,
        *,
        step: int,
        max_attempts: int,
        on_part: Callable[[ContentPart | ToolCall | ToolCallPart], None],
        on_retry: Callable[[StepRetry], None],
        on_usage: Callable[[TokenUsage], None],
        max_wait_s: float = MAX_WAIT_S,
    ) -> ModelResponse:
        """Return the response.

        `on_part` receives the parts of the response as they stream. `on_usage` receives the usage of every
        attempt, including failed ones.

        Raises: ResponseInterrupted from the last attempt's error or from CancelledError, with the text of the
        last attempt that returned text.
        """
        builder = ResponseBuilder(reserved_ids=self.reserved_ids)
        previous: Message | None = None

        async def attempt() -> None:
            nonlocal builder, previous
            previous = builder.build_partial() or previous
            builder.release_call_ids()
            builder = ResponseBuilder(reserved_ids=self.reserved_ids)
            try:
                await self._stream_into(builder, on_part)
            finally:
                if builder.usage is not None:
                    on_usage(builder.usage)

        try:
            await run_with_retries(
                attempt,
                step=step,
                max_attempts=max_attempts,
                on_retry=on_retry,
                max_wait_s=max_wait_s,
            )
        except (Exception, asyncio.CancelledError) as error:
            builder.release_call_ids()
            partial = builder.build_partial()
            if partial is None and previous is not None:
                partial = previous
                for part in partial.content:  # front ends removed it when the next attempt began
                    on_part(part)
            raise ResponseInterrupted(partial) from error
        return ModelResponse(builder.build(), builder.usage, builder.message_id, is_cut=builder.is_cut)

    async def _stream_into(
        self, builder: ResponseBuilder, on_part: Callable[[ContentPart | ToolCall | ToolCallPart], None]
    ) -> None:
        log_event(
            logger,
            logging.DEBUG,
            "model_request",
            model=self.chat_provider.model_name,
            messages=len(self.history),
            history_tokens=estimate_tokens(self.history) if logger.isEnabledFor(logging.DEBUG) else None,
            tools=len(self.tools),
            system_prompt_chars=len(self.system_prompt),
        )
        started, first = time.monotonic(), None
        async with aclosing(
            self.chat_provider.generate(self.system_prompt, self.tools, self.history)
        ) as parts:
            async for part in parts:
                first = time.monotonic() if first is None else first
                visible_part = builder.add(part)
                if visible_part is not None:
                    on_part(visible_part)
        usage = builder.usage
        log_event(
            logger,
            logging.DEBUG,
            "model_response",
            first_part_s=None if first is None else first - started,
            seconds=time.monotonic() - started,
            input_tokens=None if usage is None else usage.input,
            output_tokens=None if usage is None else usage.output,
        )
        if builder.is_empty and builder.is_cut:
            raise EmptyAtOutputLimit(
                msg(
                    "{model} reached its output limit without any output.",
                    model=self.chat_provider.model_name,
                ),
                hint="Raise the model's max_output_tokens, lower its thinking level, or run /compact.",
            )
        if builder.is_empty:
            raise APIEmptyResponseError(
                "The model returned an empty response.",
                hint="Send the message again, or choose another model.",
            )
