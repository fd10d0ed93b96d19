"""The slash command /agents."""

import asyncio
from collections.abc import Collection
from pathlib import Path

from kimi_tui.agentspec.discovery import DiscoveredAgent, list_agents
from kimi_tui.agentspec.loader import load_agent_spec
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.engine.build.tool_factory import BUILTIN_TOOLS
from kimi_tui.engine.slash.registry import SlashCommand
from kimi_tui.wire.agent_list import AgentList, AgentListItem, SubagentListItem
from kimi_tui.wire.event_sender import EventSender


def agents_command(
    *, current: str, work_dir: Path, data_dir: Path, untrusted: Collection[Path], sender: EventSender
) -> SlashCommand:
    """Return the command that lists the available agents. `current` is the session's agent."""

    def list_all() -> AgentList:
        agents = list_agents(work_dir=work_dir, data_dir=data_dir, untrusted=untrusted)
        return AgentList(tuple(map(_to_list_item, agents)), current)

    async def run(_: str) -> None:
        sender.send(await asyncio.to_thread(list_all))

    return SlashCommand("agents", "List available agents", run)


def _to_list_item(agent: DiscoveredAgent) -> AgentListItem:
    try:
        spec = load_agent_spec(agent.path, known_tools=BUILTIN_TOOLS)
    except KimiTuiError as error:
        return AgentListItem(agent.name, agent.origin, problem=str(error))
    return AgentListItem(
        agent.name,
        agent.origin,
        description=spec.description,
        model=spec.model or "",
        tools=tuple(tool.name for tool in spec.tools),
        subagents=tuple(SubagentListItem(name, it.description) for name, it in spec.subagents.items()),
    )
