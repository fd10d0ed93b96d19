"""Tools for a model to list and read the resources of MCP servers."""

from pydantic import Field

from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.server_features import ResourceInfo
from kimi_tui.mcp.servers import McpServers
from kimi_tui.mcp.tool import build_result
from kimi_tui.permission.subject import McpSubject
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.events import ToolReturn

READ_ACTION = "resources/read"
"""Tool name for reading resources in a rule: `MCP(server:resources/read)`."""
_MAX_LISTED = 500


class ListMcpResourcesParams(ToolParams):
    """Parameters of ListMcpResources."""

    server: str = Field(default="", description="List only the resources of this MCP server.")


class ListMcpResources(Tool[ListMcpResourcesParams]):
    """Lists the resources of connected servers."""

    name = "ListMcpResources"
    Params = ListMcpResourcesParams

    def __init__(self, servers: McpServers) -> None:
        self._servers = servers

    async def run(self, params: ListMcpResourcesParams, call: CallContext) -> ToolReturn:
        """Return one line per resource, grouped by server."""
        servers = [it for it in self._servers.all if params.server in ("", it.name)]
        if params.server and not servers:
            names = ", ".join(it.name for it in self._servers.all)
            return failure(f"The MCP server {params.server} doesn't exist. Available servers: {names}.")
        lines: list[str] = []
        for server in servers:
            resources = [*server.features.resources, *server.features.templates]
            lines += [f"{server.name}  {_format_resource(it)}" for it in resources[:_MAX_LISTED]]
            if len(resources) > _MAX_LISTED:
                lines.append(f"{server.name}  [{len(resources) - _MAX_LISTED:,} more omitted]")
        message = (
            "Use ReadMcpResource to read one. Fill in {placeholders} first."
            if lines
            else "No resources available."
        )
        return success("\n".join(lines), message=message, brief=msg("{count} resources", count=len(lines)))


class ReadMcpResourceParams(ToolParams):
    """Parameters of ReadMcpResource."""

    server: str = Field(description="The MCP server that has the resource.")
    uri: str = Field(description="The URI of the resource, as listed.")


class ReadMcpResource(Tool[ReadMcpResourceParams]):
    """Reads a resource of a server, with the user's approval."""

    name = "ReadMcpResource"
    Params = ReadMcpResourceParams

    def __init__(self, servers: McpServers, *, approval: Approval, output_folder: OutputFolder) -> None:
        self._servers = servers
        self._approval = approval
        self._output_folder = output_folder

    async def run(self, params: ReadMcpResourceParams, call: CallContext) -> ToolReturn:
        """Return the content of the resource."""
        server = next((it for it in self._servers.all if it.name == params.server), None)
        if server is None:
            names = ", ".join(it.name for it in self._servers.all)
            return failure(f"The MCP server {params.server} doesn't exist. Available servers: {names}.")
        await self._approval.request(
            call,
            action="read MCP resource",
            description=f"{server.name}: {sanitize_line(params.uri)}",
            subject=McpSubject(server.name, READ_ACTION),
        )
        try:
            result = await server.read_resource(params.uri)
        except McpServerError as error:
            return failure(f"{server.name}: {error}", brief=error.what)
        return await build_result(result, server=server.name, output_folder=self._output_folder)


def _format_resource(resource: ResourceInfo) -> str:
    details = " · ".join(
        sanitize_line(word)[:200]
        for word in (resource.name, resource.media_type, resource.description)
        if word
    )
    return f"{sanitize_line(resource.uri)}  {details}".rstrip()
