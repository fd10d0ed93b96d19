"""Catalog of the tools of MCP servers, under the names that the model uses."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.mcp.resource_tools import ListMcpResources, ReadMcpResource
from kimi_tui.mcp.server import McpServer
from kimi_tui.mcp.servers import McpServers
from kimi_tui.mcp.tool import McpTool, ReadOnlyMcpTool
from kimi_tui.mcp.tool_names import is_excluded, unique_tool_names
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.tools.tool import Tool

_MAX_NAMED = 3


@frozen
class McpToolCatalog:
    """Tools by name, tool names by server, and the tools that can't be used."""

    tools: Mapping[str, Tool[Any]] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Maps a server's name to the names of its tools."""
    unusable: Mapping[str, str] = field(default_factory=dict)
    """Maps a server's name to a sentence about its unusable tools."""


def build_tool_catalog(
    servers: Sequence[McpServer],
    *,
    reserved_names: Collection[str],
    excluded: Collection[str],
    approval: Approval,
    folder: OutputFolder,
    all_servers: McpServers,
    trusted_hints: Collection[str] = (),
) -> McpToolCatalog:
    """Return the tools of `servers`, except those that match `excluded`.

    `reserved_names` are the names of the agent's own tools. If a server has resources, the catalog includes
    tools to list and read the resources of the servers of `all_servers`. Only the servers in `trusted_hints`
    are believed which of their tools are read-only.
    """
    tools: dict[tuple[str, str], Tool[Any]] = {}
    unusable: dict[str, list[str]] = {}
    for server in servers:
        for info in server.features.tools:
            key = (server.name, info.name)
            if is_excluded(key, excluded) or key in tools:
                continue
            if info.unusable_reason:
                unusable.setdefault(server.name, []).append(
                    f"{sanitize_line(info.name)[:64]} ({info.unusable_reason})"
                )
                continue
            kind = ReadOnlyMcpTool if info.is_read_only and server.name in trusted_hints else McpTool
            tools[key] = kind(server, info, approval=approval, output_folder=folder)
    resource_tools = _build_resource_tools(servers, all_servers, approval=approval, folder=folder)
    keys_by_name = unique_tool_names(tuple(tools), reserved_names={*reserved_names, *resource_tools})
    names: dict[str, tuple[str, ...]] = {}
    for name, (server_name, _) in keys_by_name.items():
        names[server_name] = (*names.get(server_name, ()), name)
    return McpToolCatalog(
        {**{name: tools[key] for name, key in keys_by_name.items()}, **resource_tools},
        names,
        {name: _describe_problems(problems) for name, problems in unusable.items()},
    )


def _build_resource_tools(
    servers: Sequence[McpServer], all_servers: McpServers, *, approval: Approval, folder: OutputFolder
) -> dict[str, Tool[Any]]:
    if not any(server.features.resources or server.features.templates for server in servers):
        return {}
    return {
        ListMcpResources.name: ListMcpResources(all_servers),
        ReadMcpResource.name: ReadMcpResource(all_servers, approval=approval, output_folder=folder),
    }


def _describe_problems(problems: Sequence[str]) -> str:
    more = msg(" and {rest} more", rest=len(problems) - _MAX_NAMED) if len(problems) > _MAX_NAMED else ""
    return f"Left out: {', '.join(problems[:_MAX_NAMED])}{more}."
