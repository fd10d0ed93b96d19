"""A connection to one server, through fastmcp. Slow to import: that waits for the first server."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, assert_never

import httpx2
import mcp_types
from fastmcp import Client
from fastmcp.client.messages import MessageHandler
from fastmcp.client.transports.base import ClientTransport
from mcp import MCPError
from pydantic import ValidationError

from kimi_tui import __version__
from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.mcp.answer import McpAnswer, answer_of_call, answer_of_prompt, answer_of_resource
from kimi_tui.tools.mcp.leash import Leash
from kimi_tui.tools.mcp.listener import Elicitation, Listener, Sampling
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
_LEVELS = {
    "debug": logging.DEBUG, "info": logging.INFO, "notice": logging.INFO, "warning": logging.WARNING,
    "error": logging.ERROR, "critical": logging.ERROR, "alert": logging.ERROR, "emergency": logging.ERROR,
}  # fmt: skip
_UNAUTHORIZED = (401, 403)
_LASTING = (400, 404, 405, 406, 410, 415, 421, 426, 501, 505)

OnProgress = Callable[[float, float | None, str], None]
"""Gets how far a call is, of how much if that is known, and what the server says of it."""


class Connection:
    """Open from `open` to `close`. What goes wrong is raised as McpProblem."""

    def __init__(
        self, server: ServerConfig, *, client: "Client[Any]", exchange: Exchange, sign_in: SignIn | None
    ) -> None:
        self._server = server
        self._client = client
        self._exchange = exchange
        self._sign_in = sign_in

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
                log_handler=lambda said: _log(said, log),
                message_handler=_Notices(listener),
                elicitation_handler=_elicitation_handler(listener),
                sampling_handler=_sampling_handler(listener),
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
                tools=tuple(map(_tool, tools)),
                prompts=tuple(map(_prompt, prompts)),
                resources=tuple(_resource(str(it.uri), it) for it in resources),
                templates=tuple(_resource(it.uri_template, it) for it in templates),
            )

    async def call(self, name: str, arguments: dict[str, Any], *, on_progress: OnProgress) -> McpAnswer:
        """Call a tool and wait for its result, however long that takes."""

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            on_progress(progress, total, message or "")

        result = await self._told(
            self._client.call_tool_mcp(name, _sendable(arguments), progress_handler=progressed)
        )
        return answer_of_call(result)

    async def prompt(self, name: str, arguments: dict[str, str]) -> McpAnswer:
        """What a prompt comes to."""
        async with self._patiently():
            result = await self._told(self._client.get_prompt_mcp(name, _sendable(arguments)))
        return answer_of_prompt(result)

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
        """What happened, in words: the cause that fastmcp wraps tells more than the wrapping."""
        status = self._exchange.failed_status
        if self._sign_in is not None and self._sign_in.was_refused:
            return _unauthorized(self._server.name)
        causes = _causes(error)
        for cause in causes:
            if isinstance(cause, McpProblem):
                return cause
            if isinstance(cause, httpx2.HTTPStatusError):
                status = cause.response.status_code
        if status in _UNAUTHORIZED:
            return _unauthorized(self._server.name)
        if status:
            return McpProblem(
                f"The server answered with HTTP status {status}.",
                hint="Check its url and headers.",
                persistence="lasting" if status in _LASTING else "passing",
            )
        return _problem_in_words(causes, self._exchange.failure)


def _causes(error: BaseException | None) -> list[BaseException]:
    """`error`, what it was raised from, and what groups among them hold."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting:
        each = waiting.pop(0)
        if each is None or each in found:
            continue
        found.append(each)
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
        waiting += [each.__cause__, each.__context__]
    return found


