"""Text of the agent list."""

from typing import assert_never

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.text.cell_width import cell_len, pad_right
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.wire.agent_list import AgentList, AgentListItem, AgentOrigin


def agents_text(agent_list: AgentList) -> tuple[str, str]:
    """Return the headline, and a line for each agent. Sub-agents follow the session's agent."""
    width = max((cell_len(agent.name) for agent in agent_list.agents), default=0)
    lines = []
    for agent in agent_list.agents:
        marker = "●" if agent.name == agent_list.current else " "
        lines.append(f"{marker} {pad_right(sanitize_line(agent.name), width)}  {purpose_text(agent)}")
        if agent.name == agent_list.current:
            prefix = f"  {' ' * width}  ↳"
            lines += [
                f"{prefix} {sanitize_line(it.name)}: {sanitize_line(it.description)}"
                for it in agent.subagents
            ]
    return tr("Agents. Start a session with one: kimi-tui --agent NAME"), "\n".join(lines)


def purpose_text(agent: AgentListItem) -> str:
    """Return the description of an agent, or why it is unavailable."""
    if agent.problem:
        return tr("unavailable: {problem}", problem=sanitize_line(translate_message(agent.problem)))
    return sanitize_line(translate_message(agent.description))


def origin_text(origin: AgentOrigin) -> str:
    """Return the label of an agent's origin."""
    match origin:
        case "user":
            return tr("user")
        case "bundled":
            return tr("built-in")
        case "project":
            return tr("project")
        case _:
            assert_never(origin)
