"""The server: a client's calls become commands, and what the engine sends reaches the client."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from kimi_tui.base.content import UserInput
from kimi_tui.base.encoding import to_jsonable
from kimi_tui.base.errors import KimiTuiError, ModelNotSet
from kimi_tui.wire.channel import REQUESTS, Outgoing, Subscription, Wire, WireClosed
from kimi_tui.wire.codec import encode
from kimi_tui.wire.commands import (
    Interrupt,
    Prompt,
    RegisterTools,
    RunSlash,
    SetPlanMode,
    Steer,
    SubscribeHooks,
)
from kimi_tui.wire.events import (
    ApprovalResponse,
    BtwBegin,
    BtwEnd,
    Notification,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    SessionInfo,
    SlashCommandInfo,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest, QuestionResponse
from kimi_tui.wireserver.client import Client
from kimi_tui.wireserver.external_tools import sorted_out
from kimi_tui.wireserver.handshake import introduction, subscriptions
from kimi_tui.wireserver.jsonrpc import Call, ErrorCode, Reply, RpcError, parsed
from kimi_tui.wireserver.open_requests import OpenRequests
from kimi_tui.wireserver.outcome import code_of, result_of
from kimi_tui.wireserver.params import InitializeParams, InputParams, PlanModeParams, params_of
from kimi_tui.wireserver.replay import Replay
from kimi_tui.wireserver.timeline import METHODS, Method, answered

logger = logging.getLogger(__name__)

_SIDE_QUESTION = "btw"
"""The command that may be run beside a turn."""
_NO_TURN = "No agent turn is in progress. Send a prompt first."
_BUSY = "An agent turn is already in progress. Wait for its result, or cancel it."


class Server:
    """Serves one client on one session. Calls are followed in the order in which they came."""

    def __init__(self, *, wire: Wire, client: Client, version: str, tasks: asyncio.TaskGroup) -> None:
        self._wire = wire
        self._client = client
        self._version = version
        self._tasks = tasks
        self._subscription: Subscription = wire.subscribe()
        self._requests = OpenRequests(wire)
        self._info: SessionInfo | None = None
        self._opened = asyncio.Event()
        self._failure: KimiTuiError | None = None
        self._prompt: Call | None = None
        """The prompt whose turn is to end."""
        self._in_turn = False
        self._replay = Replay(wire=wire, client=client, tasks=tasks)
        self._slash: asyncio.Task[None] | None = None
        self._held: list[Outgoing] | None = []
        """What the session told before the client's first word; None from then on."""
        self._side_questions: set[str] = set()
        """Those that wait for their answer."""
        self._is_replay = False
        self._showing = False
        self._quiet = asyncio.Event()
        self._methods: Mapping[str, Callable[[Call], Awaitable[dict[str, Any] | None]]] = {
            "initialize": self._initialize,
            "prompt": self._run_prompt,
            "run": self._run_prompt,
            "steer": self._steer,
            "cancel": self._cancel,
            "interrupt": self._cancel,
            "replay": self._start_replay,
            "set_plan_mode": self._set_plan_mode,
            **{name: partial(self._travel, method) for name, method in METHODS.items()},
        }

    # what the client says

    async def take(self, line: bytes) -> None:
        """Follow one line. Whatever is wrong with it is answered."""
        try:
            message = parsed(line)
        except RpcError as error:
            self._client.error(error.id, error.code, error.message)
            return
        if isinstance(message, Reply):
            self._requests.answer(message)
        else:
            await self._follow_call(message)

    async def _follow_call(self, call: Call) -> None:
        try:
            method = self._methods.get(call.method)
            if method is None:
                raise RpcError(ErrorCode.UNKNOWN_METHOD, f"There is no method “{call.method}”.")
            await self._opened.wait()
            self._check_session()
            result = await method(call)
        except RpcError as error:
            self._refuse(call, error)
        except WireClosed:
            self._refuse(call, RpcError(ErrorCode.INTERNAL, "The session has ended."))
        else:
            if result is not None:
                self._client.result(call.id, result)
                await self._greet()

    def _refuse(self, call: Call, error: RpcError) -> None:
        if call.id is not None:
            self._client.error(call.id, error.code, error.message)
        else:
            logger.info("%s was refused: %s", call.method, error.message)

    # methods: a result, or None when it comes later

    async def _initialize(self, call: Call) -> dict[str, Any]:
        params = params_of(InitializeParams, call)
        self._check_idle()
        self._client.capabilities = params.capabilities
        info = self._info
        result = introduction(info, version=self._version)
        if params.hooks is not None and info is not None:
            await self._wire.carry_out(SubscribeHooks(subscriptions(params.hooks)))
        if params.external_tools is not None:
            accepted, rejected = sorted_out(params.external_tools, taken=info.tools if info else ())
            if info is not None:
                await self._wire.carry_out(RegisterTools(accepted))
            names = [tool.name for tool in accepted]
            result["external_tools"] = {"accepted": names, "rejected": [to_jsonable(it) for it in rejected]}
        return result

    async def _run_prompt(self, call: Call) -> None:
        user_input = params_of(InputParams, call).user_input
        self._check_idle()
        self._check_model()
        await self._greet()
        self._prompt = call
        command = self._command_in(user_input)
        if command is None or not isinstance(user_input, str):
            self._wire.command(Prompt(user_input))
            return
        line = user_input.strip().removeprefix("/")
        if command.takes_turn:
            self._wire.command(RunSlash(line))
        else:
            self._slash = self._tasks.create_task(self._run_slash(call, line))

    async def _steer(self, call: Call) -> dict[str, Any]:
        user_input = params_of(InputParams, call).user_input
        self._check_turn()
        command = self._command_in(user_input)
        if command is not None and command.name == _SIDE_QUESTION and isinstance(user_input, str):
            self._wire.command(RunSlash(user_input.strip().removeprefix("/")))
        else:
            self._wire.command(Steer(user_input))
        return {"status": "steered"}

    async def _cancel(self, _: Call) -> dict[str, Any]:
        if self._replay.is_running:
            self._replay.cancel()
            return {}
        self._check_turn()
        self._wire.command(Interrupt())
        return {}

    async def _start_replay(self, call: Call) -> None:
        self._check_idle()
        self._replay.start(call, Path(self._info.recording) if self._info is not None else None)

    async def _set_plan_mode(self, call: Call) -> dict[str, Any]:
        enabled = params_of(PlanModeParams, call).enabled
        self._check_model()
        await self._wire.carry_out(SetPlanMode(enabled))
        return {"status": "ok", "plan_mode": enabled}

    async def _travel(self, method: Method, call: Call) -> dict[str, Any]:
        if not self._client.capabilities.supports_timeline:
            raise RpcError(
                ErrorCode.UNKNOWN_METHOD,
                f"There is no method “{call.method}” for a client that doesn’t support the timeline.",
            )
        if method.needs_rest:
            self._check_idle()
        return await answered(self._wire, method, call)

    def _check_idle(self) -> None:
        if self._prompt is not None or self._in_turn:
            raise RpcError(ErrorCode.WRONG_STATE, _BUSY)
        if self._replay.is_running:
            raise RpcError(ErrorCode.WRONG_STATE, "A replay is in progress. Wait for its end, or cancel it.")

    def _check_turn(self) -> None:
        if self._prompt is None and not self._in_turn:
            raise RpcError(ErrorCode.WRONG_STATE, _NO_TURN)

    def _check_session(self) -> None:
        if self._failure is not None and not isinstance(self._failure, ModelNotSet):
            raise RpcError(ErrorCode.INTERNAL, str(self._failure))

    def _check_model(self) -> None:
        if self._failure is not None:
            raise RpcError(code_of(type(self._failure).__name__), str(self._failure))

    # what takes its time

    def _command_in(self, user_input: UserInput) -> SlashCommandInfo | None:
        """The engine's command that this is; other text that begins with a slash is for the model."""
        if not isinstance(user_input, str) or not user_input.startswith("/") or self._info is None:
            return None
        name = user_input[1:].split(maxsplit=1)[:1]
        known = (
            it for it in self._info.slash_commands for alias in (it.name, *it.aliases) if name == [alias]
        )
        return next(known, None)

    async def _run_slash(self, call: Call, line: str) -> None:
        try:
            await self._wire.carry_out(RunSlash(line))
        except WireClosed:
            return
        while self._subscription.has_pending or self._showing or self._side_questions:
            self._quiet.clear()
            await self._quiet.wait()
        if self._prompt is call:
            self._prompt = None
            self._client.result(call.id, {"status": "finished"})

    # what the engine says

    async def follow(self) -> None:
        """Pass on what the engine sends, until the Wire closes."""
        try:
            while batch := await self._subscription.drain():
                self._showing = True
                for message in batch:
                    await self._show(message)
                self._showing = False
                self._quiet.set()
        finally:
            self._showing = False
            self._quiet.set()
            if self._prompt is not None:
                ended = RpcError(ErrorCode.INTERNAL, "The session ended before the turn did. See the log.")
                self._refuse(self._prompt, ended)
                self._prompt = None

    def fail(self, error: KimiTuiError) -> None:
        """The session can't be opened; whoever asks for a turn is told why."""
        self._failure = error
        self._opened.set()

    def stop(self) -> None:
        """End what is under way for the client."""
        self._replay.cancel()
        if self._slash is not None:
            self._slash.cancel()

    async def _show(self, message: Outgoing) -> None:
        if isinstance(message, ReplayBegin | ReplayEnd):
            self._is_replay = isinstance(message, ReplayBegin)
            return
        if self._is_replay:
            return  # the client asks for a replay when it wants one
        match message:
            case SessionInfo():
                self._info = message
                self._opened.set()
            case TurnBegin():
                self._in_turn = True
            case RequestClosed(request_id=request_id):
                await self._close_request(message, request_id)
                return
            case BtwBegin(id=question_id):
                self._side_questions.add(question_id)
            case BtwEnd(id=question_id):
                self._side_questions.discard(question_id)
            case QuestionRequest(id=request_id) if not self._client.capabilities.supports_question:
                self._wire.answer(QuestionResponse(request_id, {}, unanswerable=True))
                return
        if isinstance(message, REQUESTS):
            self._requests.add(message)
        if self._held is not None:
            self._held.append(message)
            return
        await self._client.show(encode(message))
        if isinstance(message, TurnEnd):
            self._end_turn(message)

    async def _close_request(self, message: RequestClosed, request_id: str) -> None:
        request = self._requests.close(request_id)
        if self._client.capabilities.supports_timeline:
            await self._client.show(encode(message))
        elif isinstance(request, ApprovalRequest):
            closed = ApprovalResponse(request_id, "reject", "The turn was interrupted.")
            await self._client.show(encode(closed))

    def _end_turn(self, turn: TurnEnd) -> None:
        self._in_turn = False
        call, self._prompt = self._prompt, None
        if call is None:
            return
        try:
            self._client.result(call.id, result_of(turn))
        except RpcError as error:
            self._refuse(call, error)

    async def _greet(self) -> None:
        """The client has spoken: tell what happened before, as far as it is news to it."""
        held, self._held = self._held or (), None
        for message in held:
            if self._client.capabilities.supports_timeline or isinstance(message, Notification):
                await self._client.show(encode(message))
