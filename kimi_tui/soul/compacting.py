"""Making an agent's conversation shorter, by its strategy, without ever losing what is being worked on."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field

from kimi_tui.base.compacted import is_summary
from kimi_tui.base.completion import carry_out
from kimi_tui.base.errors import APIEmptyResponseError
from kimi_tui.base.identity import new_id
from kimi_tui.base.message import Message, user_message
from kimi_tui.base.value import value
from kimi_tui.compaction.fallback import FallbackCompaction
from kimi_tui.compaction.passage import is_checkpoint_note
from kimi_tui.compaction.restatement import files_in_play, is_restatement, restatement
from kimi_tui.compaction.strategy import Ask, CompactionContext, CompactionStrategy
from kimi_tui.compaction.summary import LLMSummaryCompaction
from kimi_tui.compaction.trigger import Trigger
from kimi_tui.history.context import Context
from kimi_tui.history.conversation import sendable
from kimi_tui.history.estimate import estimated_tokens
from kimi_tui.llm.provider import LLM
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.model_call import AnswerBrokeOff, ModelCall
from kimi_tui.soul.retry import LONGEST_COMPACTION_WAIT_S
from kimi_tui.soul.spending import Spending
from kimi_tui.wire.display import TodoItem
from kimi_tui.wire.events import CheckpointKind, CompactionBegin, CompactionEnd, Event, Notification, Reverted

logger = logging.getLogger(__name__)

_MUCH_SHORTER = 0.9
_ENOUGH = 0.9
"""Of the threshold: a conversation that stays longer would be compacted again and again, for little."""
_GROWTH_BEFORE_NEXT = 0.05
"""Of the window: how much a conversation has to grow before one that stayed long is compacted again."""


@value(kw_only=True)
class Compaction:
    """How and when conversations are made shorter."""

    strategy: CompactionStrategy = field(default_factory=LLMSummaryCompaction)
    trigger: Trigger = field(default_factory=Trigger)
    todos: Callable[[], Sequence[TodoItem]] = tuple
    """The todo list as it stands."""
    restated: Sequence[Callable[[], str]] = ()
    """What else is said anew after each compaction: each gives a paragraph, or nothing."""


@value
class Compacted:
    """A conversation became shorter."""

    request: int | None
    """Where in the history the user's request stands now."""
    tokens: int


