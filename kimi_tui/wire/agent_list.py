"""List of agents that a session can use."""

from typing import Literal

from kimi_tui.base.frozen import frozen

AgentOrigin = Literal["user", "bundled", "project"]


@frozen
class SubagentListItem:
    """A sub-agent of a listed agent."""

    name: str
    description: str


@frozen
class AgentListItem:
    """An agent."""

    name: str
    origin: AgentOrigin
    description: str = ""
    model: str = ""
    """The agent's model; empty for the default model."""
    tools: tuple[str, ...] = ()
    subagents: tuple[SubagentListItem, ...] = ()
    problem: str = ""
    """Why the agent can't be used; empty for a usable agent."""


@frozen
class AgentList:
    """Reply to `/agents`. Not in kimi-cli."""

    agents: tuple[AgentListItem, ...]
    current: str
    """Name of the session's agent."""
