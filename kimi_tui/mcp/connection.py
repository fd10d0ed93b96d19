"""A connection to one MCP server through fastmcp. A slow import, so load it with the first server."""

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

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.mcp.callbacks import (
    NotificationHandler,
    build_elicitation_handler,
    build_sampling_handler,
    log_message,
)
from kimi_tui.mcp.client_handler import ClientHandler
from kimi_tui.mcp.error_mapping import map_error
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.http_transport import HttpExchange, build_http_transport
from kimi_tui.mcp.oauth import McpOAuth
from kimi_tui.mcp.pending_call import PendingCall
from kimi_tui.mcp.process_reaper import ProcessReaper
from kimi_tui.mcp.result import McpResult, parse_call_result, parse_prompt_result, parse_resource_result
from kimi_tui.mcp.server_config import RemoteServer, ServerConfig, StdioServer
from kimi_tui.mcp.server_features import PromptArgument, PromptInfo, ResourceInfo, ServerFeatures, ToolInfo
from kimi_tui.mcp.server_log import ServerLog
from kimi_tui.mcp.stdio_transport import StdioTransport
from kimi_tui.mcp.task_calls import call_as_task
from kimi_tui.mcp.tolerant_session import UNUSABLE_KEY
from kimi_tui.version import __version__

T = TypeVar("T")

_CLOSE_TIMEOUT_S = 5.0


class McpConnection:
    """An open connection, from `connect` to `close`. Errors are raised as McpServerError."""

    def __init__(
        self, server: ServerConfig, *, client: "Client[Any]", exchange: HttpExchange, sign_in: McpOAuth | None
    ) -> None:
        self._server = server
        self._client = client
        self._exchange = exchange
        self._sign_in = sign_in
        self._task_only_tools: frozenset[str] = frozenset()
        """Names of the tools that only run as tasks."""

    @classmethod
    async def connect(
        cls,
        server: ServerConfig,
        *,
        handler: ClientHandler,
        log: ServerLog,
        reaper: ProcessReaper,
        work_dir: Path,
        roots: Sequence[Path],
        sign_in: McpOAuth | None = None,
        timeout_s: float | None = None,
    ) -> "McpConnection":
        """Connect and initialize the session.

        `timeout_s` is the time limit in seconds, by default the server's own timeout.
        """
        exchange = HttpExchange()
        timeout_s = timeout_s or server.timeouts.connect_s
        transport = _build_transport(
            server, handler=handler, log=log, reaper=reaper, work_dir=work_dir, sign_in=sign_in,
            exchange=exchange,
        )  # fmt: skip
        connection = cls(
            server,
            client=Client(
                transport,
                roots=[root.as_uri() for root in roots],
                client_info=mcp_types.Implementation(name="kimi-tui", version=__version__),
                init_timeout=timeout_s,
                log_handler=lambda message: log_message(message, log),
                message_handler=NotificationHandler(handler),
                elicitation_handler=build_elicitation_handler(handler),
                sampling_handler=build_sampling_handler(handler),
            ),
            exchange=exchange,
            sign_in=sign_in,
        )
        try:
            async with asyncio.timeout(timeout_s):
                await connection._map_errors(connection._enter_client())
        except TimeoutError:
            raise McpServerError(
                f"The server didn't respond within {timeout_s:g} s.",
                hint="See the log for its output, or increase its startupTimeout.",
            ) from None
        return connection

    async def _enter_client(self) -> None:
        await self._client.__aenter__()  # type: ignore[no-untyped-call]

    async def close(self) -> None:
        """Close the connection. If the server is a process, terminate it with all its child processes."""
        with suppress(Exception):
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await self._client.close()  # type: ignore[no-untyped-call]

    async def fetch_features(self) -> ServerFeatures:
        """Return the server's current features."""
        async with self._request_timeout():
            capabilities = self._client.server_capabilities
            info = self._client.server_info
            supports_tasks = _supports_tasks(capabilities)
            has_tools = capabilities is None or capabilities.tools
            has_prompts = capabilities is not None and capabilities.prompts
            has_resources = capabilities is not None and capabilities.resources
            tools = await self._list_or_empty(self._client.list_tools) if has_tools else []
            self._task_only_tools = (
                frozenset(it.name for it in tools if _is_task_only(it)) if supports_tasks else frozenset()
            )
            prompts = await self._list_or_empty(self._client.list_prompts) if has_prompts else []
            resources = await self._list_or_empty(self._client.list_resources) if has_resources else []
            templates = (
                await self._list_or_empty(self._client.list_resource_templates) if has_resources else []
            )
            return ServerFeatures(
                title=" ".join(sanitize_line(word) for word in (info.name, info.version) if word)
                if info
                else "",
                instructions=self._client.instructions or "",
                tools=tuple(_to_tool_info(it, supports_tasks=supports_tasks) for it in tools),
                prompts=tuple(map(_to_prompt_info, prompts)),
                supports_completion=bool(capabilities and capabilities.completions),
                resources=tuple(_to_resource_info(str(it.uri), it) for it in resources),
                templates=tuple(_to_resource_info(it.uri_template, it) for it in templates),
            )

    async def call_tool(self, name: str, arguments: dict[str, Any], pending_call: PendingCall) -> McpResult:
        """Call a tool and wait for its result. The only time limit is the timeout of `pending_call`."""

        async def report_progress(progress: float, total: float | None, message: str | None) -> None:
            pending_call.report_progress(progress, total, message or "")

        if name in self._task_only_tools:
            work = call_as_task(
                self._client.session,
                name,
                _replace_surrogates(arguments),
                pending_call,
                on_progress=report_progress,
            )
        else:
            work = self._client.call_tool_mcp(
                name, _replace_surrogates(arguments), progress_handler=report_progress
            )
        return parse_call_result(await self._map_errors(work))

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> McpResult:
        """Return the messages of a prompt."""
        async with self._request_timeout():
            result = await self._map_errors(self._client.get_prompt_mcp(name, _replace_surrogates(arguments)))
        return parse_prompt_result(result)

    async def complete_argument(
        self, prompt: str, argument: str, text: str, known_arguments: dict[str, str]
    ) -> tuple[str, ...]:
        """Return completions of `text` for a prompt's argument.

        `known_arguments` are the values of the prompt's other arguments so far.
        """
        async with self._request_timeout():
            reference = mcp_types.PromptReference(type="ref/prompt", name=prompt)
            partial = _replace_surrogates({"name": argument, "value": text})
            result = await self._map_errors(
                self._client.complete_mcp(reference, partial, _replace_surrogates(known_arguments) or None)
            )
        return tuple(result.completion.values)

    async def read_resource(self, uri: str) -> McpResult:
        """Return the content of a resource."""
        async with self._request_timeout():
            result = await self._map_errors(self._client.read_resource_mcp(uri))
        return parse_resource_result(result)

    @asynccontextmanager
    async def _request_timeout(self) -> AsyncIterator[None]:
        silence_s = self._server.timeouts.silence_s
        try:
            async with asyncio.timeout(silence_s):
                yield
        except TimeoutError:
            raise McpServerError(
                f"The server didn't respond within {silence_s:g} s.", hint="Try again later."
            ) from None

    async def _list_or_empty(self, list_items: Callable[[], Awaitable[list[T]]]) -> list[T]:
        """Return a list of features; empty if the server announces the features but can't list them."""
        try:
            return await list_items()
        except MCPError as error:
            if error.code == mcp_types.METHOD_NOT_FOUND:
                return []
            raise self._to_error(error) from error
        except Exception as error:
            raise self._to_error(error) from error

    async def _map_errors(self, work: Awaitable[T]) -> T:
        try:
            return await work
        except Exception as error:
            raise self._to_error(error) from error

    def _to_error(self, error: Exception) -> McpServerError:
        was_refused = self._sign_in is not None and self._sign_in.was_refused
        return map_error(error, name=self._server.name, exchange=self._exchange, is_auth_refused=was_refused)


