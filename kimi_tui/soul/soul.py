"""Soul: runs the turns and steps of an agent."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from kimi_tui.base.content_parts import UserInput, is_blank, system_note
from kimi_tui.base.errors import ContextTooLong, HookBlocked, MaxStepsReached, UsageError
from kimi_tui.base.message import Message, ToolCall, steer_message, user_message
from kimi_tui.base.message_text import msg
from kimi_tui.base.shielding import run_shielded
from kimi_tui.compaction.boundaries import find_latest_request
from kimi_tui.history.context import Context
from kimi_tui.history.message_history import interrupted_messages
from kimi_tui.hooks.dispatcher import NO_HOOKS, HookDispatcher
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.cache_monitor import ObservedRequest
from kimi_tui.soul.call_ids import CallIds
from kimi_tui.soul.checkpointer import Checkpointer, checkpoint_label
from kimi_tui.soul.compactor import CompactionConfig, Compactor
from kimi_tui.soul.cut_response_notice import CUT_NOTE, cut_response_notice
from kimi_tui.soul.dmail_delivery import deliver_dmail
from kimi_tui.soul.file_states import FileStates
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.loop_guard import LoopGuard
from kimi_tui.soul.modalities import drop_unsupported_media, require_supported_media
from kimi_tui.soul.model_call import ModelCall, ModelResponse, ResponseInterrupted
from kimi_tui.soul.plan_reminder import PlanReminder
from kimi_tui.soul.reminders import Reminder
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.status_reporter import StatusReporter
from kimi_tui.soul.turn_hooks import TurnHooks
from kimi_tui.soul.turn_request import TurnRequest
from kimi_tui.soul.usage_totals import UsageTotals
from kimi_tui.tools.dmail import DMail, DMailbox, SendDMail
from kimi_tui.tools.result_messages import result_message
from kimi_tui.tools.tool_batch import ToolBatch
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import SteerInput, StepBegin, StepInterrupted, ToolReturn

logger = logging.getLogger(__name__)


class TurnRejected(Exception):
    """The user rejected a tool call without feedback, which ends the turn."""


class Soul:
    """Runs one agent on one conversation."""

    def __init__(
        self,
        *,
        agent: Agent,
        context: Context,
        runtime_settings: RuntimeSettings,
        limits: Limits,
        dmailbox: DMailbox,
        usage_totals: UsageTotals,
        sender: EventSender,
        file_states: FileStates | None = None,
        compaction: CompactionConfig = CompactionConfig(),
        call_ids: CallIds | None = None,
        reminders: Sequence[Reminder] = (),
        hooks: HookDispatcher = NO_HOOKS,
    ) -> None:
        self._agent = agent
        self._context = context
        self._runtime_settings = runtime_settings
        self._limits = limits
        self._dmailbox = dmailbox
        self._usage_totals = usage_totals
        self._sender = sender
        self._file_states = file_states
        self._call_ids = call_ids or CallIds()
        plan_reminder = PlanReminder(runtime_settings.plan_mode, toolset=agent.toolset, conversation=context)
        self._reminders = (*reminders, plan_reminder)
        self._loop_guard = LoopGuard(limits.loop_limits)
        self._hooks = hooks
        self._turn_hooks = TurnHooks(hooks)
        self._steers: list[UserInput] = []
        self.steps = 0
        """Number of steps begun in the turn."""
        self._request = TurnRequest()
        self._status_reporter = StatusReporter(
            context=context, runtime_settings=runtime_settings, usage_totals=usage_totals, sender=sender
        )
        self._checkpointer = Checkpointer(
            context=context,
            dmailbox=dmailbox,
            sender=sender,
            file_states=file_states,
            # The checkpoint numbers are only useful to an agent that can send a D-Mail.
            visible_to_model=agent.toolset.has_type(SendDMail),
        )
        self._compactor = Compactor(
            compaction,
            context=context,
            runtime_settings=runtime_settings,
            limits=limits,
            usage_totals=usage_totals,
            sender=sender,
            checkpointer=self._checkpointer,
            agent=agent,
        )

    async def prepare(self) -> None:
        """Prepare the provider for the first turn while the user is typing.

        Raises: ModelNotSet, ChatProviderError.
        """
        history = drop_unsupported_media(self._context.history, self._runtime_settings.capabilities)
        await self._runtime_settings.chat_provider.prepare(self._agent.system_prompt, history)

    def steer(self, user_input: UserInput) -> None:
        """Add a message to the running turn, for its next step."""
        self._steers.append(user_input)

    async def run(self, user_input: UserInput, *, typed: str | None = None) -> None:
        """Run one turn. `typed` is the command that `user_input` comes from, if any.

        After an error, the messages before the error remain in the context. The user's message is kept even
        if the turn is canceled.

        Raises: UsageError for an empty message. HookBlocked, ModelNotSet, ModelNotSupported,
        ChatProviderError, MaxStepsReached, LimitReached, TurnRejected, JournalWriteError, CancelledError.
        """
        self.steps = 0
        self._loop_guard.reset()
        request = user_message(user_input, typed=typed)
        if is_blank(request.content):
            raise UsageError("The message is empty.", hint="Type a message first.")
        try:
            await self._begin_turn(request)
            require_supported_media(request, self._runtime_settings.require_llm())
            await self._run_steps()
        finally:
            self._dmailbox.pop_pending()  # from a step that failed
            await self._deliver_steers()  # no step follows, so the next turn sends them

    async def compact(self, focus: str = "") -> bool:
        """Compact the conversation outside of a turn, with a summary that emphasizes `focus`.

        Return whether the conversation was compacted.

        Raises: HookBlocked, ModelNotSet, JournalWriteError, CancelledError, and the strategy's own errors.
        """
        self.steps = 0
        await self._context.set_system_prompt(self._agent.system_prompt)
        await self._turn_hooks.before_compaction(self._context.token_count_with_pending, automatic=False)
        try:
            result = await self._compactor.compact(
                request=find_latest_request(self._context.history), focus=focus
            )
        except BaseException:
            self._sender.send(StepInterrupted())
            raise
        self._status_reporter.report()
        if result is not None:
            await self._turn_hooks.after_compaction(result.tokens, automatic=False)
        return result is not None

    def send_status(self) -> None:
        """Send the context usage and the session's usage."""
        self._status_reporter.report()

    async def _begin_turn(self, request: Message) -> None:
        """Record the user's message, unless a hook blocks it. Cancellation also records the message."""
        try:
            hook_notes = await self._turn_hooks.before_turn(request)
        except asyncio.CancelledError:
            await run_shielded(self._record_request(request, ()))
            raise
        await run_shielded(self._record_request(request, hook_notes))

    async def _record_request(self, request: Message, hook_notes: Sequence[str]) -> None:
        await self._context.set_system_prompt(self._agent.system_prompt)
        self._request.checkpoint = await self._checkpointer.create(
            "user", checkpoint_label(request.typed or request.content)
        )
        self._request.index = len(self._context.history)
        notes = [user_message((system_note(note),)) for note in hook_notes]
        await self._context.append_message([request, *notes])

    async def _run_steps(self) -> None:
        finished = False
        while not finished:
            self._limits.check_cost(self._usage_totals.cost_usd)
            self._loop_guard.check()
            if self.steps >= self._limits.max_steps:
                raise MaxStepsReached(self.steps)
            self.steps += 1
            self._sender.send(StepBegin(self.steps))
            try:
                finished = await self._step() and not await self._continue_after_stop_hook()
            except TurnRejected:
                raise
            except BaseException:
                self._sender.send(StepInterrupted())
                raise

    async def _step(self) -> bool:
        """Make one model call and run its tools. Return whether the turn is finished."""
        await self._deliver_steers()
        if self._compactor.is_due:
            await self._compact_if_needed()
        await self._add_reminders()
        await self._checkpointer.create("step", msg("step {number}", number=self.steps))
        response = await self._respond_with_compaction()
        if response.message.tool_calls is None:
            await self._append_step(response)
            self._status_reporter.report(response)
            return not self._steers
        await self._run_tools(response, response.message.tool_calls)
        if (dmail := self._dmailbox.pop_pending()) is not None:
            await run_shielded(self._deliver_dmail(dmail))
        return False

    async def _add_reminders(self) -> None:
        for reminder in self._reminders:
            await reminder.remind(self._append_note)

    async def _continue_after_stop_hook(self) -> bool:
        """Return whether a hook asks the model to continue; if so, add the hook's reason."""
        reason = await self._turn_hooks.before_stop()
        if reason:
            await self._append_note(reason)
        return bool(reason)

    async def _compact_if_needed(self, *, urgent: bool = False) -> bool:
        """Compact the conversation within the current step. Return whether it became shorter.

        Hooks can't block an `urgent` compaction.
        """
        try:
            await self._turn_hooks.before_compaction(self._context.token_count_with_pending, automatic=True)
        except HookBlocked as blocked:
            logger.info("%s", blocked)
            if not urgent:
                self._compactor.postpone()
                return False
        result = await self._compactor.compact(request=self._request.index, step=self.steps, urgent=urgent)
        if result is None or result.request is None:
            return False
        self._request.index = result.request
        self._request.checkpoint = -1
        self._loop_guard.reset()
        self._status_reporter.report()
        await self._turn_hooks.after_compaction(result.tokens, automatic=True)
        return True

    async def _respond_with_compaction(self) -> ModelResponse:
        """Return the response. If the provider rejects the conversation as too long, compact it and try
        again.
        """
        try:
            return await self._respond()
        except ContextTooLong as error:
            if not await self._compact_if_needed(urgent=True):
                raise _context_too_long_error(error) from error
        await self._add_reminders()  # replaces the notes that the compaction removed
        try:
            return await self._respond()
        except ContextTooLong as error:
            raise _context_too_long_error(error) from error

    async def _respond(self) -> ModelResponse:
        history = self._context.history
        self._call_ids.prepare_for(history)
        llm = (
            self._runtime_settings.require_llm()
        )  # the user may switch models before the response is complete
        request = ObservedRequest(
            llm.name,
            self._runtime_settings.effort,
            self._agent.system_prompt,
            self._agent.toolset.schemas,
            drop_unsupported_media(history, llm.capabilities),
        )
        call = ModelCall(
            chat_provider=self._runtime_settings.chat_provider,
            system_prompt=request.system_prompt,
            tools=request.tools,
            history=request.history,
            reserved_ids=self._call_ids,
        )
        try:
            response = await call.run(
                step=self.steps,
                max_attempts=self._limits.max_attempts,
                on_part=self._sender.send,
                on_retry=self._sender.send,
                on_usage=lambda usage: self._usage_totals.add(usage, llm),
            )
        except ResponseInterrupted as interrupted:
            await self._append_partial(interrupted.partial)
            raise interrupted.__cause__ or interrupted from None
        self._status_reporter.observe_request(request, response)
        if response.is_cut:
            self._sender.send(cut_response_notice())
        cost = llm.cost(response.usage) if response.usage is not None else None
        return replace(response, model=llm.name, cost_usd=cost)

    async def _append_step(self, response: ModelResponse, *results: Message) -> None:
        await self._context.append_step(
            [response.message, *results],
            token_count=_counted_tokens(response),
            model=response.model,
            cost_usd=response.cost_usd,
        )

    async def _append_partial(self, partial: Message | None) -> None:
        if partial is not None:
            await self._context.append_step(interrupted_messages(partial), token_count=None)

    async def _run_tools(self, response: ModelResponse, calls: tuple[ToolCall, ...]) -> None:
        """Run `calls`, then add the step's messages to the context. They are added even on cancellation."""
        await self._context.record_pending(response.message)
        batch = ToolBatch(
            self._agent.toolset,
            calls,
            sender=self._sender,
            results=self,
            change_tracker=self._file_states,
            hooks=self._hooks,
            gate=self._runtime_settings.plan_mode,
        )
        try:
            await batch.run()
        finally:
            results = [result_message(call, result) for call, result in batch.results]
            if warning := self._loop_guard.record_step(batch.results):
                results.append(user_message((system_note(warning),)))
            if response.is_cut:
                results.append(user_message((system_note(CUT_NOTE),)))
            await self._append_step(response, *results)
            self._status_reporter.report(response)
        if batch.rejected:
            raise TurnRejected

    async def save_result(self, call: ToolCall, result: ToolReturn) -> None:
        """Implement `ResultStore.save_result`."""
        await self._context.record_pending(result_message(call, result))

    async def _deliver_steers(self) -> None:
        if self._steers:
            await run_shielded(self._append_steers())

    async def _append_steers(self) -> None:
        while self._steers:
            user_input = self._steers[0]
            await self._context.append_message(steer_message(user_input))
            del self._steers[0]
            self._sender.send(SteerInput(user_input))

    async def _append_note(self, text: str) -> None:
        await self._context.append_message(user_message((system_note(text),)))

    async def _deliver_dmail(self, dmail: DMail) -> None:
        await deliver_dmail(
            dmail,
            context=self._context,
            request=self._request,
            checkpointer=self._checkpointer,
            sender=self._sender,
        )
        self._loop_guard.reset()
        self._status_reporter.report()


def _context_too_long_error(error: ContextTooLong) -> ContextTooLong:
    return ContextTooLong(
        msg(
            "The conversation is too long for the model, even after compaction: {problem}", problem=error.what
        ),
        status_code=error.status_code,
        hint="Switch to a model with a larger context window, revert to an earlier checkpoint, or run "
        "/clear.",
    )


def _counted_tokens(response: ModelResponse) -> int | None:
    """Return the token count reported by the provider; None if the count is missing or zero."""
    return (response.usage.total or None) if response.usage is not None else None
