"""Print mode's side of the Wire: prompts go in, events come out, requests are answered by nobody."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

from kimi_tui.base.content import UserInput
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.output_schema import ATTEMPTS, Misfit, OutputSchema
from kimi_tui.base.secrets import blacked_out
from kimi_tui.headless.printer import Printer
from kimi_tui.headless.replies import reply_of
from kimi_tui.headless.tally import Tally
from kimi_tui.wire.channel import REQUESTS, Outgoing, Subscription, Wire, WireClosed
from kimi_tui.wire.commands import Command, Prompt, RunSlash
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwEnd,
    Notification,
    ReplayBegin,
    ReplayEnd,
    SessionInfo,
    ToolReturn,
    TurnEnd,
)
from kimi_tui.wire.requests import (
    ApprovalRequest,
    HookRequest,
    HookResponse,
    QuestionRequest,
    QuestionResponse,
    ToolCallRequest,
    ToolCallResponse,
)
from kimi_tui.words.app_commands import meant_for_app

logger = logging.getLogger(__name__)

NOBODY_HERE = (
    "nobody can approve this here, since kimi-tui runs without a terminal. Go on without it, or end with what"
    " you have and name what is missing. The user can allow it with --yolo or a rule under permissions.allow."
)


_SIDE_QUESTION = "btw"
"""The command whose answer is awaited, though it takes no turn."""


class Conversation:
    """One prompt after another, each when the turn before it is over."""

    def __init__(
        self, *, wire: Wire, printer: Printer, tally: Tally, schema: OutputSchema | None = None
    ) -> None:
        self._wire = wire
        self._printer = printer
        self._tally = tally
        self._schema = schema
        self._subscription: Subscription | None = None
        self._showing = False
        self._shown = asyncio.Event()
        self.info: SessionInfo | None = None
        self.opened = asyncio.Event()
        """Set when the session is open."""
        self._turn_over = asyncio.Event()
        self._in_turn = False
        self._in_command = False
        """Whether a command is carried out whose answer no turn tells."""
        self.wanted = asyncio.Event()
        """Set once there is something to send: before that, no session needs to be opened."""

    async def hold(self, prompts: AsyncIterator[UserInput]) -> None:
        """Send `prompts` until they end or a turn ends the run. What goes wrong is in the tally."""
        try:
            async for user_input in prompts:
                self.wanted.set()
                await self.opened.wait()
                await self.send(user_input)
                if not self._tally.may_go_on:
                    return
        except KimiTuiError as error:
            self._tally.fail(error)

    def hand_to(self, printer: Printer, tally: Tally) -> None:
        """Show what comes from now on to `printer`, and count it in `tally`."""
        self._printer = printer
        self._tally = tally

    async def send(self, user_input: UserInput) -> None:
        """One prompt or command, to its end. What goes wrong is in the tally."""
        if (refusal := meant_for_app(self.info, user_input)) is not None:
            self._tally.fail(refusal)
            return
        info = self.info.command_in(user_input) if self.info is not None else None
        if info is None:
            await self._prompt(user_input)
            return
        command = RunSlash(str(user_input).strip().removeprefix("/"))
        if info.takes_turn or info.name == _SIDE_QUESTION:
            await self._turn(command, in_turn=info.takes_turn)
        else:
            self._in_command = True
            with contextlib.suppress(WireClosed):
                await self._wire.carry_out(command)
                await self._everything_shown()
            self._in_command = False

    async def follow(self, subscription: Subscription) -> None:
        """Show and count events, and answer requests, until the Wire closes."""
        self._subscription = subscription
        replaying = False
        try:
            while batch := await subscription.drain():
                self._showing = True
                for event in batch:
                    if isinstance(event, ReplayBegin | ReplayEnd):
                        replaying = isinstance(event, ReplayBegin)
                    elif not replaying:
                        await self._take(event)
                self._showing = False
                self._shown.set()
        except Exception as error:
            logger.exception("print mode failed")
            self._tally.fail(internal_error(error))
        finally:
            self._subscription = None
            self._showing = False
            self._shown.set()
            self._turn_over.set()

    async def _prompt(self, user_input: UserInput) -> None:
        """A turn, and as many more as it takes until the answer fits the schema, if there is one."""
        schema = self._schema
        if schema is None:
            await self._turn(Prompt(user_input))
            return
        user_input = schema.asked_along_with(user_input)
        problem = ""
        for _ in range(ATTEMPTS):
            await self._turn(Prompt(user_input))
            if self._tally.outcome != "finished" or not self._tally.may_go_on:
                return
            try:
                self._tally.structured = schema.read(self._tally.text)
            except Misfit as misfit:
                user_input = misfit.correction
                problem = str(misfit)
            else:
                return
        what = f"The answer doesn't fit the output schema after {ATTEMPTS} attempts: {problem}"
        self._tally.fail(KimiTuiError(what, hint="Make the schema simpler, or use another model."))

    async def _turn(self, command: Command, *, in_turn: bool = True) -> None:
        self._turn_over.clear()
        self._in_turn = in_turn
        if not self._wire.closed:
            self._wire.command(command)
            await self._turn_over.wait()
        self._in_turn = False

    async def _everything_shown(self) -> None:
        while self._showing or (self._subscription is not None and self._subscription.has_pending):
            self._shown.clear()
            await self._shown.wait()

    async def _take(self, event: Outgoing) -> None:
        self._tally.count(event)
        match event:
            case SessionInfo():
                first, self.info = self.info is None, event
                if first:
                    await self._printer.begin(event)
                    self.opened.set()
                return
            case ApprovalRequest():
                self._tally.deny(event)
                self._wire.answer(ApprovalResponse(event.id, "reject", NOBODY_HERE))
            case QuestionRequest():
                self._wire.answer(QuestionResponse(event.id, {}, unanswerable=True))
            case ToolCallRequest():
                nobody = ToolReturn(is_error=True, message="Nobody is here to run this tool.")
                self._wire.answer(ToolCallResponse(event.id, nobody))
            case HookRequest():
                self._wire.answer(HookResponse(event.id))
            case Notification(severity="error", title=title, body=body) if not self._in_turn:
                self._tally.fail(KimiTuiError(title, hint=body))
                self._turn_over.set()
                return
            case BtwEnd(error=str(error)):
                self._tally.fail(KimiTuiError(error))
        if self._in_command and not isinstance(event, REQUESTS) and (reply := reply_of(event)):
            await self._printer.reply(event, reply)
        await self._printer.show(event)
        if isinstance(event, TurnEnd | BtwEnd):
            self._turn_over.set()


def internal_error(error: Exception) -> KimiTuiError:
    """What to say of a defect of ours."""
    return KimiTuiError(
        blacked_out(f"An internal error ended the run: {type(error).__name__}: {error}."),
        hint="The log has the details; `kimi-tui info` says where it is.",
    )
