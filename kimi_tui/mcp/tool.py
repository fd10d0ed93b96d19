"""A tool of an MCP server as a tool of the agent."""

import json
import time
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict

from kimi_tui.base.content_parts import TextPart, text_of
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.mcp.content import to_model_content
from kimi_tui.mcp.deferred_tools import format_schema
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.result import McpResult
from kimi_tui.mcp.server import McpServer
from kimi_tui.mcp.server_features import ToolInfo
from kimi_tui.permission.subject import McpSubject
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.tools.tool import CallContext, Tool, failure, success
from kimi_tui.wire.display_blocks import BriefBlock
from kimi_tui.wire.events import ToolReturn

_MAX_DESCRIPTION_CHARS = 8_000
_PROGRESS_INTERVAL_S = 0.1
_MAX_BRIEF_CHARS = 100


class McpParams(BaseModel):
    """Any JSON object. The server provides the schema and validates the arguments."""

    model_config = ConfigDict(extra="allow")


class McpTool(Tool[McpParams]):
    """Requests approval, then calls the tool on the server. A grant covers only this tool of this server."""

    Params = McpParams
    has_side_effects = True

    def __init__(
        self,
        server: McpServer,
        info: ToolInfo,
        *,
        approval: Approval,
        output_folder: OutputFolder,
        is_deferred: bool = False,
    ) -> None:
        self._is_deferred = is_deferred
        """Whether the model can call the tool without having seen its schema."""
        self._server = server
        self._info = info
        self._approval = approval
        self._output_folder = output_folder

    @property
    def schema(self) -> ToolSchema:
        """The tool as described by its server. The toolset may register it under another name."""
        description = self._info.description.strip()[:_MAX_DESCRIPTION_CHARS]
        origin = f"(From the MCP server {self._server.name}.)"
        return ToolSchema(
            self._info.name,
            f"{description}\n\n{origin}" if description else origin,
            self._info.input_schema,
        )

    async def run(self, params: McpParams, call: CallContext) -> ToolReturn:
        """Call the tool and return its result. Show the server's progress messages while the tool runs."""
        arguments: dict[str, Any] = params.model_extra or {}
        if self._is_deferred and (missing := _missing_arguments(self._info.input_schema, arguments)):
            return failure(
                f"The call lacks the arguments {', '.join(missing)}. Correct it and call again."
                f"\n{format_schema(replace(self.schema, name=call.tool_name))}",
                brief="invalid call",
            )
        server, name = self._server.name, self._info.name
        description = f"{server}: {sanitize_line(name)}"
        arguments_text = json.dumps(arguments, ensure_ascii=False, indent=2)
        await self._approval.request(
            call,
            action="call MCP tool",
            description=description,
            subject=McpSubject(server, name),
            display=(BriefBlock(f"{description}\n{arguments_text}"),) if arguments else (),
        )
        try:
            result = await self._call_server(name, arguments, call)
        except McpServerError as error:
            return failure(f"{server}: {error}", brief=error.what)
        built = await build_result(result, server=server, output_folder=self._output_folder)
        if built.is_error and self._is_deferred:
            hint = f"If the arguments are wrong, look up {call.tool_name} with SearchMcpTools."
            return replace(built, message=f"{built.message} {hint}")
        return built

    async def _call_server(self, name: str, arguments: dict[str, Any], call: CallContext) -> McpResult:
        progress = _ProgressReporter(call)
        async with call.exclusive():
            return await self._server.call_tool(name, arguments, call, progress)


def _missing_arguments(schema: dict[str, Any], arguments: dict[str, Any]) -> list[str]:
    return [str(name) for name in schema.get("required", ()) if name not in arguments]


class ReadOnlyMcpTool(McpTool):
    """A tool that its server describes as read-only. Its calls run concurrently, and even in plan mode."""

    has_side_effects = False

    async def _call_server(self, name: str, arguments: dict[str, Any], call: CallContext) -> McpResult:
        return await self._server.call_tool(name, arguments, call, _ProgressReporter(call))


class _ProgressReporter:
    """Shows the progress of a call, at a limited rate."""

    def __init__(self, call: CallContext) -> None:
        self._call = call
        self._shown_at = -1.0

    def report(self, progress: float | None, total: float | None, message: str) -> None:
        """Implement `CallProgress.report`."""
        now = time.monotonic()
        if progress is not None and now - self._shown_at < _PROGRESS_INTERVAL_S:
            return
        self._shown_at = now
        count = "" if progress is None else f"{progress:g} of {total:g}" if total else f"{progress:g}"
        text = sanitize_line(message)[:500]
        self._call.show_output(f"{count}  {text}".strip() + "\n")


async def build_result(result: McpResult, *, server: str, output_folder: OutputFolder) -> ToolReturn:
    """Return the tool result for the model and the user."""
    parts = await to_model_content(result.content, output_folder)
    output = parts[0].text if len(parts) == 1 and isinstance(parts[0], TextPart) else parts
    text = sanitize_line(text_of(parts)[: 4 * _MAX_BRIEF_CHARS])
    brief = text[:_MAX_BRIEF_CHARS] + "…" if len(text) > _MAX_BRIEF_CHARS else text
    if result.is_error:
        return failure(
            f"{server} reports an error.",
            output=output,
            brief=brief or "the server reports an error",
        )
    return success(output, brief=brief or ("an image" if parts else "done"))
