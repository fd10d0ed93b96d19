"""Compactor of an agent's conversation, which never loses the current request."""

import logging
from collections.abc import Sequence
from dataclasses import field

from kimi_tui.base.compaction_markers import is_summary
from kimi_tui.base.errors import APIEmptyResponseError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_id
from kimi_tui.base.message import Message, user_message
from kimi_tui.base.shielding import run_shielded
from kimi_tui.compaction.boundaries import is_checkpoint_note
from kimi_tui.compaction.carry_over import build_carry_over, is_carry_over, touched_files
from kimi_tui.compaction.fallback import FallbackCompaction
from kimi_tui.compaction.llm_summary import LLMSummaryCompaction
from kimi_tui.compaction.strategy import AskModel, CompactionContext, CompactionStrategy
from kimi_tui.compaction.trigger import CompactionTrigger
from kimi_tui.history.context import Context
from kimi_tui.history.message_history import complete_tool_results
from kimi_tui.history.token_estimate import estimate_tokens
from kimi_tui.llm.provider import LLM
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.checkpointer import Checkpointer
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.model_call import ModelCall, ResponseInterrupted
from kimi_tui.soul.retry import MAX_COMPACTION_WAIT_S
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.usage_totals import UsageTotals
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.todo import TodoStore
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import CompactionBegin, CompactionEnd, Notification, Reverted

logger = logging.getLogger(__name__)

_MUCH_SHORTER_RATIO = 0.9
_TARGET_RATIO = 0.9
"""Target size as a share of the threshold. A longer conversation would soon be compacted again."""
_MIN_GROWTH_RATIO = 0.05
"""Growth before the next attempt if the conversation is still too long, as a share of the context window."""


@frozen(kw_only=True)
class CompactionConfig:
    """How and when conversations are compacted."""

    strategy: CompactionStrategy = field(default_factory=LLMSummaryCompaction)
    trigger: CompactionTrigger = field(default_factory=CompactionTrigger)
    todos: TodoStore | None = None
    """The todo list, repeated in the conversation after a compaction."""
    tasks: BackgroundTasks | None = None
    """Background tasks. Running tasks are listed in the conversation after a compaction."""


@frozen
class CompactionResult:
    """Result of a compaction that shortened the conversation."""

    request: int | None
    """Index of the user's request in the new history."""
    tokens: int


