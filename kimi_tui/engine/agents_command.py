"""The slash command /agents."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from kimi_tui.agentspec.finding import FoundAgent, list_agents
from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.engine.slash_book import SlashCommand
from kimi_tui.engine.toolbox import BUILTIN_TOOLS
from kimi_tui.wire.agents import AgentList, ListedAgent, ListedSubagent
from kimi_tui.wire.events import Event


def agents_command(
    *, current: str, work_dir: Path, share_dir: Path, send: Callable[[Event], None]
) -> SlashCommand:
    """Lists the agents that a session can be begun with; `current` is the name of the session's own."""

    def listed() -> AgentList:
        found = list_agents(work_dir=work_dir, share_dir=share_dir)
        return AgentList(tuple(map(_listed, found)), current)

    async def run(_: str) -> None:
        send(await asyncio.to_thread(listed))

    return SlashCommand("agents", "The agents that a session can be begun with", run)


def _listed(agent: FoundAgent) -> ListedAgent:
    try:
        spec = load_agent_spec(agent.path, known_tools=BUILTIN_TOOLS)
    except KimiTuiError as error:
        return ListedAgent(agent.name, agent.origin, problem=str(error))
    return ListedAgent(
        agent.name,
        agent.origin,
        description=spec.description,
        model=spec.model or "",
        tools=tuple(tool.name for tool in spec.tools),
        subagents=tuple(ListedSubagent(name, it.description) for name, it in spec.subagents.items()),
    )
