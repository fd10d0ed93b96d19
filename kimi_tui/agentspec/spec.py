"""Resolved agent specification: an agent file merged with the files it extends."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from kimi_tui.base.frozen import frozen

Isolation = Literal["none", "workspace"]
"""Where an agent works as a sub-agent: in the working directory, or in a workspace of its own."""
ISOLATIONS: tuple[str, ...] = get_args(Isolation)
KIMI_CLI_AGENT = "kimi"
"""Agent for clients of Kimi CLI: over the Wire, output has its form, and `--session ID` creates a session."""


@frozen
class ToolRef:
    """Reference to a tool of an agent."""

    reference: str
    """Name of a built-in tool, or `module:Class`."""
    rename: str | None = None

    @property
    def name(self) -> str:
        """Name that the model uses."""
        return self.rename or self.reference.rpartition(":")[2]


@frozen
class SubagentSpec:
    """A sub-agent that an agent may start."""

    path: Path
    """Its agent file, absolute. Read when the sub-agent is started."""
    description: str


@frozen(kw_only=True)
class ResolvedAgentSpec:
    """A resolved agent."""

    name: str
    version: str
    description: str
    """One line; empty if the file has none."""
    path: Path
    """The agent file, absolute."""
    system_prompt_path: Path
    system_prompt_template: str
    tools: tuple[ToolRef, ...]
    """In the order of the file, without excluded tools."""
    model: str | None
    """Name of a model in the config."""
    mcp: Path | None
    """Its MCP config file, absolute."""
    mcp_exclude: tuple[str, ...]
    """MCP tools it doesn't get."""
    subagents: Mapping[str, SubagentSpec]
    declares_subagents: bool
    """Whether its own file defines sub-agents, rather than one that it extends. Only then may it start
    sub-agents when it is a sub-agent itself."""
    isolation: Isolation
    vars: Mapping[str, str]
    """Values of the variables in its system prompt."""
