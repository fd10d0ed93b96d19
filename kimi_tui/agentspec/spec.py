"""An agent, resolved: what its file and the files that it extends come to."""

from collections.abc import Mapping
from pathlib import Path

from kimi_tui.base.value import value


@value
class ToolRef:
    """A tool of an agent."""

    reference: str
    """A built-in tool's name, or `module:Class`."""
    rename: str | None = None

    @property
    def name(self) -> str:
        """The name that the model knows it by."""
        return self.rename or self.reference.rpartition(":")[2]


@value
class SubagentSpec:
    """An agent that another one may give tasks to."""

    path: Path
    """Its agent file, absolute. It is not read before it is needed."""
    description: str


@value(kw_only=True)
class ResolvedAgentSpec:
    """An agent as it is run."""

    name: str
    version: str
    description: str
    """What it is for, in a line; empty when its file doesn't say."""
    path: Path
    """The agent file, absolute."""
    system_prompt_path: Path
    system_prompt_template: str
    tools: tuple[ToolRef, ...]
    """In the order of the file; what is excluded is gone."""
    model: str | None
    """The configured model that it asks for."""
    mcp: Path | None
    """The file of its MCP servers, absolute."""
    mcp_exclude: tuple[str, ...]
    """MCP tools that it does not get."""
    subagents: Mapping[str, SubagentSpec]
    names_subagents: bool
    """Whether its own file names them, rather than one that it extends: only then may it give work on when it
    is a sub-agent itself."""
    vars: Mapping[str, str]
    """What its system prompt's own variables stand for."""
