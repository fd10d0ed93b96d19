"""The server: a client's calls become commands, each answered when it has been followed."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from kimi_tui.base.encoding import to_jsonable
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import (
    Interrupt,
    LeaveOutTools,
    Prompt,
    RegisterTools,
    RunSlash,
    SetPlanMode,
    Steer,
    SubscribeHooks,
    TravelCommand,
)
from kimi_tui.wireserver.client import Client
from kimi_tui.wireserver.external_tools import sorted_out
from kimi_tui.wireserver.handshake import introduction, subscriptions
from kimi_tui.wireserver.jsonrpc import Call, ErrorCode, Reply, RpcError, parsed
from kimi_tui.wireserver.open_requests import OpenRequests
from kimi_tui.wireserver.params import InitializeParams, InputParams, PlanModeParams, params_of
from kimi_tui.wireserver.replay import Replay
from kimi_tui.wireserver.served import Served
from kimi_tui.wireserver.showing import Showing
from kimi_tui.wireserver.timeline import METHODS, Method, answered
from kimi_tui.words.app_commands import meant_for_app

_SIDE_QUESTION = "btw"
"""The command that may be run beside a turn."""


class Server:
    """Serves one client on one session. Calls are followed in the order in which they came."""

    def __init__(self, *, wire: Wire, client: Client, version: str, tasks: asyncio.TaskGroup) -> None:
        self._wire = wire
        self._client = client
        self._version = version
        self._tasks = tasks
        self._served = Served()
        self._requests = OpenRequests(wire)
        self._showing = Showing(wire=wire, client=client, served=self._served, requests=self._requests)
        self._replay = Replay(wire=wire, client=client, tasks=tasks)
        self._under_way: set[asyncio.Task[None]] = set()
        """Calls of a command or of the timeline that are followed beside the others."""
        self._travelling = 0
        """How many of them are the timeline's."""
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

    async def follow(self) -> None:
        """Pass on what the engine sends, until the Wire closes."""
        await self._showing.follow()

    def fail(self, error: KimiTuiError) -> None:
        """The session can't be opened; whoever asks for a turn is told why."""
        self._served.fail(error)

    def stop(self) -> None:
        """End what is under way for the client."""
        self._replay.cancel()
        for task in self._under_way:
            task.cancel()

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
            await self._served.check_open()
            result = await method(call)
        except RpcError as error:
            self._client.refuse(call, error)
        except WireClosed:
            self._client.refuse(call, RpcError(ErrorCode.INTERNAL, "The session has ended."))
        else:
            if result is not None:
                self._client.result(call.id, result)
                await self._showing.greet()

    # methods: a result, or None when it comes later

    async def _initialize(self, call: Call) -> dict[str, Any]:
        params = params_of(InitializeParams, call)
        self._check_idle()
        self._client.capabilities = params.capabilities
        info = self._served.info
        result = introduction(info, version=self._version)
        if info is not None:
            await self._wire.carry_out(LeaveOutTools(params.capabilities.unanswerable_tools))
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
        if (refusal := meant_for_app(self._served.info, user_input)) is not None:
            raise RpcError(ErrorCode.BAD_PARAMS, str(refusal))
        self._served.check_model()
        await self._showing.greet()
        self._served.prompt = call
        command = self._served.command_in(user_input)
        if command is None or not isinstance(user_input, str):
            self._wire.command(Prompt(user_input))
            return
        line = user_input.strip().removeprefix("/")
        if command.takes_turn:
            self._wire.command(RunSlash(line))
        else:
            self._start(self._run_slash(call, line))

    async def _steer(self, call: Call) -> dict[str, Any]:
        user_input = params_of(InputParams, call).user_input
        self._served.check_turn()
        command = self._served.command_in(user_input)
        if command is not None and command.name == _SIDE_QUESTION and isinstance(user_input, str):
            self._wire.command(RunSlash(user_input.strip().removeprefix("/")))
        else:
            self._wire.command(Steer(user_input))
        return {"status": "steered"}

    async def _cancel(self, _: Call) -> dict[str, Any]:
        if self._replay.is_running:
            self._replay.cancel()
            return {}
        if not self._travelling:
            self._served.check_turn()
        self._wire.command(Interrupt())
        return {}

    async def _start_replay(self, call: Call) -> None:
        self._check_idle()
        self._replay.start(call, Path(self._served.info.recording) if self._served.info is not None else None)

    async def _set_plan_mode(self, call: Call) -> dict[str, Any]:
        enabled = params_of(PlanModeParams, call).enabled
        self._served.check_model()
        await self._wire.carry_out(SetPlanMode(enabled))
        return {"status": "ok", "plan_mode": enabled}

    async def _travel(self, method: Method, call: Call) -> None:
        if not self._client.capabilities.supports_timeline:
            raise RpcError(
                ErrorCode.UNKNOWN_METHOD,
                f"There is no method “{call.method}” for a client that doesn’t support the timeline.",
            )
        if method.needs_rest:
            self._check_idle()
        command = method.command(call)
        self._travelling += 1
        self._start(self._answer_with(method, command, call))

    def _check_idle(self) -> None:
        self._served.check_at_rest()
        if self._replay.is_running:
            raise RpcError(ErrorCode.WRONG_STATE, "A replay is in progress. Wait for its end, or cancel it.")

    # what takes its time, and goes on while other calls are followed

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._tasks.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _answer_with(self, method: Method, command: TravelCommand, call: Call) -> None:
        try:
            self._client.result(call.id, await answered(self._wire, method, command))
        except RpcError as error:
            self._client.refuse(call, error)
        except WireClosed:
            self._client.refuse(call, RpcError(ErrorCode.INTERNAL, "The session has ended."))
        finally:
            self._travelling -= 1

    async def _run_slash(self, call: Call, line: str) -> None:
        try:
            await self._wire.carry_out(RunSlash(line))
        except WireClosed:
            return
        await self._showing.settled()
        if self._served.prompt is call:
            self._served.prompt = None
            self._client.result(call.id, {"status": "finished"})
