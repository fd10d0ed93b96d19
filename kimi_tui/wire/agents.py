"""The agents that a session can be begun with, as front ends list them."""

from typing import Literal

from kimi_tui.base.value import value

AgentOrigin = Literal["user", "bundled", "project"]


@value
class ListedSubagent:
    """An agent that another one gives work to."""

    name: str
    description: str


@value
class ListedAgent:
    """One agent."""

    name: str
    origin: AgentOrigin
    description: str = ""
    model: str = ""
    """The model that it asks for; empty for the default one."""
    tools: tuple[str, ...] = ()
    subagents: tuple[ListedSubagent, ...] = ()
    problem: str = ""
    """Why it can't be used; empty when it can."""


@value
class AgentList:
    """Ours: the answer to `/agents`."""

    agents: tuple[ListedAgent, ...]
    current: str
    """The name of the session's own."""
