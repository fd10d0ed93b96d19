"""The agents that a session can be begun with, in words."""

from typing import assert_never

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import retell, say
from kimi_tui.language.width import cells, padded
from kimi_tui.wire.agents import AgentList, AgentOrigin, ListedAgent


def told_agents(listed: AgentList) -> tuple[str, str]:
    """The headline, and a line for each agent; below the session's own, one for each of its sub-agents."""
    width = max((cells(agent.name) for agent in listed.agents), default=0)
    lines = []
    for agent in listed.agents:
        mark = "●" if agent.name == listed.current else " "
        lines.append(f"{mark} {padded(plain_line(agent.name), width)}  {told_purpose(agent)}")
        if agent.name == listed.current:
            below = f"  {' ' * width}  ↳"
            lines += [
                f"{below} {plain_line(it.name)}: {plain_line(it.description)}" for it in agent.subagents
            ]
    return say("Agents. kimi-tui --agent NAME begins a session with one."), "\n".join(lines)


def told_purpose(agent: ListedAgent) -> str:
    """What an agent is for, or why it can't be used."""
    if agent.problem:
        return say("can't be used: {problem}", problem=plain_line(retell(agent.problem)))
    return plain_line(retell(agent.description))


def told_origin(origin: AgentOrigin) -> str:
    """Where an agent comes from."""
    match origin:
        case "user":
            return say("you")
        case "bundled":
            return say("kimi-tui")
        case "project":
            return say("the project")
        case _:
            assert_never(origin)