class Compactor:
    """Compacts one agent's conversation."""

    def __init__(
        self,
        config: CompactionConfig,
        *,
        context: Context,
        runtime_settings: RuntimeSettings,
        limits: Limits,
        usage_totals: UsageTotals,
        sender: EventSender,
        checkpointer: Checkpointer,
        agent: Agent,
    ) -> None:
        self._config = config
        self._context = context
        self._runtime_settings = runtime_settings
        self._limits = limits
        self._usage_totals = usage_totals
        self._sender = sender
        self._checkpointer = checkpointer
        self._agent = agent
        self._retry_threshold = 0
        """Size in tokens above which another attempt makes sense."""

    @property
    def is_due(self) -> bool:
        """Whether the conversation should be compacted before the next step."""
        llm = self._runtime_settings.llm
        if llm is None:
            return False
        tokens = self._context.token_count_with_pending
        if tokens < self._config.trigger.threshold(llm):
            self._retry_threshold = 0
            return False
        return tokens >= self._retry_threshold

    def postpone(self) -> None:
        """Postpone compaction until the conversation has grown."""
        self._wait_for_growth(self._runtime_settings.require_llm(), self._context.token_count_with_pending)

    async def compact(
        self, *, request: int | None, step: int = 0, focus: str = "", urgent: bool = False
    ) -> CompactionResult | None:
        """Compact the conversation. Return None if nothing was changed.

        `request` is the index of the user's request in the history. `step` is the current step, or 0 outside
        of a step. If the strategy fails or doesn't shorten the conversation enough, older messages are
        dropped. An `urgent` compaction must shorten the conversation. Canceling while the strategy runs
        leaves the conversation unchanged.

        Raises: ModelNotSet, JournalWriteError. Outside of a step, also the strategy's error if no messages
        can be dropped.
        """
        llm = self._runtime_settings.require_llm()
        before = self._context.token_count_with_pending
        end = CompactionEnd()
        result: CompactionResult | None = None
        self._sender.send(CompactionBegin())

        async def install(messages: Sequence[Message], request_message: Message | None) -> None:
            nonlocal result, end
            result = await self._install(messages, request_message, in_progress=step > 0)
            end = CompactionEnd(before, result.tokens)

        try:
            context = self._build_context(llm, before, request, step=step, focus=focus)
            urgent = urgent or before >= llm.max_context_size
            shorter = await self._shorten(context, step=step, urgent=urgent)
            if shorter is not None:
                request_message = context.history[context.request] if context.request is not None else None
                await run_shielded(install(shorter, request_message))
            self._wait_for_growth(llm, result.tokens if result is not None else before)
        finally:
            self._sender.send(end)
        return result

    def _build_context(
        self, llm: LLM, tokens: int, request: int | None, *, step: int, focus: str
    ) -> CompactionContext:
        """Return the context for the strategy, without the notes that a compaction makes obsolete."""
        history = self._context.history
        stale = [is_carry_over(message) or is_checkpoint_note(message) for message in history]
        trigger = self._config.trigger
        return CompactionContext(
            history=[message for message, is_stale in zip(history, stale, strict=True) if not is_stale],
            token_count=tokens,
            threshold=trigger.threshold(llm),
            max_context_size=llm.max_context_size,
            reserved_context_size=trigger.reserved_tokens(llm),
            llm=llm,
            ask=self._build_ask(llm, step),
            request=None if request is None else request - sum(stale[:request]),
            focus=focus,
        )

    async def _shorten(
        self, context: CompactionContext, *, step: int, urgent: bool
    ) -> Sequence[Message] | None:
        try:
            shorter = await self._config.strategy.compact(context)
            shorter = complete_tool_results(shorter) if shorter is not None else None
        except Exception as error:  # a strategy may be the user's own code
            logger.exception("compaction failed")
            dropped = await FallbackCompaction().compact(context)
            if dropped is None and not step:
                raise
            self._warn(str(error) or type(error).__name__, dropped)
            return dropped
        if not self._is_short_enough(shorter, context, urgent=urgent):
            dropped = await FallbackCompaction().compact(context)
            if urgent or (dropped is not None and _is_much_shorter(dropped, shorter or context.history)):
                self._warn("Too little to compact.", dropped)
                return dropped or shorter
        return shorter

    def _is_short_enough(
        self, shorter: Sequence[Message] | None, context: CompactionContext, *, urgent: bool
    ) -> bool:
        """Return whether `shorter` leaves room to continue. Otherwise, the next steps would compact again."""
        if shorter is None:
            return not urgent
        tokens = estimate_tokens(shorter) + self._agent.overhead_tokens
        return tokens < context.threshold * _TARGET_RATIO and not (
            urgent and not _is_much_shorter(shorter, context.history)
        )

    def _warn(self, reason: str, dropped: Sequence[Message] | None) -> None:
        title = "Can't compact the conversation."
        if dropped is not None:
            title = "Can't summarize the conversation. Older messages were dropped instead."
            reason += " They remain on disk as a branch."
        self._sender.send(
            Notification(
                id=new_id(),
                category="session",
                type="compaction_failed",
                source_kind="soul",
                source_id="",
                title=title,
                body=reason,
                severity="warning",
            )
        )

    async def _install(
        self, shorter: Sequence[Message], request: Message | None, *, in_progress: bool
    ) -> CompactionResult:
        messages, index = _insert_request(shorter, request)
        todos = self._config.todos.items if self._config.todos is not None else ()
        files = touched_files(self._context.history)
        running = self._config.tasks.summarize_running() if self._config.tasks is not None else ""
        paragraphs = [running] if running else []
        if todos or files or paragraphs or in_progress:
            messages.append(build_carry_over(todos, files, in_progress=in_progress, paragraphs=paragraphs))
        tokens = estimate_tokens(messages) + self._agent.overhead_tokens
        result = await self._context.replace(messages, reason="compaction")
        await self._context.update_token_count(tokens)
        self._sender.send(Reverted(result.to, result.from_id, "compaction", result.branch))
        await self._checkpointer.create("compaction", "compacted")
        return CompactionResult(index, tokens)

    def _wait_for_growth(self, llm: LLM, tokens: int) -> None:
        self._retry_threshold = tokens + int(llm.max_context_size * _MIN_GROWTH_RATIO) + 1

    def _build_ask(self, llm: LLM, step: int) -> AskModel:
        async def ask(system_prompt: str, question: str) -> str:
            call = ModelCall(
                chat_provider=llm.chat_provider.with_thinking("off"),
                system_prompt=system_prompt,
                tools=(),
                history=(user_message(question),),
                reserved_ids=set(),
            )
            try:
                response = await call.run(
                    step=step,
                    max_attempts=self._limits.max_attempts,
                    max_wait_s=MAX_COMPACTION_WAIT_S,
                    on_part=lambda _: None,
                    on_retry=self._sender.send,
                    on_usage=lambda usage: self._usage_totals.add(usage, llm),
                )
            except ResponseInterrupted as interrupted:
                raise interrupted.__cause__ or interrupted from None
            text = response.message.text.strip()
            if not text:
                raise APIEmptyResponseError("The model returned no summary.", hint="Try another model.")
            return text

        return ask


def _is_much_shorter(shorter: Sequence[Message], original: Sequence[Message]) -> bool:
    return estimate_tokens(shorter) < estimate_tokens(original) * _MUCH_SHORTER_RATIO


def _insert_request(messages: Sequence[Message], request: Message | None) -> tuple[list[Message], int | None]:
    """Return `messages` with the user's request inserted if it is missing, and its index."""
    result = list(messages)
    if request is None:
        return result, None
    for index in reversed(range(len(result))):
        if result[index] == request:
            return result, index
    index = 1 if result and is_summary(result[0]) else 0
    result.insert(index, request)
    return result, index
