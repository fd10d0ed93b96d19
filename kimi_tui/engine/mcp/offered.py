"""What servers offer, as a session has it: tools by the names that the model knows, and what is left out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any

from kimi_tui.base.terminal import plain_line
from kimi_tui.base.value import value
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.mcp.naming import is_excluded, model_names
from kimi_tui.tools.mcp.resource_tools import ListMcpResources, ReadMcpResource, Servers
from kimi_tui.tools.mcp.server import McpServer
from kimi_tui.tools.mcp.tool import McpTool, ReadingMcpTool
from kimi_tui.tools.shell.output import OutputFolder
from kimi_tui.tools.tool import Tool

_MOST_NAMED = 3


@value
class OfferedTools:
    """Tools by name, and by server."""

    tools: Mapping[str, Tool[Any]] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """A server's name -> the names of its tools."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """A server's name -> which of its tools can't be used, and why."""


def offered_tools(
    servers: Sequence[McpServer],
    *,
    taken: Collection[str],
    excluded: Collection[str],
    approval: Approval,
    folder: OutputFolder,
    reachable: Servers,
) -> OfferedTools:
    """The tools of `servers`. `taken` are the names of the agent's own ones, `excluded` those it doesn't get.

    While a server has resources there are tools to list and read them, of the servers that are `reachable`.
    """
    tools: dict[tuple[str, str], Tool[Any]] = {}
    left_out: dict[str, list[str]] = {}
    for server in servers:
        for offer in server.offer.tools:
            key = (server.name, offer.name)
            if is_excluded(key, excluded) or key in tools:
                continue
            if offer.problem:
                left_out.setdefault(server.name, []).append(
                    f"{plain_line(offer.name)[:64]} ({offer.problem})"
                )
                continue
            kind = ReadingMcpTool if offer.reads_only else McpTool
            tools[key] = kind(server, offer, approval=approval, folder=folder)
    own = _resource_tools(servers, reachable, approval=approval, folder=folder)
    named = model_names(tuple(tools), taken={*taken, *own})
    names: dict[str, tuple[str, ...]] = {}
    for name, (server_name, _) in named.items():
        names[server_name] = (*names.get(server_name, ()), name)
    return OfferedTools(
        {**{name: tools[key] for name, key in named.items()}, **own},
        names,
        {name: _told(problems) for name, problems in left_out.items()},
    )


def _resource_tools(
    servers: Sequence[McpServer], reachable: Servers, *, approval: Approval, folder: OutputFolder
) -> dict[str, Tool[Any]]:
    if not any(server.offer.resources or server.offer.templates for server in servers):
        return {}
    return {
        ListMcpResources.name: ListMcpResources(reachable),
        ReadMcpResource.name: ReadMcpResource(reachable, approval=approval, folder=folder),
    }


def _told(problems: Sequence[str]) -> str:
    more = f" and {len(problems) - _MOST_NAMED} more" if len(problems) > _MOST_NAMED else ""
    return f"Left out: {', '.join(problems[:_MOST_NAMED])}{more}."
