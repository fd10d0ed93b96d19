"""Discovery of the MCP servers for a new session."""

import asyncio
from pathlib import Path

from kimi_tui.engine.build.core import SessionCore
from kimi_tui.engine.mcp.server_import import McpServerImport
from kimi_tui.engine.mcp.server_requests import McpServerRequests
from kimi_tui.engine.mcp.session_mcp import SessionMcp
from kimi_tui.mcp.config_discovery import find_servers
from kimi_tui.mcp.server import ServerContext
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.tools.toolset import Toolset

INTERACTIVE_TIMEOUT_S = 3.0
"""Maximum number of seconds that the first turn waits for servers."""
NONINTERACTIVE_TIMEOUT_S = 10.0
"""The same without a user. It is longer, because no user can repeat the prompt if a tool is missing."""


async def discover_session_mcp(core: SessionCore, *, toolset: Toolset, folder: OutputFolder) -> SessionMcp:
    """Return the MCP servers of a session, not yet connected.

    Raises ConfigError for servers from the command line.
    """
    options, workspace, approval = core.options, core.workspace, core.approval
    call_timeout_ms = options.settings.mcp.client.tool_call_timeout_ms
    servers = await asyncio.to_thread(
        find_servers,
        data_dir=options.data_dir,
        work_dir=workspace.work_dir,
        agent_file=core.spec.mcp,
        selection=options.mcp,
        call_timeout_s=None if call_timeout_ms is None else call_timeout_ms / 1000,
    )
    return SessionMcp(
        servers,
        ServerContext(
            work_dir=workspace.work_dir,
            data_dir=options.data_dir,
            request_handler=McpServerRequests(
                core.wire,
                approval=approval,
                runtime_settings=core.runtime_settings,
                usage_totals=core.session_usage.usage_totals,
            ),
            roots=(workspace.work_dir, *workspace.additional_dirs),
        ),
        toolset=toolset,
        excluded=core.spec.mcp_exclude,
        approval=approval,
        model=core.runtime_settings,
        folder=folder,
        context=core.context,
        sender=core.wire,
        server_import=McpServerImport(
            core.wire,
            data_dir=options.data_dir,
            work_dir=workspace.work_dir,
            home=options.home_dir or Path.home(),
        ),
        offers_import=options.interactive and not options.mcp.files,
        trusted_hints=options.settings.mcp.trust_read_only_hints,
        connect_timeout_s=INTERACTIVE_TIMEOUT_S if options.interactive else NONINTERACTIVE_TIMEOUT_S,
    )
