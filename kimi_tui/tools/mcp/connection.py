"""A connection to one server, through fastmcp. Slow to import: that waits for the first server."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, assert_never

import mcp_types
from fastmcp import Client
from fastmcp.client.transports.base import ClientTransport
from mcp import MCPError

from kimi_tui import __version__
from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.mcp.answer import McpAnswer, answer_of_call, answer_of_prompt, answer_of_resource
from kimi_tui.tools.mcp.as_task import call_as_task
from kimi_tui.tools.mcp.callbacks import Notices, elicitation_handler, log_message, sampling_handler
from kimi_tui.tools.mcp.failures import problem_of
from kimi_tui.tools.mcp.leash import Leash
from kimi_tui.tools.mcp.listener import Listener
from kimi_tui.tools.mcp.oauth import SignIn
from kimi_tui.tools.mcp.offer import Offer, PromptArgument, PromptOffer, ResourceOffer, ToolOffer
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.remote import Exchange, remote_transport
from kimi_tui.tools.mcp.server_config import RemoteServer, ServerConfig, StdioServer
from kimi_tui.tools.mcp.server_log import ServerLog
from kimi_tui.tools.mcp.session import UNUSABLE
from kimi_tui.tools.mcp.stdio import ChildTransport

T = TypeVar("T")

_CLOSING_S = 5.0
OnProgress = Callable[[float | None, float | None, str], None]
"""Gets how far a call is and of how much, if that is known, and what the server says of it."""


class Connection:
    """Open from `open` to `close`. What goes wrong is raised as McpProblem."""

    def __init__(
        self, server: ServerConfig, *, client: "Client[Any]", exchange: Exchange, sign_in: SignIn | None
    ) -> None:
        self._server = server
        self._client = client
        self._exchange = exchange
        self._sign_in = sign_in
        self._tasks: frozenset[str] = frozenset()
        """The tools that run as tasks only."""

    @classmethod
    async def open(
        cls,
        server: ServerConfig,
        *,
        listener: Listener,
        log: ServerLog,
        leash: Leash,
        work_dir: Path,
        roots: Sequence[Path],
        sign_in: SignIn | None = None,
        within_s: float | None = None,
    ) -> "Connection":
        """Connect and introduce each other, within `within_s` or else the server's patience."""
        exchange = Exchange()
        within_s = within_s or server.patience.connect_s
        transport = _transport(
            server, listener=listener, log=log, leash=leash, work_dir=work_dir, sign_in=sign_in,
            exchange=exchange,
        )  # fmt: skip
        connection = cls(
            server,
            client=Client(
                transport,
                roots=[root.as_uri() for root in roots],
                client_info=mcp_types.Implementation(name="kimi-tui", version=__version__),
                init_timeout=within_s,
                log_handler=lambda said: log_message(said, log),
                message_handler=Notices(listener),
                elicitation_handler=elicitation_handler(listener),
                sampling_handler=sampling_handler(listener),
            ),
            exchange=exchange,
            sign_in=sign_in,
        )
        try:
            async with asyncio.timeout(within_s):
                await connection._told(connection._entered())
        except TimeoutError:
            raise McpProblem(
                f"It did not answer within {within_s:g} s.",
                hint="See the log for what it said; startupTimeout gives it longer.",
            ) from None
        return connection

    async def _entered(self) -> None:
        await self._client.__aenter__()  # type: ignore[no-untyped-call]

    async def close(self) -> None:
        """Leave the server; a process is ended with all that it started."""
        with suppress(Exception):
            async with asyncio.timeout(_CLOSING_S):
                await self._client.close()  # type: ignore[no-untyped-call]

    async def offer(self) -> Offer:
        """What the server offers now."""
        async with self._patiently():
            can = self._client.server_capabilities
            info = self._client.server_info
            tools = await self._listed(self._client.list_tools) if can is None or can.tools else []
            self._tasks = (
                frozenset(it.name for it in tools if _is_task(it)) if _runs_tasks(can) else frozenset()
            )
            prompts = await self._listed(self._client.list_prompts) if can and can.prompts else []
            resources = await self._listed(self._client.list_resources) if can and can.resources else []
            templates = (
                await self._listed(self._client.list_resource_templates) if can and can.resources else []
            )
            return Offer(
                title=" ".join(plain_line(word) for word in (info.name, info.version) if word)
                if info
                else "",
                instructions=self._client.instructions or "",
                tools=tuple(_tool(it, runs_tasks=_runs_tasks(can)) for it in tools),
                prompts=tuple(map(_prompt, prompts)),
                completes=bool(can and can.completions),
                resources=tuple(_resource(str(it.uri), it) for it in resources),
                templates=tuple(_resource(it.uri_template, it) for it in templates),
            )

    async def call(
        self, name: str, arguments: dict[str, Any], *, on_progress: OnProgress, heard: Callable[[], None]
    ) -> McpAnswer:
        """Call a tool and wait for its result, however long that takes; `heard` is told of signs of life."""

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            on_progress(progress, total, message or "")

        if name in self._tasks:
            work = call_as_task(
                self._client.session,
                name,
                _sendable(arguments),
                on_progress=progressed,
                heard=heard,
                told=lambda said: on_progress(None, None, said),
            )
        else:
            work = self._client.call_tool_mcp(name, _sendable(arguments), progress_handler=progressed)
        return answer_of_call(await self._told(work))

    async def prompt(self, name: str, arguments: dict[str, str]) -> McpAnswer:
        """What a prompt comes to."""
        async with self._patiently():
            result = await self._told(self._client.get_prompt_mcp(name, _sendable(arguments)))
        return answer_of_prompt(result)

    async def values(self, prompt: str, argument: str, text: str, given: dict[str, str]) -> tuple[str, ...]:
        """What an argument of a prompt may be that begins with `text`, beside those that are `given`."""
        async with self._patiently():
            reference = mcp_types.PromptReference(type="ref/prompt", name=prompt)
            wish = _sendable({"name": argument, "value": text})
            result = await self._told(self._client.complete_mcp(reference, wish, _sendable(given) or None))
        return tuple(result.completion.values)

    async def resource(self, uri: str) -> McpAnswer:
        """What a resource holds."""
        async with self._patiently():
            result = await self._told(self._client.read_resource_mcp(uri))
        return answer_of_resource(result)

    @asynccontextmanager
    async def _patiently(self) -> AsyncIterator[None]:
        silence_s = self._server.patience.silence_s
        try:
            async with asyncio.timeout(silence_s):
                yield
        except TimeoutError:
            raise McpProblem(f"It gave no answer for {silence_s:g} s.", hint="Try again later.") from None

    async def _listed(self, lister: Callable[[], Awaitable[list[T]]]) -> list[T]:
        """A list of what a server offers; none when it knows no such list though it said so."""
        try:
            return await lister()
        except MCPError as error:
            if error.code == mcp_types.METHOD_NOT_FOUND:
                return []
            raise self._problem(error) from error
        except Exception as error:
            raise self._problem(error) from error

    async def _told(self, work: Awaitable[T]) -> T:
        try:
            return await work
        except Exception as error:
            raise self._problem(error) from error

    def _problem(self, error: Exception) -> McpProblem:
        refused = self._sign_in is not None and self._sign_in.was_refused
        return problem_of(error, name=self._server.name, exchange=self._exchange, is_refused=refused)


