"""Catalog of the tools of MCP servers, under the names that the model uses."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import user_message
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.token_estimate import estimate_tokens
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.mcp.deferred_tool_access import CallMcpTool, SearchMcpTools
from kimi_tui.mcp.deferred_tools import DeferredTools
from kimi_tui.mcp.resource_tools import ListMcpResources, ReadMcpResource
from kimi_tui.mcp.server import McpServer
from kimi_tui.mcp.server_features import ToolInfo
from kimi_tui.mcp.servers import McpServers
from kimi_tui.mcp.tool import McpTool, ReadOnlyMcpTool
from kimi_tui.mcp.tool_names import ToolKey, is_excluded, unique_tool_names
from kimi_tui.soul.agent import tool_text
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.tools.tool import Tool

_MAX_NAMED = 3


@frozen
class McpToolCatalog:
    """Tools by name, tool names by server, and the tools that can't be used."""

    tools: Mapping[str, Tool[Any]] = field(default_factory=dict)
    deferred: Mapping[str, Tool[Any]] = field(default_factory=dict)
    """Tools with large schemas. The model finds and calls them with two of `tools`."""
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
    max_schema_tokens: int | None = None,
) -> McpToolCatalog:
    """Return the tools of `servers`, except those that match `excluded`.

    Tools are deferred if their schemas take more than `max_schema_tokens`. `reserved_names` are the names of
    the agent's own tools. If a server has resources, the catalog includes tools to list and read the
    resources of `all_servers`. Read-only hints count only for servers in `trusted_hints`.
    """
    infos: dict[ToolKey, _UsableTool] = {}
    unusable: dict[str, list[str]] = {}
    for server in servers:
        for info in server.features.tools:
            key = (server.name, info.name)
            if is_excluded(key, excluded) or key in infos:
                continue
            if info.unusable_reason:
                unusable.setdefault(server.name, []).append(
                    f"{sanitize_line(info.name)[:64]} ({info.unusable_reason})"
                )
                continue
            kind = ReadOnlyMcpTool if info.is_read_only and server.name in trusted_hints else McpTool
            infos[key] = _UsableTool(server, info, kind)
    resource_tools = _build_resource_tools(servers, all_servers, approval=approval, folder=folder)
    keys_by_name = unique_tool_names(
        tuple(infos),
        reserved_names={*reserved_names, *resource_tools, SearchMcpTools.name, CallMcpTool.name},
    )
    names: dict[str, tuple[str, ...]] = {}
    for name, (server_name, _) in keys_by_name.items():
        names[server_name] = (*names.get(server_name, ()), name)

    def build(*, is_deferred: bool) -> dict[str, Tool[Any]]:
        return {
            name: infos[key].build(approval, folder, is_deferred=is_deferred)
            for name, key in keys_by_name.items()
        }

    tools = build(is_deferred=False)
    access_tools = _build_access_tools(tools, names, max_schema_tokens)
    return McpToolCatalog(
        {**(access_tools or tools), **resource_tools},
        build(is_deferred=True) if access_tools else {},
        names,
        {name: _describe_problems(problems) for name, problems in unusable.items()},
    )


@frozen
class _UsableTool:
    """A usable tool of a server, and its class."""

    server: McpServer
    info: ToolInfo
    kind: type[McpTool]

    def build(self, approval: Approval, folder: OutputFolder, *, is_deferred: bool) -> McpTool:
        return self.kind(
            self.server, self.info, approval=approval, output_folder=folder, is_deferred=is_deferred
        )


def _build_access_tools(
    tools: Mapping[str, Tool[Any]], names: Mapping[str, tuple[str, ...]], max_tokens: int | None
) -> dict[str, Tool[Any]]:
    """Return the tools to find and call `tools`; empty if the schemas of `tools` are small enough."""
    if max_tokens is None:
        return {}
    schemas = {name: replace(tool.schema, name=name) for name, tool in tools.items()}
    tokens = _count_tokens(schemas.values())
    if tokens <= max_tokens:
        return {}
    deferred = DeferredTools(
        {server: [schemas[name] for name in server_names] for server, server_names in names.items()}
    )
    access_tools: list[Tool[Any]] = [SearchMcpTools(deferred), CallMcpTool(deferred)]
    if _count_tokens(tool.schema for tool in access_tools) >= tokens:
        return {}
    return {tool.name: tool for tool in access_tools}


def _count_tokens(schemas: Iterable[ToolSchema]) -> int:
    return estimate_tokens([user_message("".join(map(tool_text, schemas)))])


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
