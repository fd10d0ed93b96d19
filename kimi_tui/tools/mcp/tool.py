"""A tool of an MCP server, as one of the agent's tools."""

import json
import time
from typing import Any

from pydantic import BaseModel, ConfigDict

from kimi_tui.base.content import TextPart, text_of
from kimi_tui.base.terminal import plain_line
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.approval import Approval, McpSubject
from kimi_tui.tools.mcp.answer import McpAnswer
from kimi_tui.tools.mcp.content import content_of
from kimi_tui.tools.mcp.offer import ToolOffer
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.server import McpServer
from kimi_tui.tools.shell.output import OutputFolder
from kimi_tui.tools.tool import RunningCall, Tool, failed, ok
from kimi_tui.wire.display import BriefBlock
from kimi_tui.wire.events import ToolReturn

_LONGEST_DESCRIPTION = 8_000
_BETWEEN_PROGRESS_S = 0.1
_BRIEF = 100


class McpParams(BaseModel):
    """Any JSON object: its schema is the server's, and so is checking it."""

    model_config = ConfigDict(extra="allow")


class McpTool(Tool[McpParams]):
    """Asks for consent, then has the server do it. A grant covers this tool of this server."""

    Params = McpParams
    changes_things = True

    def __init__(
        self,
        server: McpServer,
        offer: ToolOffer,
        *,
        approval: Approval,
        folder: OutputFolder,
    ) -> None:
        self._server = server
        self._offer = offer
        self._approval = approval
        self._folder = folder

    @property
    def schema(self) -> ToolSchema:
        """The tool by its server's words. Its name is the one that the toolset has it under."""
        said = self._offer.description.strip()[:_LONGEST_DESCRIPTION]
        description = f"{said}\n\n" if said else ""
        return ToolSchema(
            self._offer.name,
            f"{description}(From the MCP server {self._server.name}.)",
            self._offer.input_schema,
        )

    async def run(self, params: McpParams, call: RunningCall) -> ToolReturn:
        """Its result; what the server says of its progress is shown meanwhile."""
        arguments: dict[str, Any] = params.model_extra or {}
        server, name = self._server.name, self._offer.name
        description = f"{server}: {plain_line(name)}"
        shown = json.dumps(arguments, ensure_ascii=False, indent=2)
        await self._approval.request(
            call,
            action="call MCP tool",
            description=description,
            subject=McpSubject(server, name),
            display=(BriefBlock(f"{description}\n{shown}"),) if arguments else (),
        )
        try:
            answer = await self._asked(name, arguments, call)
        except McpProblem as problem:
            return failed(f"{server}: {problem}", brief=problem.what)
        return await result_of(answer, server=server, folder=self._folder)

    async def _asked(self, name: str, arguments: dict[str, Any], call: RunningCall) -> McpAnswer:
        progress = _Progress(call)
        async with call.turn():
            return await self._server.call(name, arguments, call, on_progress=progress)


class ReadingMcpTool(McpTool):
    """One that its server says changes nothing: such calls run beside each other, and in plan mode."""

    changes_things = False

    async def _asked(self, name: str, arguments: dict[str, Any], call: RunningCall) -> McpAnswer:
        return await self._server.call(name, arguments, call, on_progress=_Progress(call))


class _Progress:
    """Shows how far a call is, not more often than somebody can read."""

    def __init__(self, call: RunningCall) -> None:
        self._call = call
        self._shown_at = -1.0

    def __call__(self, progress: float | None, total: float | None, message: str) -> None:
        now = time.monotonic()
        if progress is not None and now - self._shown_at < _BETWEEN_PROGRESS_S:
            return
        self._shown_at = now
        far = "" if progress is None else f"{progress:g} of {total:g}" if total else f"{progress:g}"
        said = plain_line(message)[:500]
        self._call.show_output(f"{far}  {said}".strip() + "\n")


async def result_of(answer: McpAnswer, *, server: str, folder: OutputFolder) -> ToolReturn:
    """What the model and the user get of `answer`."""
    parts = await content_of(answer.pieces, folder)
    output = parts[0].text if len(parts) == 1 and isinstance(parts[0], TextPart) else parts
    text = plain_line(text_of(parts)[: 4 * _BRIEF])
    brief = text[:_BRIEF] + "…" if len(text) > _BRIEF else text
    if answer.is_error:
        return failed(
            f"{server} reports that it did not work.",
            output=output,
            brief=brief or "the server reports an error",
        )
    return ok(output, brief=brief or ("a picture" if parts else "done"))
