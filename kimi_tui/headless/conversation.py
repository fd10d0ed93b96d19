"""Print mode's side of the Wire: prompts go in, events come out, requests are answered by nobody."""

import asyncio
import logging
from collections.abc import AsyncIterator

from kimi_tui.base.content import UserInput
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.headless.printer import Printer
from kimi_tui.headless.tally import Tally
from kimi_tui.wire.channel import Outgoing, Subscription, Wire
from kimi_tui.wire.commands import Command, Prompt, RunSlash
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwEnd,
    Notification,
    ReplayBegin,
    ReplayEnd,
    SessionInfo,
    SlashCommandInfo,
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

logger = logging.getLogger(__name__)

NOBODY_HERE = (
    "nobody can approve this here, since kimi-tui runs without a terminal. Go on without it, or end with what"
    " you have and name what is missing. The user can allow it with --yolo or a rule under permissions.allow."
)


_SIDE_QUESTION = "btw"
"""The command whose answer is awaited, though it takes no turn."""


class Conversation:
    """One prompt after another, each when the turn before it is over."""

    def __init__(self, *, wire: Wire, printer: Printer, tally: Tally) -> None:
        self._wire = wire
        self._printer = printer
        self._tally = tally
        self._info: SessionInfo | None = None
        self._opened = asyncio.Event()
        self._turn_over = asyncio.Event()
        self._in_turn = False
        self.wanted = asyncio.Event()
        """Set once there is something to send: before that, no session needs to be opened."""

    async def hold(self, prompts: AsyncIterator[UserInput]) -> None:
        """Send `prompts` until they end or a turn ends the run. What goes wrong is in the tally."""
        try:
            async for user_input in prompts:
                self.wanted.set()
                await self._opened.wait()
                await self._send(user_input)
                if not self._tally.may_go_on:
                    return
        except KimiTuiError as error:
            self._tally.fail(error)

    async def follow(self, subscription: Subscription) -> None:
        """Show and count events, and answer requests, until the Wire closes."""
        try:
            replaying = False
            async for event in subscription:
                match event:
                    case ReplayBegin():
                        replaying = True
                    case ReplayEnd():
                        replaying = False
                    case _ if not replaying:
                        await self._take(event)
        except Exception as error:
            logger.exception("print mode failed")
            self._tally.fail(internal_error(error))
        finally:
            self._turn_over.set()

    async def _send(self, user_input: UserInput) -> None:
        info = self._command_in(user_input) if isinstance(user_input, str) else None
        command: Command = Prompt(user_input)
        if isinstance(user_input, str) and info is not None:
            command = RunSlash(user_input.strip().removeprefix("/"))
        if info is not None and not info.takes_turn and info.name != _SIDE_QUESTION:
            self._wire.command(command)
            return
        self._turn_over.clear()
        self._in_turn = info is None or info.takes_turn
        self._wire.command(command)
        await self._turn_over.wait()
        self._in_turn = False

    def _command_in(self, text: str) -> SlashCommandInfo | None:
        """The engine's command that `text` is; any other text that begins with a slash is for the model."""
        if not text.startswith("/") or self._info is None:
            return None
        name = text[1:].split(maxsplit=1)[:1]
        return next(
            (
                it
                for it in self._info.slash_commands
                if any(name == [known] for known in (it.name, *it.aliases))
            ),
            None,
        )

    async def _take(self, event: Outgoing) -> None:
        self._tally.count(event)
        match event:
            case SessionInfo():
                first, self._info = self._info is None, event
                if first:
                    await self._printer.begin(event)
                    self._opened.set()
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
        await self._printer.show(event)
        if isinstance(event, TurnEnd | BtwEnd):
            self._turn_over.set()


def internal_error(error: Exception) -> KimiTuiError:
    """What to say of a defect of ours."""
    return KimiTuiError(
        f"An internal error ended the run: {type(error).__name__}: {error}.",
        hint="The log has the details; `kimi-tui info` says where it is.",
    )