def _build_transport(
    server: ServerConfig,
    *,
    handler: ClientHandler,
    log: ServerLog,
    reaper: ProcessReaper,
    work_dir: Path,
    sign_in: McpOAuth | None,
    exchange: HttpExchange,
) -> ClientTransport:
    match server:
        case StdioServer():
            return StdioTransport(server, work_dir=work_dir, log=log, reaper=reaper, handler=handler)
        case RemoteServer():
            return build_http_transport(server, auth=sign_in, exchange=exchange)
        case _:
            assert_never(server)


def _to_tool_info(tool: mcp_types.Tool, *, supports_tasks: bool) -> ToolInfo:
    annotations = tool.annotations
    return ToolInfo(
        name=tool.name,
        description=tool.description or tool.title or (annotations.title if annotations else None) or "",
        input_schema=tool.input_schema,
        is_read_only=bool(annotations and annotations.read_only_hint),
        unusable_reason=_find_tool_problem(tool, supports_tasks=supports_tasks),
    )


def _is_task_only(tool: mcp_types.Tool) -> bool:
    """Return whether the tool only runs as a task."""
    return tool.execution is not None and tool.execution.task_support == "required"


def _supports_tasks(capabilities: mcp_types.ServerCapabilities | None) -> bool:
    """Return whether a server supports tool calls as tasks."""
    requests = (
        capabilities.tasks.requests if capabilities is not None and capabilities.tasks is not None else None
    )
    return requests is not None and requests.tools is not None and requests.tools.call is not None


def _find_tool_problem(tool: mcp_types.Tool, *, supports_tasks: bool) -> str:
    if _is_task_only(tool) and not supports_tasks:
        return "it only runs as a task, which its server doesn't support"
    return str(tool.input_schema.get(UNUSABLE_KEY, ""))


def _to_prompt_info(prompt: mcp_types.Prompt) -> PromptInfo:
    return PromptInfo(
        name=prompt.name,
        description=prompt.description or prompt.title or "",
        arguments=tuple(
            PromptArgument(it.name, it.description or "", bool(it.required)) for it in prompt.arguments or ()
        ),
    )


def _to_resource_info(uri: str, resource: mcp_types.Resource | mcp_types.ResourceTemplate) -> ResourceInfo:
    return ResourceInfo(
        uri=uri,
        name=resource.title or resource.name,
        description=resource.description or "",
        media_type=resource.mime_type or "",
    )


def _replace_surrogates(arguments: dict[str, T]) -> dict[str, T]:
    """Return `arguments` without unpaired surrogates, which JSON messages can't contain."""
    text = json.dumps(arguments, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    sendable: dict[str, T] = json.loads(text)
    return sendable
