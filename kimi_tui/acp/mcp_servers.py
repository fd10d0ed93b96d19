"""MCP servers that the client brings along."""

import re
from collections.abc import Sequence

from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer

from kimi_tui.acp.words import invalid
from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.mcp.server_config import RemoteServer, ServerConfig, StdioServer

_NO_NAME = re.compile(r"[\s/:*()\x00-\x1f]+")

McpServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio


def servers_of(given: Sequence[McpServer] | None) -> tuple[ServerConfig, ...]:
    """The servers, under names that tools can be named after. Raises RequestError."""
    return tuple(map(_server, given or ()))


def _server(server: McpServer) -> ServerConfig:
    name = _NO_NAME.sub("-", plain_line(server.name))[:64]
    if not name.strip("-"):
        raise invalid("An MCP server needs a name.")
    match server:
        case McpServerStdio():
            env = {variable.name: variable.value for variable in server.env}
            return StdioServer(name=name, command=server.command, args=tuple(server.args), env=env)
        case HttpMcpServer() | SseMcpServer():
            headers = {header.name: header.value for header in server.headers}
            return RemoteServer(name=name, url=server.url, transport=server.type, headers=headers)
        case AcpMcpServer():
            raise invalid(
                f"The MCP server {name} can be reached through the editor only, which is not known here."
            )
