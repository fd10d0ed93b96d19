"""The soul: an agent at work on its conversation, turn by turn and step by step."""

import asyncio
import logging
from collections.abc import Sequence

from kimi_tui.base.completion import carry_out
from kimi_tui.base.content import UserInput, is_blank, system_note
from kimi_tui.base.errors import ContextTooLong, HookBlocked, MaxStepsReached, UsageError
from kimi_tui.base.message import Message, ToolCall, steer_message, user_message
from kimi_tui.compaction.passage import latest_request
from kimi_tui.history.context import Context
from kimi_tui.history.conversation import broken_off
from kimi_tui.hooks.hooks import NO_HOOKS, Firing
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.call_ids import CallIds
from kimi_tui.soul.checkpointing import Checkpoints, label_of
from kimi_tui.soul.compacting import Compaction, Compactor
from kimi_tui.soul.delivery import deliver
from kimi_tui.soul.file_states import FileStates
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.model_call import Answer, AnswerBrokeOff, ModelCall
from kimi_tui.soul.plan_reminder import PlanReminder
from kimi_tui.soul.reminders import Reminder
from kimi_tui.soul.repetition import Repetition
from kimi_tui.soul.request import Request
from kimi_tui.soul.send import Send
from kimi_tui.soul.senses import perceived, require_understood
from kimi_tui.soul.spending import Spending
from kimi_tui.soul.status import Status
from kimi_tui.soul.turn_hooks import TurnHooks
from kimi_tui.tools.dmail import DMail, DMailbox, SendDMail
from kimi_tui.tools.results import result_message
from kimi_tui.tools.step_calls import StepCalls
from kimi_tui.wire.events import SteerInput, StepBegin, StepInterrupted, ToolReturn

logger = logging.getLogger(__name__)


class TurnRejected(Exception):
    """The user rejected a tool call without a word more: the turn is over."""


