"""One session of the client's: what it asks becomes commands, what the engine tells becomes updates."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import assert_never

from acp.schema import PromptResponse, StopReason, Usage

from kimi_tui.acp.asking import Asking
from kimi_tui.acp.client import Client
from kimi_tui.acp.narrator import Narrator
from kimi_tui.acp.prompt import PromptBlock, user_input_of
from kimi_tui.acp.recalled import Recalled, taken_back
from kimi_tui.acp.settings import ConfigOption, commands_for, options_of, updates_between
from kimi_tui.acp.words import invalid, request_error
from kimi_tui.base.content import TextPart, ThinkPart, UserInput, is_blank
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import ToolCallPart
from kimi_tui.base.secrets import blacked_out
from kimi_tui.base.usage import TokenUsage
from kimi_tui.wire.channel import Outgoing, Wire, WireClosed
from kimi_tui.wire.commands import Interrupt, Prompt, RunSlash, SaveRecording, Shutdown
from kimi_tui.wire.events import (
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    Reverted,
    SessionInfo,
    StatusUpdate,
    ToolOutput,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest, HookRequest, QuestionRequest, ToolCallRequest
from kimi_tui.words.app_commands import meant_for_app

logger = logging.getLogger(__name__)

PACE_S = 0.02
"""How long fragments gather before the next are sent."""
CLOSING_S = 10.0
"""How long the engine may take to stop what runs and to save."""
_ENDED = KimiTuiError("The session has ended.", hint="Open it again; the log has the details.")


class Session:
    """A session that is open. Made by `opened`."""

    def __init__(self, *, client: Client, wire: Wire, tasks: asyncio.TaskGroup) -> None:
        self._client = client
        self._wire = wire
        self._tasks = tasks
        self._subscription = wire.subscribe()
        self._info: SessionInfo | None = None
        self._narrator = Narrator(work_dir=Path())
        self._past: list[Outgoing] = []
        self._news: list[Outgoing] = []
        """What the engine told when it opened: of earlier runs, and of this one."""
        self._serving: asyncio.Task[None] | None = None
        self._failure: KimiTuiError | None = None
        self._turn: asyncio.Future[TurnEnd] | None = None
        self._is_cancelled = False
        """Whether the client has cancelled what it prompted for last."""
        self._asking = Asking(client=client, wire=wire, tasks=tasks)
        self._usage: TokenUsage | None = None
        self._in_replay = False
        self._recalled = Recalled()
        self._is_followed = False
        self._is_telling = False
        self._batches = 0
        self._told = asyncio.Condition()

    @property
    def id(self) -> str:
        """The id of the session, for the client as on disk."""
        return self.info.session_id

    @property
    def info(self) -> SessionInfo:
        """What the session is."""
        assert self._info is not None, "the session is not open yet"
        return self._info

    @property
    def options(self) -> list[ConfigOption]:
        """What the user can set, and how it is set."""
        return options_of(self.info, switches=self._client.takes_switches)

    # its life

    async def open(self, serve: Callable[[], Awaitable[None]]) -> None:
        """Wait until the session is there. Raises RequestError when it can't be opened.

        `serve` opens an engine behind the session's Wire and serves it until Shutdown.
        """
        self._serving = self._tasks.create_task(self._serve(serve))
        try:
            await self._wire.carry_out(SaveRecording())
        except WireClosed:
            raise request_error(self._failure or _ENDED) from self._failure
        for message in self._subscription.take():
            if isinstance(message, SessionInfo):
                self._info = message
            elif self._is_past(message):
                self._past.append(message)
            else:
                self._news.append(message)
        if self._info is None:
            raise request_error(_ENDED)
        self._narrator = Narrator(work_dir=Path(self._info.work_dir))

    async def tell_past(self) -> None:
        """Tell what was said in earlier runs."""
        for message in self._past:
            for update in self._narrator.replay(message):
                await self._client.update(self.id, update)

    def begin(self) -> None:
        """Tell what happens from here on. Nothing is sent before the task that calls this waits."""
        if not self._is_followed:
            self._is_followed = True
            self._past.clear()
            self._tasks.create_task(self._follow())

    async def close(self) -> None:
        """Cancel what runs, and end the session."""
        self._wire.command(Shutdown())
        if self._serving is not None:
            await asyncio.wait([self._serving], timeout=CLOSING_S)
            self._serving.cancel()

    async def _serve(self, serve: Callable[[], Awaitable[None]]) -> None:
        try:
            await serve()
        except KimiTuiError as error:
            logger.warning("a session can't be opened: %s", error)
            self._failure = error
        except Exception as error:
            logger.exception("the engine failed")
            what = blacked_out(f"An internal error ended the session: {type(error).__name__}: {error}.")
            self._failure = KimiTuiError(
                what, hint="The log has the details; `kimi-tui info` says where it is."
            )
        finally:
            self._wire.close()

    # what the client asks

    async def prompt(self, blocks: Sequence[PromptBlock]) -> PromptResponse:
        """Run a turn and say how it ended. Raises RequestError."""
        user_input = user_input_of(blocks)
        if is_blank(user_input):
            raise invalid("The prompt is empty.")
        if (refusal := meant_for_app(self.info, user_input)) is not None:
            raise invalid(str(refusal))
        if self._turn is not None:
            raise invalid("A turn is in progress in this session. Wait for its end, or cancel it.")
        self._turn = asyncio.get_running_loop().create_future()
        self._is_cancelled = False
        try:
            return await self._answer_to(user_input, self._turn)
        finally:
            self._turn = None

    def cancel(self) -> None:
        """Cancel the turn that runs, if one does."""
        if self._turn is not None:
            self._is_cancelled = True
            self._wire.command(Interrupt())

    async def set_option(self, option: str, value: str | bool) -> None:
        """Set an option of the session. Raises RequestError for one that isn't there."""
        try:
            for command in commands_for(option, value, self.info):
                await self._wire.carry_out(command)
        except WireClosed:
            raise request_error(self._failure or _ENDED) from None
        await self._catch_up()

    def attach_terminal(self, call_id: str, terminal_id: str) -> None:
        """Show a terminal of the client's in a tool call."""
        for update in self._narrator.attach_terminal(call_id, terminal_id):
            self._tasks.create_task(self._client.update(self.id, update))

    async def _answer_to(self, user_input: UserInput, turn: "asyncio.Future[TurnEnd]") -> PromptResponse:
        command = self.info.command_in(user_input)
        if command is None or not isinstance(user_input, str):
            self._wire.command(Prompt(user_input))
        else:
            line = user_input.strip().removeprefix("/")
            if not command.takes_turn:
                return await self._run_slash(line)
            self._wire.command(RunSlash(line))
        if self._wire.closed:
            raise request_error(self._failure or _ENDED)
        end = await turn
        return PromptResponse(stop_reason=_stop_reason(end), usage=self._usage_so_far())

    async def _run_slash(self, line: str) -> PromptResponse:
        try:
            await self._wire.carry_out(RunSlash(line))
        except WireClosed:
            raise request_error(self._failure or _ENDED) from None
        await self._catch_up()
        return PromptResponse(stop_reason="cancelled" if self._is_cancelled else "end_turn")

    def _usage_so_far(self) -> Usage | None:
        usage = self._usage
        if usage is None:
            return None
        return Usage(
            total_tokens=usage.total,
            input_tokens=usage.input_other,
            output_tokens=usage.output,
            cached_read_tokens=usage.input_cache_read,
            cached_write_tokens=usage.input_cache_creation,
        )

    # what the engine tells

    async def _follow(self) -> None:
        """Tell the client everything, until the Wire closes."""
        try:
            for update in updates_between(None, self.info, switches=self._client.takes_switches):
                await self._client.update(self.id, update)
            batch, self._news = self._news, []
            while True:
                self._is_telling = True
                for message in batch:
                    try:
                        await self._tell(message)
                    except Exception:
                        logger.exception("a %s could not be told", type(message).__name__)
                await self._have_told()
                if batch and all(isinstance(message, _FRAGMENTS) for message in batch):
                    await asyncio.sleep(PACE_S)
                if not (batch := await self._subscription.drain()):
                    return
        finally:
            self._is_telling = False
            self._asking.close_all()
            if self._turn is not None and not self._turn.done():
                self._turn.set_exception(request_error(self._failure or _ENDED))
            async with self._told:
                self._told.notify_all()

    async def _have_told(self) -> None:
        async with self._told:
            self._is_telling = False
            self._batches += 1
            self._told.notify_all()

    async def _catch_up(self) -> None:
        """Return once the client has been told what the engine has sent until now."""
        wanted = self._batches + self._is_telling + self._subscription.has_pending
        async with self._told:
            await self._told.wait_for(lambda: self._batches >= wanted or self._wire.closed)

    async def _tell(self, message: Outgoing) -> None:
        if self._is_past(message):
            self._recalled.take(message)
            if isinstance(message, ReplayEnd):
                await self._client.update(self.id, self._narrator.remark(self._recalled.remaining))
            return
        match message:
            case SessionInfo():
                await self._describe(message)
            case RequestClosed(request_id=request_id):
                self._asking.close(request_id)
            case ApprovalRequest() | QuestionRequest() | ToolCallRequest() | HookRequest():
                await self._asking.ask(message, session_id=self.id, narrator=self._narrator)
            case _:
                if isinstance(message, StatusUpdate) and message.session_usage is not None:
                    self._usage = message.session_usage
                try:
                    for update in self._narrator.tell(message):
                        await self._client.update(self.id, update)
                    if isinstance(message, Reverted) and (words := taken_back(message)):
                        await self._client.update(self.id, self._narrator.remark(words))
                finally:
                    if isinstance(message, TurnEnd) and self._turn is not None and not self._turn.done():
                        self._turn.set_result(message)

    async def _describe(self, info: SessionInfo) -> None:
        before, self._info = self._info, info
        for update in updates_between(before, info, switches=self._client.takes_switches):
            await self._client.update(self.id, update)

    def _is_past(self, message: Outgoing) -> bool:
        if isinstance(message, ReplayBegin | ReplayEnd):
            self._in_replay = isinstance(message, ReplayBegin)
            return True
        return self._in_replay


_FRAGMENTS = (TextPart, ThinkPart, ToolCallPart, ToolOutput)


def _stop_reason(end: TurnEnd) -> StopReason:
    match end.outcome:
        case "finished" | "rejected" | "failed":
            return "end_turn"  # what failed has been told in the conversation
        case "cancelled":
            return "cancelled"
        case "max_steps" | "limit":
            return "max_turn_requests"
        case _:
            assert_never(end.outcome)