class Compactor:
    """Compacts one agent's conversation.

    `fixed_tokens` estimates what is sent beside the history.
    """

    def __init__(
        self,
        compaction: Compaction,
        *,
        context: Context,
        behaviour: Behaviour,
        limits: Limits,
        spending: Spending,
        send: Callable[[Event], None],
        checkpoint: Callable[[CheckpointKind, str], Awaitable[int]],
        fixed_tokens: Callable[[], int],
    ) -> None:
        self._compaction = compaction
        self._context = context
        self._behaviour = behaviour
        self._limits = limits
        self._spending = spending
        self._send = send
        self._checkpoint = checkpoint
        self._fixed_tokens = fixed_tokens
        self._not_before = 0
        """The weight from which on another attempt makes sense."""

    @property
    def is_due(self) -> bool:
        """Whether the conversation is so long that it should be compacted before the next step."""
        llm = self._behaviour.llm
        if llm is None:
            return False
        tokens = self._context.token_count_with_pending
        if tokens < self._compaction.trigger.threshold(llm.max_context_size):
            self._not_before = 0
            return False
        return tokens >= self._not_before

    def postpone(self) -> None:
        """It is not wanted now: wait until the conversation has grown."""
        self._wait_for_growth(self._behaviour.require_llm(), self._context.token_count_with_pending)

    async def compact(
        self, *, request: int | None, step: int = 0, focus: str = "", urgent: bool = False
    ) -> Compacted | None:
        """Compact the conversation in which the user's request stands at `request`. None: nothing was done.

        `step` is that under way, 0 when there is none. When it is `urgent`, or the strategy fails, messages
        are dropped rather than nothing done; outside of a step a failure is raised when there was nothing to
        drop. Cancelled while the strategy works, the conversation stays as it was. Raises ModelNotSet and
        JournalWriteError.
        """
        llm = self._behaviour.require_llm()
        before = self._context.token_count_with_pending
        end = CompactionEnd()
        compacted: Compacted | None = None
        self._send(CompactionBegin())

        async def install(messages: Sequence[Message], kept: Message | None) -> None:
            nonlocal compacted, end
            compacted = await self._install(messages, kept, under_way=step > 0)
            end = CompactionEnd(before, compacted.tokens)

        try:
            context = self._picture(llm, before, request, step=step, focus=focus)
            urgent = urgent or before >= llm.max_context_size
            shorter = await self._shortened(context, step=step, urgent=urgent)
            if shorter is not None:
                kept = context.history[context.request] if context.request is not None else None
                await carry_out(install(shorter, kept))
            self._wait_for_growth(llm, compacted.tokens if compacted is not None else before)
        finally:
            self._send(end)
        return compacted

    def _picture(
        self, llm: LLM, tokens: int, request: int | None, *, step: int, focus: str
    ) -> CompactionContext:
        """The conversation without what is no longer true once it is compacted."""
        history = self._context.history
        stale = [is_restatement(message) or is_checkpoint_note(message) for message in history]
        trigger = self._compaction.trigger
        return CompactionContext(
            history=[message for message, gone in zip(history, stale, strict=True) if not gone],
            token_count=tokens,
            threshold=trigger.threshold(llm.max_context_size),
            max_context_size=llm.max_context_size,
            reserved_context_size=trigger.reserve(llm.max_context_size),
            llm=llm,
            ask=self._ask(llm, step),
            request=None if request is None else request - sum(stale[:request]),
            focus=focus,
        )

    async def _shortened(
        self, context: CompactionContext, *, step: int, urgent: bool
    ) -> Sequence[Message] | None:
        try:
            shorter = await self._compaction.strategy.compact(context)
            shorter = sendable(shorter) if shorter is not None else None
        except Exception as error:  # a strategy may be the user's own code
            logger.exception("the compaction failed")
            dropped = await FallbackCompaction().compact(context)
            if dropped is None and not step:
                raise
            self._warn(str(error) or type(error).__name__, dropped)
            return dropped
        if not self._is_enough(shorter, context, urgent=urgent):
            dropped = await FallbackCompaction().compact(context)
            if urgent or (dropped is not None and _is_much_shorter(dropped, shorter or context.history)):
                self._warn("There was too little to compact.", dropped)
                return dropped or shorter
        return shorter

    def _is_enough(
        self, shorter: Sequence[Message] | None, context: CompactionContext, *, urgent: bool
    ) -> bool:
        """Whether there is room to go on; else each of the next steps would be compacted again."""
        if shorter is None:
            return not urgent
        tokens = estimated_tokens(shorter) + self._fixed_tokens()
        return tokens < context.threshold * _ENOUGH and not (
            urgent and not _is_much_shorter(shorter, context.history)
        )

    def _warn(self, why: str, dropped: Sequence[Message] | None) -> None:
        title = "The conversation could not be compacted."
        if dropped is not None:
            title = "The conversation could not be summarised, so older messages were left out of it."
            why += " They stay on disk, as a branch."
        self._send(
            Notification(
                id=new_id(),
                category="session",
                type="compaction_failed",
                source_kind="soul",
                source_id="",
                title=title,
                body=why,
                severity="warning",
            )
        )

    async def _install(
        self, shorter: Sequence[Message], request: Message | None, *, under_way: bool
    ) -> Compacted:
        messages, at = _with_request(shorter, request)
        todos, files = self._compaction.todos(), files_in_play(self._context.history)
        others = [text for state in self._compaction.restated if (text := state())]
        if todos or files or others or under_way:
            messages.append(restatement(todos, files, under_way=under_way, others=others))
        tokens = estimated_tokens(messages) + self._fixed_tokens()
        reversion = await self._context.replace(messages, reason="compaction")
        await self._context.update_token_count(tokens)
        self._send(Reverted(reversion.to, reversion.from_id, "compaction", reversion.branch))
        await self._checkpoint("compaction", "compacted")
        return Compacted(at, tokens)

    def _wait_for_growth(self, llm: LLM, tokens: int) -> None:
        self._not_before = tokens + int(llm.max_context_size * _GROWTH_BEFORE_NEXT) + 1

    def _ask(self, llm: LLM, step: int) -> Ask:
        async def ask(system_prompt: str, question: str) -> str:
            call = ModelCall(
                chat_provider=llm.chat_provider.with_thinking("off"),
                system_prompt=system_prompt,
                tools=(),
                history=(user_message(question),),
                taken_ids=set(),
            )
            try:
                answer = await call.answer(
                    step=step,
                    max_attempts=self._limits.max_attempts,
                    longest_wait_s=LONGEST_COMPACTION_WAIT_S,
                    show=lambda _: None,
                    on_retry=self._send,
                    spend=lambda usage: self._spending.add(usage, llm),
                )
            except AnswerBrokeOff as broken:
                raise broken.__cause__ or broken from None
            text = answer.message.text.strip()
            if not text:
                raise APIEmptyResponseError("The model gave no summary.", hint="Try another model.")
            return text

        return ask


def _is_much_shorter(shorter: Sequence[Message], than: Sequence[Message]) -> bool:
    return estimated_tokens(shorter) < estimated_tokens(than) * _MUCH_SHORTER


def _with_request(messages: Sequence[Message], request: Message | None) -> tuple[list[Message], int | None]:
    """`messages`, with the user's request in them, and where it stands."""
    whole = list(messages)
    if request is None:
        return whole, None
    for at in reversed(range(len(whole))):
        if whole[at] == request:
            return whole, at
    at = 1 if whole and is_summary(whole[0]) else 0
    whole.insert(at, request)
    return whole, at