class Soul:
    """One agent at work on one context."""

    def __init__(
        self,
        *,
        agent: Agent,
        context: Context,
        behaviour: Behaviour,
        limits: Limits,
        dmailbox: DMailbox,
        spending: Spending,
        send: Send,
        file_states: FileStates | None = None,
        compaction: Compaction = Compaction(),
        call_ids: CallIds | None = None,
        reminders: Sequence[Reminder] = (),
        hooks: Firing = NO_HOOKS,
    ) -> None:
        self._agent = agent
        self._context = context
        self._behaviour = behaviour
        self._limits = limits
        self._dmailbox = dmailbox
        self._spending = spending
        self._send = send
        self._file_states = file_states
        self._call_ids = call_ids or CallIds()
        plan_reminder = PlanReminder(
            behaviour.plan_mode, toolset=agent.toolset, history=lambda: context.history
        )
        self._reminders = (*reminders, plan_reminder)
        self._repetition = Repetition(limits.repetition)
        self._hooks = hooks
        self._turn_hooks = TurnHooks(hooks)
        self._steers: list[UserInput] = []
        self.steps = 0
        """How many steps the turn has begun."""
        self._request = Request()
        self._status = Status(context=context, behaviour=behaviour, spending=spending, send=send)
        self._checkpoints = Checkpoints(
            context=context,
            dmailbox=dmailbox,
            send=send,
            file_states=file_states,
            shown=agent.toolset.has(SendDMail),  # only who can send a D-Mail there has use for the numbers
        )
        self._compactor = Compactor(
            compaction,
            context=context,
            behaviour=behaviour,
            limits=limits,
            spending=spending,
            send=send,
            checkpoint=self._checkpoints.make,
            fixed_tokens=lambda: agent.fixed_tokens,
        )

    async def prepare(self) -> None:
        """Get ready for the first turn while the user still types. Raises ModelNotSet, ChatProviderError."""
        history = perceived(self._context.history, self._behaviour.capabilities)
        await self._behaviour.chat_provider.prepare(self._agent.system_prompt, history)

    def steer(self, user_input: UserInput) -> None:
        """Say something to the turn that runs; its next step sees it."""
        self._steers.append(user_input)

    async def run(self, user_input: UserInput, *, typed: str | None = None) -> None:
        """Run one turn. `user_input` may come of a command that was `typed`.

        Raises UsageError for a prompt with nothing in it, HookBlocked, ModelNotSet, ModelNotSupported,
        ChatProviderError, MaxStepsReached, LimitReached, TurnRejected, JournalWriteError and CancelledError.
        What happened until then is in the context; what the user said is, whenever the turn is cancelled.
        """
        self.steps = 0
        self._repetition.begin()
        request = user_message(user_input, typed=typed)
        if is_blank(request.content):
            raise UsageError("The message is empty.", hint="Type something first.")
        try:
            await self._begin(request)
            require_understood(request, self._behaviour.require_llm())
            await self._take_steps()
        finally:
            self._dmailbox.take()  # it was for the step that did not end well
            await self._take_steers()  # they came too late for a step: the next turn sees them

    async def compact(self, focus: str = "") -> bool:
        """Compact the conversation outside of a turn; a summary looks at `focus` above all. Whether it did.

        Raises HookBlocked, ModelNotSet, JournalWriteError, CancelledError and what the strategy raises.
        """
        self.steps = 0
        await self._context.set_system_prompt(self._agent.system_prompt)
        await self._turn_hooks.before_compaction(self._context.token_count_with_pending, by_itself=False)
        try:
            compacted = await self._compactor.compact(
                request=latest_request(self._context.history), focus=focus
            )
        except BaseException:
            self._send(StepInterrupted())
            raise
        self._status.tell()
        if compacted is not None:
            await self._turn_hooks.after_compaction(compacted.tokens, by_itself=False)
        return compacted is not None

    def send_status(self) -> None:
        """Tell how full the context is, and what the session has used."""
        self._status.tell()

    async def _begin(self, request: Message) -> None:
        """Hear the user, unless a hook objects; what the user said is kept when this is cancelled, too."""
        try:
            remarks = await self._turn_hooks.prompt(request)
        except asyncio.CancelledError:
            await carry_out(self._hear(request, ()))
            raise
        await carry_out(self._hear(request, remarks))

    async def _hear(self, request: Message, remarks: Sequence[str]) -> None:
        await self._context.set_system_prompt(self._agent.system_prompt)
        self._request.checkpoint = await self._checkpoints.make(
            "user", label_of(request.typed or request.content)
        )
        self._request.index = len(self._context.history)
        notes = [user_message((system_note(remark),)) for remark in remarks]
        await self._context.append_message([request, *notes])

    async def _take_steps(self) -> None:
        finished = False
        while not finished:
            self._limits.check_cost(self._spending.cost_usd)
            self._repetition.check()
            if self.steps >= self._limits.max_steps:
                raise MaxStepsReached(self.steps)
            self.steps += 1
            self._send(StepBegin(self.steps))
            try:
                finished = await self._step() and not await self._goes_on()
            except TurnRejected:
                raise
            except BaseException:
                self._send(StepInterrupted())
                raise

    async def _step(self) -> bool:
        """One model call and its tools. Whether the turn is finished."""
        await self._take_steers()
        if self._compactor.is_due:
            await self._make_room()
        await self._remind()
        await self._checkpoints.make("step", f"step {self.steps}")
        answer = await self._answer_in_room()
        if answer.message.tool_calls is None:
            await self._context.append_step([answer.message], token_count=_tokens(answer))
            self._status.tell(answer)
            return not self._steers
        await self._run_tools(answer, answer.message.tool_calls)
        if (dmail := self._dmailbox.take()) is not None:
            await carry_out(self._go_back(dmail))
        return False

    async def _remind(self) -> None:
        for remind in self._reminders:
            await remind(self._note)

    async def _goes_on(self) -> bool:
        """Whether a hook wants the model to go on though it has ended."""
        why = await self._turn_hooks.stop()
        if why:
            await self._note(why)
        return bool(why)

    async def _make_room(self, *, urgent: bool = False) -> bool:
        """Compact the conversation within the step under way. Whether it became shorter.

        When it is `urgent`, no hook can keep it from that.
        """
        try:
            await self._turn_hooks.before_compaction(self._context.token_count_with_pending, by_itself=True)
        except HookBlocked as blocked:
            logger.info("%s", blocked)
            if not urgent:
                self._compactor.postpone()
                return False
        compacted = await self._compactor.compact(request=self._request.index, step=self.steps, urgent=urgent)
        if compacted is None or compacted.request is None:
            return False
        self._request.index = compacted.request
        self._request.checkpoint = -1
        self._repetition.begin()
        self._status.tell()
        await self._turn_hooks.after_compaction(compacted.tokens, by_itself=True)
        return True

    async def _answer_in_room(self) -> Answer:
        """The answer; when the model finds the conversation too long, to one that was compacted."""
        try:
            return await self._answer()
        except ContextTooLong as error:
            if not await self._make_room(urgent=True):
                raise _too_long(error) from error
        await self._remind()  # of what the compaction took away
        try:
            return await self._answer()
        except ContextTooLong as error:
            raise _too_long(error) from error

    async def _answer(self) -> Answer:
        history = self._context.history
        self._call_ids.begin(history)
        llm = self._behaviour.require_llm()  # another one may be chosen before the answer is complete
        call = ModelCall(
            chat_provider=self._behaviour.chat_provider,
            system_prompt=self._agent.system_prompt,
            tools=self._agent.toolset.schemas,
            history=perceived(history, llm.capabilities),
            taken_ids=self._call_ids,
        )
        try:
            return await call.answer(
                step=self.steps,
                max_attempts=self._limits.max_attempts,
                show=self._send,
                on_retry=self._send,
                spend=lambda usage: self._spending.add(usage, llm),
            )
        except AnswerBrokeOff as broken:
            await self._keep_partial(broken.partial)
            raise broken.__cause__ or broken from None

    async def _keep_partial(self, partial: Message | None) -> None:
        if partial is not None:
            await self._context.append_step(broken_off(partial), token_count=None)

    async def _run_tools(self, answer: Answer, calls: tuple[ToolCall, ...]) -> None:
        """Run `calls`; the step's messages are in the context afterwards, also when it is cancelled."""
        await self._context.note_pending(answer.message)
        running = StepCalls(
            self._agent.toolset,
            calls,
            send=self._send,
            keep=self._keep_result,
            around=self._file_states.around if self._file_states is not None else None,
            hooks=self._hooks,
            gate=self._behaviour.plan_mode,
        )
        try:
            await running.run()
        finally:
            results = [result_message(call, result) for call, result in running.results]
            if words := self._repetition.look_at(running.results):
                results.append(user_message((system_note(words),)))
            await self._context.append_step([answer.message, *results], token_count=_tokens(answer))
            self._status.tell(answer)
        if running.rejected:
            raise TurnRejected

    async def _keep_result(self, call: ToolCall, result: ToolReturn) -> None:
        await self._context.note_pending(result_message(call, result))

    async def _take_steers(self) -> None:
        if self._steers:
            await carry_out(self._hear_steers())

    async def _hear_steers(self) -> None:
        while self._steers:
            user_input = self._steers[0]
            await self._context.append_message(steer_message(user_input))
            del self._steers[0]
            self._send(SteerInput(user_input))

    async def _note(self, text: str) -> None:
        await self._context.append_message(user_message((system_note(text),)))

    async def _go_back(self, dmail: DMail) -> None:
        await deliver(
            dmail,
            context=self._context,
            request=self._request,
            checkpoints=self._checkpoints,
            send=self._send,
        )
        self._repetition.begin()
        self._status.tell()


def _too_long(error: ContextTooLong) -> ContextTooLong:
    return ContextTooLong(
        f"The conversation is too long for the model, and compacting it was not enough: {error.what}",
        status_code=error.status_code,
        hint="Switch to a model with a larger context, go back to an earlier checkpoint, or /clear.",
    )


def _tokens(answer: Answer) -> int | None:
    """What the provider counted; None when it did not: some servers report noughts."""
    return (answer.usage.total or None) if answer.usage is not None else None
