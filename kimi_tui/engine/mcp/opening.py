"""Finding the MCP servers of a session that is being opened."""

import asyncio

from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.engine.mcp.asking import McpAsking
from kimi_tui.engine.mcp.session_mcp import SessionMcp
from kimi_tui.engine.options import EngineOptions
from kimi_tui.history.context import Context
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.spending import Spending
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.mcp.server import Surroundings
from kimi_tui.tools.mcp.sources import find_servers
from kimi_tui.tools.shell.output import OutputFolder
from kimi_tui.tools.toolset import Toolset
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.channel import Wire

ATTENDED_S = 3.0
UNATTENDED_S = 10.0
"""How long the first turn may wait for servers: longer where nobody can ask again when a tool was missing."""


async def session_mcp(
    wire: Wire,
    options: EngineOptions,
    spec: ResolvedAgentSpec,
    *,
    workspace: Workspace,
    toolset: Toolset,
    approval: Approval,
    behaviour: Behaviour,
    spending: Spending,
    context: Context,
    folder: OutputFolder,
) -> SessionMcp:
    """The MCP servers of a session, not yet connected. Raises ConfigError for those of the command line."""
    found = await asyncio.to_thread(
        find_servers,
        share_dir=options.share_dir,
        work_dir=workspace.work_dir,
        agent_file=spec.mcp,
        wish=options.mcp,
    )
    return SessionMcp(
        found,
        Surroundings(
            work_dir=workspace.work_dir,
            share_dir=options.share_dir,
            asking=McpAsking(wire, approval=approval, behaviour=behaviour, spend=spending.add),
            roots=(workspace.work_dir, *workspace.additional_dirs),
        ),
        toolset=toolset,
        excluded=spec.mcp_exclude,
        approval=approval,
        folder=folder,
        history=lambda: context.history,
        send=wire.send,
        patience_s=ATTENDED_S if options.interactive else UNATTENDED_S,
    )
