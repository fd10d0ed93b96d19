"""The tools by which a model finds and reads what MCP servers hold."""

from collections.abc import Callable, Sequence

from pydantic import Field

from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.approval import Approval, McpSubject
from kimi_tui.tools.mcp.offer import ResourceOffer
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.server import McpServer
from kimi_tui.tools.mcp.tool import result_of
from kimi_tui.tools.shell.output import OutputFolder
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.wire.events import ToolReturn

READING = "resources/read"
"""What reading a resource is called in a rule: `MCP(server:resources/read)`."""
_MOST_LISTED = 500

Servers = Callable[[], Sequence[McpServer]]


class ListMcpResourcesParams(ToolParams):
    """Whose resources."""

    server: str = Field(default="", description="Only those of this MCP server.")


class ListMcpResources(Tool[ListMcpResourcesParams]):
    """Lists the resources that connected servers told of."""

    name = "ListMcpResources"
    Params = ListMcpResourcesParams

    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    async def run(self, params: ListMcpResourcesParams, call: RunningCall) -> ToolReturn:
        """A line a resource, by server."""
        servers = [it for it in self._servers() if params.server in ("", it.name)]
        if params.server and not servers:
            names = ", ".join(it.name for it in self._servers())
            return failed(f"There is no MCP server {params.server}. There are: {names}.")
        lines: list[str] = []
        for server in servers:
            offered = [*server.offer.resources, *server.offer.templates]
            lines += [f"{server.name}  {_line(it)}" for it in offered[:_MOST_LISTED]]
            if len(offered) > _MOST_LISTED:
                lines.append(f"{server.name}  [{len(offered) - _MOST_LISTED:,} more are left out]")
        message = (
            "Read one with ReadMcpResource; fill in {names} in braces first." if lines else "There are none."
        )
        return ok("\n".join(lines), message=message, brief=f"{len(lines)} resources")


class ReadMcpResourceParams(ToolParams):
    """Which resource."""

    server: str = Field(description="The MCP server that has it.")
    uri: str = Field(description="Its URI, as listed.")


class ReadMcpResource(Tool[ReadMcpResourceParams]):
    """Reads a resource of a server, with the user's consent."""

    name = "ReadMcpResource"
    Params = ReadMcpResourceParams

    def __init__(self, servers: Servers, *, approval: Approval, folder: OutputFolder) -> None:
        self._servers = servers
        self._approval = approval
        self._folder = folder

    async def run(self, params: ReadMcpResourceParams, call: RunningCall) -> ToolReturn:
        """What it holds."""
        server = next((it for it in self._servers() if it.name == params.server), None)
        if server is None:
            names = ", ".join(it.name for it in self._servers())
            return failed(f"There is no MCP server {params.server}. There are: {names}.")
        await self._approval.request(
            call,
            action="read MCP resource",
            description=f"{server.name}: {plain_line(params.uri)}",
            subject=McpSubject(server.name, READING),
        )
        try:
            answer = await server.resource(params.uri)
        except McpProblem as problem:
            return failed(f"{server.name}: {problem}", brief=problem.what)
        return await result_of(answer, server=server.name, folder=self._folder)


def _line(it: ResourceOffer) -> str:
    told = " · ".join(plain_line(word)[:200] for word in (it.name, it.media_type, it.description) if word)
    return f"{plain_line(it.uri)}  {told}".rstrip()