def _problem_in_words(causes: Sequence[BaseException], failure: str) -> McpProblem:
    for cause in causes:
        match cause:
            case ValidationError():
                first = cause.errors(include_url=False)[0]
                where = ".".join(str(part) for part in first["loc"][-4:])
                return McpProblem(
                    f"It answered with what the protocol doesn't allow: {where}: {plain_line(first['msg'])}.",
                    hint="Tell whoever makes the server.",
                    persistence="lasting",
                )
            case MCPError(code=code) if code == mcp_types.CONNECTION_CLOSED:
                return McpProblem(
                    "The connection broke.", hint="It is made again; then try once more.", breaks=True
                )
            case MCPError(code=mcp_types.INVALID_REQUEST) if "Session terminated" in cause.error.message:
                return McpProblem(
                    "It has forgotten the session.", hint="A new one begins; then try once more.", breaks=True
                )
            case MCPError():
                return McpProblem(f"It says: {plain_line(cause.error.message)[:500]}")
            case httpx2.RequestError():
                failure = failure or plain_line(str(cause)) or type(cause).__name__
            case _:
                pass
    if failure:
        return McpProblem(
            f"It can't be reached: {failure}.", hint="Check its url, and the network.", breaks=True
        )
    last = causes[0]
    return McpProblem(
        f"{plain_line(str(last))[:500] or type(last).__name__}", hint="The log has the details."
    )


def _unauthorized(name: str) -> McpProblem:
    return McpProblem(
        "It wants to know who you are.",
        hint=f"Sign in with `kimi-tui mcp auth {name}` or /mcp auth {name}, or give it a header.",
        persistence="unauthorized",
    )


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


class _Notices(MessageHandler):
    """Passes on what concerns the offer."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    async def on_tool_list_changed(self, message: mcp_types.ToolListChangedNotification) -> None:
        self._listener.offer_changed()

    async def on_prompt_list_changed(self, message: mcp_types.PromptListChangedNotification) -> None:
        self._listener.offer_changed()

    async def on_resource_list_changed(self, message: mcp_types.ResourceListChangedNotification) -> None:
        self._listener.offer_changed()


def _elicitation_handler(listener: Listener) -> Any:
    async def handle(message: str, _: Any, params: Any, __: Any) -> mcp_types.ElicitResult:
        match params:
            case mcp_types.ElicitRequestURLParams(url=url):
                wanted = Elicitation(message=message, url=str(url))
            case _:
                wanted = Elicitation(message=message, schema=params.requested_schema)
        elicited = await listener.elicit(wanted)
        return mcp_types.ElicitResult(action=elicited.action, content=elicited.content)

    return handle


def _sampling_handler(listener: Listener) -> Any:
    async def handle(messages: Any, params: Any, _: Any) -> mcp_types.CreateMessageResult:
        wanted = Sampling(
            messages=[Message(it.role, _text_parts(it.content)) for it in messages],
            system_prompt=params.system_prompt or "",
        )
        try:
            sampled = await listener.sample(wanted)
        except KimiTuiError as error:
            raise MCPError(code=mcp_types.INTERNAL_ERROR, message=error.what) from error
        return mcp_types.CreateMessageResult(
            role="assistant",
            content=mcp_types.TextContent(type="text", text=sampled.text),
            model=sampled.model,
            stop_reason="endTurn",
        )

    return handle


def _text_parts(content: Any) -> tuple[TextPart, ...]:
    blocks = content if isinstance(content, list) else [content]
    return tuple(
        TextPart(block.text if block.type == "text" else f"[{block.type}, left out]") for block in blocks
    )


async def _log(said: mcp_types.LoggingMessageNotificationParams, log: ServerLog) -> None:
    data = said.data if isinstance(said.data, str) else json.dumps(said.data, ensure_ascii=False, default=str)
    log.take(data, level=_LEVELS.get(said.level, logging.INFO))


def _tool(tool: mcp_types.Tool) -> ToolOffer:
    annotations = tool.annotations
    return ToolOffer(
        name=tool.name,
        description=tool.description or tool.title or (annotations.title if annotations else None) or "",
        input_schema=tool.input_schema,
        reads_only=bool(annotations and annotations.read_only_hint),
        problem=_problem_of(tool),
    )


def _problem_of(tool: mcp_types.Tool) -> str:
    if tool.execution is not None and tool.execution.task_support == "required":
        return "it only runs as a task, which kimi-tui has no way to wait for"
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