def _transport(
    server: ServerConfig,
    *,
    listener: Listener,
    log: ServerLog,
    leash: Leash,
    work_dir: Path,
    sign_in: SignIn | None,
    exchange: Exchange,
) -> ClientTransport:
    match server:
        case StdioServer():
            return ChildTransport(server, work_dir=work_dir, log=log, leash=leash, closed=listener.lost)
        case RemoteServer():
            return remote_transport(server, auth=sign_in, exchange=exchange)
        case _:
            assert_never(server)


def _tool(tool: mcp_types.Tool, *, runs_tasks: bool) -> ToolOffer:
    annotations = tool.annotations
    return ToolOffer(
        name=tool.name,
        description=tool.description or tool.title or (annotations.title if annotations else None) or "",
        input_schema=tool.input_schema,
        reads_only=bool(annotations and annotations.read_only_hint),
        problem=_problem_of(tool, runs_tasks=runs_tasks),
    )


def _is_task(tool: mcp_types.Tool) -> bool:
    """Whether the tool runs as a task only."""
    return tool.execution is not None and tool.execution.task_support == "required"


def _runs_tasks(can: mcp_types.ServerCapabilities | None) -> bool:
    """Whether a server says that calls of its tools may be tasks."""
    requests = can.tasks.requests if can is not None and can.tasks is not None else None
    return requests is not None and requests.tools is not None and requests.tools.call is not None


def _problem_of(tool: mcp_types.Tool, *, runs_tasks: bool) -> str:
    if _is_task(tool) and not runs_tasks:
        return "it only runs as a task, and its server says that it runs none"
    return str(tool.input_schema.get(UNUSABLE, ""))


def _prompt(prompt: mcp_types.Prompt) -> PromptOffer:
    return PromptOffer(
        name=prompt.name,
        description=prompt.description or prompt.title or "",
        arguments=tuple(
            PromptArgument(it.name, it.description or "", bool(it.required)) for it in prompt.arguments or ()
        ),
    )


def _resource(uri: str, it: mcp_types.Resource | mcp_types.ResourceTemplate) -> ResourceOffer:
    return ResourceOffer(
        uri=uri,
        name=it.title or it.name,
        description=it.description or "",
        media_type=it.mime_type or "",
    )


def _sendable(arguments: dict[str, T]) -> dict[str, T]:
    """`arguments` without halves of surrogate pairs, which no message can carry."""
    text = json.dumps(arguments, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    sendable: dict[str, T] = json.loads(text)
    return sendable
