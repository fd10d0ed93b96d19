"""MCP servers that the client configures for a session."""

import re
from collections.abc import Sequence

from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer

from kimi_tui.acp.errors import invalid_request
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.mcp.server_config import RemoteServer, ServerConfig, StdioServer

_INVALID_NAME_CHARS = re.compile(r"[\s/:*()\x00-\x1f]+")

McpServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio


def to_server_configs(servers: Sequence[McpServer] | None) -> tuple[ServerConfig, ...]:
    """Return the servers' configs, with names sanitized for use in tool names. Raises RequestError."""
    return tuple(map(_to_server_config, servers or ()))


def _to_server_config(server: McpServer) -> ServerConfig:
    name = _INVALID_NAME_CHARS.sub("-", sanitize_line(server.name))[:64]
    if not name.strip("-"):
        raise invalid_request("An MCP server has no name.")
    match server:
        case McpServerStdio():
            env = {variable.name: variable.value for variable in server.env}
            return StdioServer(name=name, command=server.command, args=tuple(server.args), env=env)
        case HttpMcpServer() | SseMcpServer():
            headers = {header.name: header.value for header in server.headers}
            return RemoteServer(name=name, url=server.url, transport=server.type, headers=headers)
        case AcpMcpServer():
            raise invalid_request(
                f"The MCP server {name} uses the ACP transport, which isn't supported. Use stdio or HTTP."
            )
