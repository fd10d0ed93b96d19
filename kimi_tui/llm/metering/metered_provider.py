"""Provider that asks a spending gate before each model call."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.errors import APIStatusError, KimiTuiError, LimitReached, SharedBudgetSpent
from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_id
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.metering.gate import CallRequest, GateDecision, SpendingGate
from kimi_tui.llm.provider import ChatProvider, Price, StreamPart, ThinkingEffort, ToolSchema, cost_of

logger = logging.getLogger(__name__)

_CHARS_PER_TOKEN = 3
"""Characters per token. A low value, so that the estimate is an upper bound for most text."""
_ASSUMED_OUTPUT_TOKENS = 4096
"""Assumed output of models without a configured output limit."""
_RATE_LIMIT_STATUSES = frozenset({429, 529})


@frozen(kw_only=True)
class MeteredModel:
    """Properties of a model that determine the estimated cost of a call."""

    service: str
    """The model's server. All calls to one server share its rate limit."""
    price: Price | None
    max_output_tokens: int | None


class MeteredProvider:
    """Wraps a provider. `generate` also raises LimitReached if a budget is spent."""

    def __init__(self, provider: ChatProvider, gate: SpendingGate, model: MeteredModel) -> None:
        self._provider = provider
        self._gate = gate
        self._model = model

    @property
    def model_name(self) -> str:
        """The model's name on its server."""
        return self._provider.model_name

    def with_thinking(self, effort: ThinkingEffort) -> "MeteredProvider":
        """Return this provider with another thinking level."""
        return MeteredProvider(self._provider.with_thinking(effort), self._gate, self._model)

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        """Prepare the wrapped provider."""
        await self._provider.prepare(system_prompt, history)

    async def aclose(self) -> None:
        """Close the wrapped provider."""
        await self._provider.aclose()

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        """Wait until the budgets allow the call, then stream the response."""
        call = _MeteredCall(self._gate, self._model, _estimate_tokens(system_prompt, tools, history))
        await call.begin()
        try:
            async with aclosing(self._provider.generate(system_prompt, tools, history)) as parts:
                async for part in parts:
                    call.record(part)
                    yield part
        except APIStatusError as error:
            if error.status_code in _RATE_LIMIT_STATUSES:
                await asyncio.to_thread(self._gate.slow_down, self._model.service, error.retry_after or 0.0)
            raise
        finally:
            await asyncio.shield(asyncio.ensure_future(call.end()))


class _MeteredCall:
    """One call: reserves its estimated cost, and settles its actual cost."""

    def __init__(self, gate: SpendingGate, model: MeteredModel, input_tokens: int) -> None:
        self._gate = gate
        self._model = model
        output_tokens = model.max_output_tokens or _ASSUMED_OUTPUT_TOKENS
        estimate = TokenUsage(input_other=input_tokens, output=output_tokens)
        self._request = CallRequest(
            call_id=new_id(), service=model.service, estimate_usd=cost_of(model.price, estimate) or 0.0
        )
        self._input_tokens = input_tokens
        self._usage: TokenUsage | None = None
        self._output_chars = 0

    async def begin(self) -> None:
        """Wait until the call may start. Raises LimitReached if a budget is spent."""
        while True:
            decision = await asyncio.to_thread(self._gate.reserve, self._request)
            match decision.verdict:
                case "granted":
                    break
                case "wait":
                    await asyncio.sleep(decision.wait_s)
                case "refused":
                    raise _spent_error(decision)
        try:
            await asyncio.sleep(decision.wait_s)
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(self._gate.settle, self._request.call_id, 0.0))
            raise

    def record(self, part: StreamPart) -> None:
        """Count a part of the response."""
        if isinstance(part, TokenUsage):
            self._usage = part
        elif isinstance(part, TextPart):
            self._output_chars += len(part.text)
        elif isinstance(part, ThinkPart):
            self._output_chars += len(part.think)
        else:
            self._output_chars += 1

    async def end(self) -> None:
        """Settle the cost reported by the server, or an estimate from the streamed output."""
        usage = self._usage
        if usage is None and self._output_chars:
            usage = TokenUsage(
                input_other=self._input_tokens, output=self._output_chars // _CHARS_PER_TOKEN + 1
            )
        cost = cost_of(self._model.price, usage or TokenUsage()) or 0.0
        try:
            await asyncio.to_thread(self._gate.settle, self._request.call_id, cost)
        except KimiTuiError:  # the reservation stays and counts as spent when this process ends
            logger.exception("can't settle the cost of a model call")


def _spent_error(decision: GateDecision) -> LimitReached:
    amounts = {"cost": decision.spent_usd, "limit": decision.limit_usd}
    match decision.kind:
        case "task":
            return LimitReached(
                msg("Cost limit of the task reached: ${cost:.2f} of ${limit:.2f}.", **amounts),
                hint="Raise the task's limits.max_cost, then run it again with --retry-failed.",
            )
        case "fleet":
            return SharedBudgetSpent(
                msg("Cost limit of the fleet reached: ${cost:.2f} of ${limit:.2f}.", **amounts),
                hint="Raise --max-cost to continue.",
            )
        case "attempts":
            return SharedBudgetSpent(
                msg("Cost limit of the attempts reached: ${cost:.2f} of ${limit:.2f}.", **amounts),
                hint="Start others with a higher --cost.",
            )
        case "day":
            return SharedBudgetSpent(
                msg("Cost limit of the day reached: ${cost:.2f} of ${limit:.2f}.", **amounts),
                hint="Raise budget.per_day in the config, or continue tomorrow.",
            )


def _estimate_tokens(system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]) -> int:
    chars = len(system_prompt)
    chars += sum(len(tool.name) + len(tool.description) + len(str(tool.parameters)) for tool in tools)
    for message in history:
        chars += sum(len(getattr(part, "text", "") or getattr(part, "think", "")) for part in message.content)
        chars += sum(len(call.function.arguments or "") for call in message.tool_calls or ())
    return chars // _CHARS_PER_TOKEN + 1
