"""The Wire server: translates the client's calls to engine commands and answers them."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.frontend.text.app_commands import app_only_error
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import (
    ExcludeTools,
    Interrupt,
    Prompt,
    RegisterTools,
    RunSlash,
    SetPlanMode,
    SetYolo,
    Steer,
    SubscribeHooks,
    TimelineCommand,
)
from kimi_tui.wireserver.client import WireClient
from kimi_tui.wireserver.client_tools import RejectedTool, split_usable
from kimi_tui.wireserver.event_forwarder import EventForwarder
from kimi_tui.wireserver.handshake import build_handshake, hook_subscriptions
from kimi_tui.wireserver.jsonrpc import ErrorCode, RpcCall, RpcError, RpcReply, parse_line
from kimi_tui.wireserver.kimi_cli.dialect import KimiCliDialect
from kimi_tui.wireserver.params import InitializeParams, InputParams, PlanModeParams, parse_params
from kimi_tui.wireserver.pending_requests import PendingRequests
from kimi_tui.wireserver.replay import ReplaySender
from kimi_tui.wireserver.session_status import SessionStatus
from kimi_tui.wireserver.timeline_methods import METHODS, TimelineMethod, run_method

_YOLO = "/yolo"
_SIDE_QUESTION = "btw"
"""Command that can run during a turn."""


class WireServer:
    """Serves one session to one client. Calls are handled in the order of their arrival."""

    def __init__(self, *, wire: Wire, client: WireClient, version: str, tasks: asyncio.TaskGroup) -> None:
        self._wire = wire
        self._client = client
        self._version = version
        self._tasks = tasks
        self._status = SessionStatus()
        self._requests = PendingRequests(wire)
        self._forwarder = EventForwarder(
            wire=wire, client=client, status=self._status, requests=self._requests
        )
        self._replay = ReplaySender(wire=wire, client=client, tasks=tasks)
        self._running: set[asyncio.Task[None]] = set()
        """Slash commands and timeline calls that run concurrently with other calls."""
        self._timeline_calls = 0
        """Number of running timeline calls."""
        self._methods: Mapping[str, Callable[[RpcCall], Awaitable[dict[str, Any] | None]]] = {
            "initialize": self._initialize,
            "prompt": self._run_prompt,
            "run": self._run_prompt,
            "steer": self._steer,
            "cancel": self._cancel,
            "interrupt": self._cancel,
            "replay": self._start_replay,
            "set_plan_mode": self._set_plan_mode,
            **{name: partial(self._run_timeline_method, method) for name, method in METHODS.items()},
        }

    async def forward_events(self) -> None:
        """Forward the engine's messages until the Wire closes."""
        await self._forwarder.forward_events()

    def fail(self, error: KimiTuiError) -> None:
        """Record that the session can't be opened. Calls that need a session get `error`."""
        self._status.fail(error)

    def stop(self) -> None:
        """Cancel the replay and all running calls."""
        self._replay.cancel()
        for task in self._running:
            task.cancel()

    # input from the client

    async def handle_line(self, line: bytes) -> None:
        """Handle one line. An invalid line gets an error response."""
        try:
            message = parse_line(line)
        except RpcError as error:
            self._client.send_error(error.id, error.code, error.message)
            return
        if isinstance(message, RpcReply):
            self._requests.answer(message)
        else:
            await self._handle_call(message)

    async def _handle_call(self, call: RpcCall) -> None:
        try:
            method = self._methods.get(call.method)
            if method is None:
                raise RpcError(ErrorCode.UNKNOWN_METHOD, f"Method “{call.method}” doesn't exist.")
            await self._status.check_open()
            result = await method(call)
        except RpcError as error:
            self._client.reject(call, error)
        except WireClosed:
            self._client.reject(call, RpcError(ErrorCode.INTERNAL, "The session has ended."))
        else:
            if result is not None:
                self._client.send_result(call.id, result)
                await self._forwarder.send_held_events()

    # methods: return a result, or None if it is sent later

    async def _initialize(self, call: RpcCall) -> dict[str, Any]:
        params = parse_params(InitializeParams, call)
        self._check_idle()
        self._client.capabilities = params.capabilities
        info = self._status.info
        result = build_handshake(info, version=self._version, for_kimi_cli=self._client.dialect is not None)
        if info is not None:
            await self._wire.command_and_wait(ExcludeTools(params.capabilities.unanswerable_tools))
        if params.hooks is not None and info is not None:
            with suppress(KimiTuiError):  # refused; the engine has sent a notification
                await self._wire.command_and_wait(SubscribeHooks(hook_subscriptions(params.hooks)))
        if params.external_tools is not None:
            accepted, rejected = split_usable(
                params.external_tools, reserved_names=info.tools if info else ()
            )
            if info is not None:
                try:
                    await self._wire.command_and_wait(RegisterTools(accepted))
                except KimiTuiError as refusal:
                    rejected += tuple(RejectedTool(tool.name, str(refusal)) for tool in accepted)
                    accepted = ()
            names = [tool.name for tool in accepted]
            result["external_tools"] = {"accepted": names, "rejected": [to_jsonable(it) for it in rejected]}
        return result

    async def _run_prompt(self, call: RpcCall) -> None:
        user_input = parse_params(InputParams, call).user_input
        self._check_idle()
        is_yolo = user_input == _YOLO and self._client.dialect is not None
        if not is_yolo and (error := app_only_error(self._status.info, user_input)) is not None:
            raise RpcError(ErrorCode.BAD_PARAMS, str(error))
        self._status.check_model()
        await self._forwarder.send_held_events()
        self._status.prompt, self._status.prompt_id = call, None
        if user_input == _YOLO and self._client.dialect is not None:
            self._start_task(self._switch_yolo(call, self._client.dialect))
            return
        command = self._status.parse_command(user_input)
        if command is None or not isinstance(user_input, str):
            self._wire.command(Prompt(user_input, self._status.start_turn()))
            return
        line = user_input.strip().removeprefix("/")
        if command.takes_turn:
            self._wire.command(RunSlash(line, self._status.start_turn()))
        else:
            self._start_task(self._run_slash(call, line))

    async def _steer(self, call: RpcCall) -> dict[str, Any]:
        user_input = parse_params(InputParams, call).user_input
        self._status.check_turn()
        command = self._status.parse_command(user_input)
        if command is not None and command.name == _SIDE_QUESTION and isinstance(user_input, str):
            self._wire.command(RunSlash(user_input.strip().removeprefix("/")))
        else:
            self._wire.command(Steer(user_input))
        return {"status": "steered"}

    async def _cancel(self, _: RpcCall) -> dict[str, Any]:
        if self._replay.is_running:
            self._replay.cancel()
            return {}
        if not self._timeline_calls:
            self._status.check_turn()
        self._wire.command(Interrupt(None if self._status.prompt is None else self._status.prompt_id))
        return {}

    async def _start_replay(self, call: RpcCall) -> None:
        self._check_idle()
        self._replay.start(call, Path(self._status.info.recording) if self._status.info is not None else None)

    async def _set_plan_mode(self, call: RpcCall) -> dict[str, Any]:
        enabled = parse_params(PlanModeParams, call).enabled
        self._status.check_model()
        await self._wire.command_and_wait(SetPlanMode(enabled))
        return {"status": "ok", "plan_mode": enabled}

    async def _run_timeline_method(self, method: TimelineMethod, call: RpcCall) -> None:
        if not self._client.capabilities.supports_timeline:
            raise RpcError(
                ErrorCode.UNKNOWN_METHOD,
                f"Method “{call.method}” requires the client capability supports_timeline.",
            )
        if method.requires_idle:
            self._check_idle()
        command = parse_params(method.params, call).build_command()
        self._timeline_calls += 1
        self._start_task(self._answer_timeline_call(method, command, call))

    def _check_idle(self) -> None:
        self._status.check_idle()
        if self._replay.is_running:
            raise RpcError(
                ErrorCode.WRONG_STATE, "A replay is already running. Wait until it ends, or cancel it."
            )

    # tasks that run while other calls are handled

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._tasks.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _answer_timeline_call(
        self, method: TimelineMethod, command: TimelineCommand, call: RpcCall
    ) -> None:
        try:
            self._client.send_result(call.id, await run_method(self._wire, method, command))
        except RpcError as error:
            self._client.reject(call, error)
        except WireClosed:
            self._client.reject(call, RpcError(ErrorCode.INTERNAL, "The session has ended."))
        finally:
            self._timeline_calls -= 1

    async def _switch_yolo(self, call: RpcCall, dialect: KimiCliDialect) -> None:
        """Turn yolo mode on or off. Only clients of Kimi CLI can do this with a prompt."""
        enabled = not (self._status.info is not None and self._status.info.yolo)
        await self._client.send_all(dialect.begin_command(_YOLO))
        with suppress(WireClosed):
            await self._wire.command_and_wait(SetYolo(enabled))
        dialect.add_text("Yolo mode: on. Everything is approved." if enabled else "Yolo mode: off.")
        await self._client.send_all(dialect.end_command())
        self._status.prompt = None
        self._client.send_result(call.id, {"status": "finished"})

    async def _run_slash(self, call: RpcCall, line: str) -> None:
        dialect = self._client.dialect
        if dialect is not None:
            await self._client.send_all(dialect.begin_command(f"/{line}"))
        try:
            await self._wire.command_and_wait(RunSlash(line))
        except WireClosed:
            return
        await self._forwarder.wait_until_idle()
        if dialect is not None:
            await self._client.send_all(dialect.end_command())
        if self._status.prompt is call:
            self._status.prompt = None
            self._client.send_result(call.id, {"status": "finished"})
