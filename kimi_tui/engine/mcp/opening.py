"""Finding the MCP servers of a session that is being opened."""

import asyncio

from kimi_tui.engine.ground import Ground
from kimi_tui.engine.mcp.asking import McpAsking
from kimi_tui.engine.mcp.session_mcp import SessionMcp
from kimi_tui.tools.mcp.server import Surroundings
from kimi_tui.tools.mcp.sources import find_servers
from kimi_tui.tools.shell.output import OutputFolder
from kimi_tui.tools.toolset import Toolset

ATTENDED_S = 3.0
UNATTENDED_S = 10.0
"""How long the first turn may wait for servers: longer where nobody can ask again when a tool was missing."""


async def session_mcp(ground: Ground, *, toolset: Toolset, folder: OutputFolder) -> SessionMcp:
    """The MCP servers of a session, not yet connected. Raises ConfigError for those of the command line."""
    options, workspace, approval, context = ground.options, ground.workspace, ground.approval, ground.context
    found = await asyncio.to_thread(
        find_servers,
        share_dir=options.share_dir,
        work_dir=workspace.work_dir,
        agent_file=ground.spec.mcp,
        wish=options.mcp,
    )
    spend = ground.accounts.spending.add
    return SessionMcp(
        found,
        Surroundings(
            work_dir=workspace.work_dir,
            share_dir=options.share_dir,
            asking=McpAsking(ground.wire, approval=approval, behaviour=ground.behaviour, spend=spend),
            roots=(workspace.work_dir, *workspace.additional_dirs),
        ),
        toolset=toolset,
        excluded=ground.spec.mcp_exclude,
        approval=approval,
        folder=folder,
        history=lambda: context.history,
        send=ground.wire.send,
        patience_s=ATTENDED_S if options.interactive else UNATTENDED_S,
    )
