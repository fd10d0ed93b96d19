"""An open ACP session: translates requests to engine commands, and engine events to updates."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import assert_never

from acp.schema import PromptResponse, StopReason, Usage

from kimi_tui.acp.client import AcpClient
from kimi_tui.acp.errors import invalid_request, request_error
from kimi_tui.acp.pending_requests import AcpPendingRequests
from kimi_tui.acp.prompt import PromptBlock, to_user_input
from kimi_tui.acp.revert_notice import RevertNotice, describe_reverted
from kimi_tui.acp.session_settings import ConfigOption, commands_for, session_config_options, setting_updates
from kimi_tui.acp.session_update_translator import SessionUpdateTranslator
from kimi_tui.base.content_parts import TextPart, ThinkPart, UserInput, is_blank
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.ids import new_id
from kimi_tui.base.message import ToolCallPart
from kimi_tui.base.redaction import redact
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.frontend.text.app_commands import app_only_error
from kimi_tui.wire.channel import Outgoing, Wire, WireClosed
from kimi_tui.wire.commands import Interrupt, Prompt, RunSlash, SaveRecording, Shutdown
from kimi_tui.wire.events import (
    ApprovalResponse,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    Reverted,
    SessionInfo,
    StatusUpdate,
    ToolOutput,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest, HookRequest, QuestionRequest, ToolCallRequest

logger = logging.getLogger(__name__)

BATCH_DELAY_S = 0.02
"""Seconds to collect text fragments between two batches."""
CLOSE_TIMEOUT_S = 10.0
"""Seconds to wait for the engine to stop running work and save the session."""
_SESSION_ENDED = KimiTuiError("The session has ended.", hint="Load it again. See the log for details.")


class AcpSession:
    """A session of the client. Call `open` first."""

    def __init__(self, *, client: AcpClient, wire: Wire, tasks: asyncio.TaskGroup) -> None:
        self._client = client
        self._wire = wire
        self._tasks = tasks
        self._subscription = wire.subscribe()
        self._info: SessionInfo | None = None
        self._translator = SessionUpdateTranslator(work_dir=Path())
        self._replay_events: list[Outgoing] = []
        self._new_events: list[Outgoing] = []
        """Events sent while the session was opening, except replayed events."""
        self._engine_task: asyncio.Task[None] | None = None
        self._failure: KimiTuiError | None = None
        self._turn: asyncio.Future[TurnEnd] | None = None
        self._is_cancelled = False
        """Whether the client has canceled its last prompt."""
        self._prompt_id: str | None = None
        """Identifies the turn of the client's last prompt in a session shared with other clients."""
        self._in_other_turn = False
        """Whether a turn of another client of the session is running."""
        self._requests = AcpPendingRequests(client=client, wire=wire, tasks=tasks)
        self._usage: TokenUsage | None = None
        self._in_replay = False
        self._revert_notice = RevertNotice()
        self._is_forwarding = False
        self._is_sending = False
        self._batches = 0
        self._batch_sent = asyncio.Condition()

    @property
    def id(self) -> str:
        """Id of the session. The client and the session store use the same id."""
        return self.info.session_id

    @property
    def info(self) -> SessionInfo:
        """Current description of the session."""
        assert self._info is not None, "the session is not open yet"
        return self._info

    @property
    def options(self) -> list[ConfigOption]:
        """Options that the user can set, with their current values."""
        return session_config_options(
            self.info, supports_boolean_options=self._client.supports_boolean_options
        )

    # lifecycle

    async def open(self, serve: Callable[[], Awaitable[None]]) -> None:
        """Open the session, and wait until it is open. Raises RequestError if it can't be opened.

        `serve` opens an engine for the session's Wire and runs the engine until Shutdown.
        """
        self._engine_task = self._tasks.create_task(self._serve(serve))
        try:
            await self._wire.command_and_wait(SaveRecording())
        except WireClosed:
            raise request_error(self._failure or _SESSION_ENDED) from self._failure
        for message in self._subscription.pop_pending():
            if isinstance(message, SessionInfo):
                self._info = message
            elif self._is_replayed(message):
                self._replay_events.append(message)
            else:
                self._new_events.append(message)
        if self._info is None:
            raise request_error(_SESSION_ENDED)
        self._translator = SessionUpdateTranslator(work_dir=Path(self._info.work_dir))

    async def send_replay(self) -> None:
        """Send the history of earlier runs."""
        for message in self._replay_events:
            for update in self._translator.translate_replay(message):
                await self._client.send_update(self.id, update)

    def start_forwarding(self) -> None:
        """Start forwarding new events. Nothing is sent before the caller's next `await`."""
        if not self._is_forwarding:
            self._is_forwarding = True
            self._replay_events.clear()
            self._tasks.create_task(self._forward_events())

    async def close(self, *, cancels_work: bool = False) -> None:
        """Close the session. A session in the resident engine continues without this client.

        `cancels_work`: whether to cancel running work even in the resident engine.
        """
        if cancels_work:
            self._wire.command(Interrupt())
        self._wire.command(Shutdown())
        if self._engine_task is not None:
            await asyncio.wait([self._engine_task], timeout=CLOSE_TIMEOUT_S)
            self._engine_task.cancel()

    async def _serve(self, serve: Callable[[], Awaitable[None]]) -> None:
        try:
            await serve()
        except KimiTuiError as error:
            logger.warning("a session can't be opened: %s", error)
            self._failure = error
        except Exception as error:
            logger.exception("the engine failed")
            message = redact(f"The session ended with an internal error: {type(error).__name__}: {error}.")
            self._failure = KimiTuiError(
                message, hint="See the log for details. `kimi-tui info` shows its path."
            )
        finally:
            self._wire.close()

    # requests of the client

    async def prompt(self, blocks: Sequence[PromptBlock]) -> PromptResponse:
        """Run a turn and return its outcome. Raises RequestError."""
        user_input = to_user_input(blocks)
        if is_blank(user_input):
            raise invalid_request("The prompt is empty.")
        if (error := app_only_error(self.info, user_input)) is not None:
            raise invalid_request(str(error))
        if self._turn is not None or self._in_other_turn:
            raise invalid_request(
                "A turn is already running in this session. Wait until it ends, or cancel it."
            )
        self._turn = asyncio.get_running_loop().create_future()
        self._prompt_id = new_id() if self.info.resident else None
        self._is_cancelled = False
        try:
            return await self._run_turn(user_input, self._turn)
        finally:
            self._turn = None

    def cancel(self) -> None:
        """Cancel the turn of the client's prompt. If it isn't running, cancel the turn of another client."""
        if self._turn is not None:
            self._is_cancelled = True
            self._wire.command(Interrupt(self._prompt_id))
        elif self._in_other_turn:
            self._wire.command(Interrupt())

    async def set_option(self, option: str, value: str | bool) -> None:
        """Set an option of the session. Raises RequestError if the option or value is invalid."""
        try:
            for command in commands_for(option, value, self.info):
                await self._wire.command_and_wait(command)
        except WireClosed:
            raise request_error(self._failure or _SESSION_ENDED) from None
        await self._wait_until_sent()

    def attach_terminal(self, call_id: str, terminal_id: str) -> None:
        """Show a terminal of the client in a tool call."""
        for update in self._translator.attach_terminal(call_id, terminal_id):
            self._tasks.create_task(self._client.send_update(self.id, update))

    async def _run_turn(self, user_input: UserInput, turn: "asyncio.Future[TurnEnd]") -> PromptResponse:
        command = self.info.parse_command(user_input)
        if command is None or not isinstance(user_input, str):
            self._wire.command(Prompt(user_input, self._prompt_id))
        else:
            line = user_input.strip().removeprefix("/")
            if not command.takes_turn:
                self._prompt_id = None
                return await self._run_slash(line)
            self._wire.command(RunSlash(line, self._prompt_id))
        if self._wire.is_closed:
            raise request_error(self._failure or _SESSION_ENDED)
        end = await turn
        return PromptResponse(stop_reason=_stop_reason(end), usage=self._session_usage())

    async def _run_slash(self, line: str) -> PromptResponse:
        try:
            await self._wire.command_and_wait(RunSlash(line))
        except WireClosed:
            raise request_error(self._failure or _SESSION_ENDED) from None
        await self._wait_until_sent()
        return PromptResponse(stop_reason="cancelled" if self._is_cancelled else "end_turn")

    def _session_usage(self) -> Usage | None:
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

    # events of the engine

    async def _forward_events(self) -> None:
        """Forward all events to the client until the Wire closes."""
        try:
            for update in setting_updates(
                None, self.info, supports_boolean_options=self._client.supports_boolean_options
            ):
                await self._client.send_update(self.id, update)
            batch, self._new_events = self._new_events, []
            while True:
                self._is_sending = True
                for message in batch:
                    try:
                        await self._forward(message)
                    except Exception:
                        logger.exception("can't forward a %s", type(message).__name__)
                await self._finish_batch()
                if batch and all(isinstance(message, _FRAGMENTS) for message in batch):
                    await asyncio.sleep(BATCH_DELAY_S)
                if not (batch := await self._subscription.drain()):
                    return
        finally:
            self._is_sending = False
            self._requests.close_all()
            if self._turn is not None and not self._turn.done():
                self._turn.set_exception(request_error(self._failure or _SESSION_ENDED))
            async with self._batch_sent:
                self._batch_sent.notify_all()

    async def _finish_batch(self) -> None:
        async with self._batch_sent:
            self._is_sending = False
            self._batches += 1
            self._batch_sent.notify_all()

    async def _wait_until_sent(self) -> None:
        """Wait until all events that the engine has sent so far are forwarded."""
        target = self._batches + self._is_sending + self._subscription.has_pending
        async with self._batch_sent:
            await self._batch_sent.wait_for(lambda: self._batches >= target or self._wire.is_closed)

    async def _forward(self, message: Outgoing) -> None:
        if self._is_replayed(message):
            self._revert_notice.record(message)
            if isinstance(message, ReplayEnd):
                await self._client.send_update(
                    self.id, self._translator.build_notice(self._revert_notice.summary)
                )
            return
        match message:
            case SessionInfo():
                await self._update_info(message)
            case RequestClosed(request_id=request_id):
                self._requests.close(request_id)
            case ApprovalRequest() | QuestionRequest() | ToolCallRequest() | HookRequest():
                await self._requests.ask(message, session_id=self.id, translator=self._translator)
            case TurnBegin() if self.info.resident and not self._is_own(message):
                self._in_other_turn = True
                for update in self._translator.translate_replay(message):  # the prompt
                    await self._client.send_update(self.id, update)
            case _:
                if isinstance(message, ApprovalResponse):
                    self._requests.close(message.request_id)  # another client may have answered it
                if isinstance(message, StatusUpdate) and message.session_usage is not None:
                    self._usage = message.session_usage
                try:
                    for update in self._translator.translate(message):
                        await self._client.send_update(self.id, update)
                    if isinstance(message, Reverted) and (text := describe_reverted(message)):
                        await self._client.send_update(self.id, self._translator.build_notice(text))
                finally:
                    if isinstance(message, TurnEnd):
                        self._end_turn(message)

    def _is_own(self, begin: TurnBegin) -> bool:
        """Return whether a turn of a resident session was started by the client's prompt."""
        return begin.prompt_id is not None and begin.prompt_id == self._prompt_id

    def _end_turn(self, end: TurnEnd) -> None:
        if self._in_other_turn:
            self._in_other_turn = False
        elif self._turn is not None and not self._turn.done():
            self._turn.set_result(end)

    async def _update_info(self, info: SessionInfo) -> None:
        before, self._info = self._info, info
        for update in setting_updates(
            before, info, supports_boolean_options=self._client.supports_boolean_options
        ):
            await self._client.send_update(self.id, update)

    def _is_replayed(self, message: Outgoing) -> bool:
        if isinstance(message, ReplayBegin | ReplayEnd):
            self._in_replay = isinstance(message, ReplayBegin)
            return True
        return self._in_replay


_FRAGMENTS = (TextPart, ThinkPart, ToolCallPart, ToolOutput)


def _stop_reason(end: TurnEnd) -> StopReason:
    match end.outcome:
        case "finished" | "rejected" | "failed":
            return "end_turn"  # a failure is already reported in the conversation
        case "cancelled":
            return "cancelled"
        case "max_steps" | "limit":
            return "max_turn_requests"
        case _:
            assert_never(end.outcome)
