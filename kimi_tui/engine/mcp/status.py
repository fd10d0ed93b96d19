"""How the MCP servers are, as the Wire tells it."""

from kimi_tui.base.terminal import plain_line
from kimi_tui.engine.mcp.offered import OfferedTools
from kimi_tui.engine.mcp.prompts import command_name
from kimi_tui.tools.mcp.server import McpServer
from kimi_tui.tools.mcp.server_config import UnusableServer
from kimi_tui.tools.mcp.servers import McpServers
from kimi_tui.wire.mcp import McpResource, McpServerStatus, McpStatus

_MOST_RESOURCES = 500


def status_of(servers: McpServers, offered: OfferedTools) -> McpStatus:
    """Every server that is not switched off, in the order of the configs."""
    told = [
        *(_server(server, offered) for server in servers.all),
        *(_unusable(entry) for entry in servers.unusable if entry.problem),
    ]
    return McpStatus(
        loading=not servers.is_settled,
        connected=len(servers.connected),
        total=len(told),
        tools=sum(len(names) for names in offered.names.values()),
        servers=tuple(told),
    )


def listed(status: McpStatus) -> str:
    """The same in lines, for front ends that have no screen for it."""
    lines = []
    for server in status.servers:
        line = f"{server.name}: {server.status}"
        if server.status == "connected":
            line += f", {len(server.tools)} tools"
        lines.append(f"{line}. {server.error}".rstrip() if server.error else line)
    return "\n".join(lines)


def _server(server: McpServer, offered: OfferedTools) -> McpServerStatus:
    problem = server.problem if server.state != "connected" else None
    return McpServerStatus(
        name=server.name,
        status=server.state,
        tools=offered.names.get(server.name, ()),
        error=str(problem) if problem is not None else offered.left_out.get(server.name, ""),
        transport=server.config.transport,
        target=plain_line(server.config.target)[:200],
        title=plain_line(server.offer.title)[:100],
        prompts=tuple(command_name(server, prompt) for prompt in server.offer.prompts),
        resources=tuple(
            McpResource(plain_line(it.uri), plain_line(it.name)[:100])
            for it in server.offer.resources[:_MOST_RESOURCES]
        ),
    )


def _unusable(entry: UnusableServer) -> McpServerStatus:
    return McpServerStatus(name=entry.name, status="failed", error=entry.problem)
