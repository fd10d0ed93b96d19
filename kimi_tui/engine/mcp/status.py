"""Status of the MCP servers for the Wire."""

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.engine.mcp.prompts import command_name
from kimi_tui.engine.mcp.tool_catalog import McpToolCatalog
from kimi_tui.mcp.server import McpServer
from kimi_tui.mcp.server_config import InvalidServer
from kimi_tui.mcp.servers import McpServers
from kimi_tui.wire.mcp_status import McpResource, McpServerStatus, McpStatus

_MAX_RESOURCES = 500


def build_status(servers: McpServers, catalog: McpToolCatalog) -> McpStatus:
    """Return the status of every enabled server, in the order of the configs."""
    statuses = [
        *(_build_server_status(server, catalog) for server in servers.all),
        *(_build_invalid_server_status(entry) for entry in servers.invalid if entry.problem),
    ]
    return McpStatus(
        loading=not servers.is_settled,
        connected=len(servers.connected),
        total=len(statuses),
        tools=sum(len(names) for names in catalog.names.values()),
        servers=tuple(statuses),
    )


def format_status(status: McpStatus) -> str:
    """Return the status as lines of text, for front ends without an MCP screen."""
    lines = []
    for server in status.servers:
        line = f"{server.name}: {server.status}"
        if server.status == "connected":
            line += f", {len(server.tools)} tools"
        lines.append(f"{line}. {server.error}".rstrip() if server.error else line)
    return "\n".join(lines)


def _build_server_status(server: McpServer, catalog: McpToolCatalog) -> McpServerStatus:
    problem = server.error if server.state != "connected" else None
    return McpServerStatus(
        name=server.name,
        status=server.state,
        tools=catalog.names.get(server.name, ()),
        error=str(problem) if problem is not None else catalog.unusable.get(server.name, ""),
        transport=server.config.transport,
        target=sanitize_line(server.config.target)[:200],
        title=sanitize_line(server.features.title)[:100],
        prompts=tuple(command_name(server, prompt) for prompt in server.features.prompts),
        resources=tuple(
            McpResource(sanitize_line(it.uri), sanitize_line(it.name)[:100])
            for it in server.features.resources[:_MAX_RESOURCES]
        ),
    )


def _build_invalid_server_status(entry: InvalidServer) -> McpServerStatus:
    return McpServerStatus(name=entry.name, status="failed", error=entry.problem)
