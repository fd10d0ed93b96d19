"""Print mode's side of the Wire: sends prompts, prints events and declines requests."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.ids import new_id
from kimi_tui.base.message_text import msg
from kimi_tui.base.output_schema import ATTEMPTS, OutputSchema, SchemaMismatch
from kimi_tui.base.redaction import redact
from kimi_tui.frontend.text.app_commands import app_only_error
from kimi_tui.headless.command_replies import render_reply
from kimi_tui.headless.printer import Printer
from kimi_tui.headless.run_stats import RunStats
from kimi_tui.wire.channel import Outgoing, Subscription, Wire, WireClosed
from kimi_tui.wire.commands import Command, Interrupt, Prompt, RunSlash
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwEnd,
    Notification,
    SessionInfo,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import (
    ApprovalRequest,
    HookRequest,
    HookResponse,
    QuestionRequest,
    QuestionResponse,
    Request,
    ToolCallRequest,
    ToolCallResponse,
)

logger = logging.getLogger(__name__)

NO_APPROVER_FEEDBACK = (
    "no one can approve this because kimi-tui is running without a terminal. Continue without it, or finish"
    " with what you have and say what is missing. The user can allow it with --yolo or a rule in"
    " permissions.allow."
)


_SIDE_QUESTION = "btw"
"""Command without a turn whose response is awaited."""


class TurnRunner:
    """Runs prompts one after another, each after the previous turn has ended."""

    def __init__(
        self, *, wire: Wire, printer: Printer, stats: RunStats, schema: OutputSchema | None = None
    ) -> None:
        self._wire = wire
        self._printer = printer
        self._stats = stats
        self._schema = schema
        self._subscription: Subscription | None = None
        self._is_printing = False
        self._all_printed = asyncio.Event()
        self.info: SessionInfo | None = None
        self.opened = asyncio.Event()
        """Set when the session is open."""
        self._turn_over = asyncio.Event()
        self._in_turn = False
        self._prompt_id: str | None = None
        """Identifies the turn of the last prompt in a session that others can use too."""
        self._in_other_turn = False
        """Whether a turn runs that another client of a resident session began."""
        self._in_command = False
        """Whether a command is running whose replies are printed outside of a turn."""
        self.has_prompts = asyncio.Event()
        """Set once there is a prompt. No session needs to be opened before."""

    async def run_prompts(self, prompts: AsyncIterator[UserInput]) -> None:
        """Run `prompts` until they end or the run can't continue. Errors are recorded in the statistics."""
        try:
            async for user_input in prompts:
                self.has_prompts.set()
                await self.opened.wait()
                await self.run_prompt(user_input)
                if not self._stats.can_continue:
                    return
        except KimiTuiError as error:
            self._stats.fail(error)

    def switch_output(self, printer: Printer, stats: RunStats) -> None:
        """Send further events to `printer` and record them in `stats`."""
        self._printer = printer
        self._stats = stats

    async def run_prompt(self, user_input: UserInput) -> None:
        """Run one prompt or command. Errors are recorded in the statistics."""
        if (refusal := app_only_error(self.info, user_input)) is not None:
            self._stats.fail(refusal)
            return
        info = self.info.parse_command(user_input) if self.info is not None else None
        if info is None:
            await self._run_prompt_turns(user_input)
            return
        self._prompt_id = None
        line = str(user_input).strip().removeprefix("/")
        command = RunSlash(line, self._new_prompt_id() if info.takes_turn else None)
        if info.takes_turn or info.name == _SIDE_QUESTION:
            await self._run_turn(command, in_turn=info.takes_turn)
        else:
            self._in_command = True
            with contextlib.suppress(WireClosed):
                await self._wire.command_and_wait(command)
                await self._wait_until_printed()
            self._in_command = False

    async def process_events(self, subscription: Subscription) -> None:
        """Print and record live events, and decline requests, until the Wire closes."""
        self._subscription = subscription
        try:
            while batch := await subscription.drain():
                self._is_printing = True
                for event in batch:
                    await self._process_event(event)
                self._is_printing = False
                self._all_printed.set()
        except Exception as error:
            logger.exception("print mode failed")
            self._stats.fail(internal_error(error))
        finally:
            self._subscription = None
            self._is_printing = False
            self._all_printed.set()
            self._turn_over.set()

    def _is_of_other_turn(self, event: Outgoing) -> bool:
        """Return whether `event` belongs to a turn of another client, which prints it and answers."""
        if isinstance(event, TurnBegin):
            is_own = event.prompt_id is not None and event.prompt_id == self._prompt_id
            self._in_other_turn = self._is_shared and not is_own
        is_other = self._in_other_turn and not isinstance(event, SessionInfo)
        if isinstance(event, TurnEnd):
            self._in_other_turn = False
        return is_other

    async def _run_prompt_turns(self, user_input: UserInput) -> None:
        """Run a turn. With a schema, run more turns until the response matches it."""
        schema = self._schema
        if schema is None:
            await self._run_turn(Prompt(user_input, self._new_prompt_id()))
            return
        user_input = schema.append_instructions(user_input)
        problem = ""
        for _ in range(ATTEMPTS):
            await self._run_turn(Prompt(user_input, self._new_prompt_id()))
            if self._stats.outcome != "finished" or not self._stats.can_continue:
                return
            try:
                self._stats.structured = schema.parse(self._stats.text)
            except SchemaMismatch as mismatch:
                user_input = mismatch.correction
                problem = str(mismatch)
            else:
                return
        what = msg(
            "The response doesn't match the output schema after {attempts} attempts: {problem}",
            attempts=ATTEMPTS,
            problem=problem,
        )
        self._stats.fail(KimiTuiError(what, hint="Simplify the schema, or use another model."))

    @property
    def _is_shared(self) -> bool:
        return self.info is not None and self.info.resident

    def _new_prompt_id(self) -> str | None:
        self._prompt_id = new_id() if self._is_shared else None
        return self._prompt_id

    def interrupt(self) -> None:
        """Cancel the turn of the last prompt, even if it hasn't begun yet."""
        self._wire.command(Interrupt(self._prompt_id))

    async def _run_turn(self, command: Command, *, in_turn: bool = True) -> None:
        self._turn_over.clear()
        self._in_turn = in_turn
        if not self._wire.is_closed:
            self._wire.command(command)
            await self._turn_over.wait()
        self._in_turn = False

    async def _wait_until_printed(self) -> None:
        while self._is_printing or (self._subscription is not None and self._subscription.has_pending):
            self._all_printed.clear()
            await self._all_printed.wait()

    async def _process_event(self, event: Outgoing) -> None:
        if self._is_of_other_turn(event):
            return
        self._stats.record(event)
        match event:
            case SessionInfo():
                first, self.info = self.info is None, event
                if first:
                    await self._printer.begin(event)
                    self.opened.set()
                return
            case ApprovalRequest():
                self._stats.deny(event)
                self._wire.answer(ApprovalResponse(event.id, "reject", NO_APPROVER_FEEDBACK))
            case QuestionRequest():
                self._wire.answer(QuestionResponse(event.id, {}, unanswerable=True))
            case ToolCallRequest():
                unavailable = ToolReturn(is_error=True, message="No client is available to run this tool.")
                self._wire.answer(ToolCallResponse(event.id, unavailable))
            case HookRequest():
                self._wire.answer(HookResponse(event.id))
            case Notification(severity="error", title=title, body=body) if not self._in_turn:
                self._stats.fail(KimiTuiError(title, hint=body))
                self._turn_over.set()
                return
            case BtwEnd(error=str(error)):
                self._stats.fail(KimiTuiError(error))
        if self._in_command and not isinstance(event, Request) and (reply := render_reply(event)):
            await self._printer.reply(event, reply)
        await self._printer.show(event)
        if isinstance(event, TurnEnd | BtwEnd):
            self._turn_over.set()


def internal_error(error: Exception) -> KimiTuiError:
    """Return an error that describes an unexpected exception."""
    return KimiTuiError(
        msg(
            "The run failed with an internal error: {error}: {problem}.",
            error=type(error).__name__,
            problem=redact(str(error)),
        ),
        hint="See the log for details. `kimi-tui info` shows its path.",
    )
