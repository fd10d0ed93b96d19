"""Resolved agent specification: an agent file merged with the files it extends."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from kimi_tui.base.frozen import frozen

Isolation = Literal["none", "workspace"]
"""Where a sub-agent works: in the working directory (`none`), or in its own workspace (`workspace`)."""
ISOLATIONS: tuple[str, ...] = get_args(Isolation)
KIMI_CLI_AGENT = "kimi"
"""Agent for clients of Kimi CLI. Wire output has Kimi CLI's form, and `--session ID` creates a session."""


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
    """Absolute path of the sub-agent's agent file. Read when the sub-agent is started."""
    description: str


@frozen(kw_only=True)
class ResolvedAgentSpec:
    """A resolved agent."""

    name: str
    version: str
    description: str
    """One line; empty without a description."""
    path: Path
    """Absolute path of the agent file."""
    system_prompt_path: Path
    system_prompt_template: str
    tools: tuple[ToolRef, ...]
    """In the order of the file, without excluded tools."""
    model: str | None
    """Name of a model in the config."""
    mcp: Path | None
    """Absolute path of the agent's MCP config file; None without one."""
    mcp_exclude: tuple[str, ...]
    """MCP tools that are hidden from the agent."""
    subagents: Mapping[str, SubagentSpec]
    declares_subagents: bool
    """Whether the agent's own file defines sub-agents, not a file that it extends. Only then can the agent
    start sub-agents when it runs as a sub-agent.
    """
    isolation: Isolation
    vars: Mapping[str, str]
    """Values of the variables in the system prompt."""
