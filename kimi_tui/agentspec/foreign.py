"""Agents by name; those that come with a project must not bring programs of somebody else's choice along."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from kimi_tui.agentspec.finding import find_agent, is_of_project
from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.terminal import plain_line


def named_agent_spec(
    name: str, *, work_dir: Path, share_dir: Path, known_tools: Collection[str]
) -> ResolvedAgentSpec:
    """The agent called `name`. Raises ConfigError, also for one of the project that runs programs of its own.

    A name is no consent to those: who cloned a project hasn't seen what its agents load. A path is.
    """
    path = find_agent(name, work_dir=work_dir, share_dir=share_dir)
    spec = load_agent_spec(path, known_tools=known_tools)
    if not is_of_project(path, work_dir=work_dir, share_dir=share_dir):
        return spec
    programs = list(dict.fromkeys(_programs(spec, known_tools, set())))
    if programs:
        raise ConfigError(
            f"The agent “{name}” comes with this project and runs {plain_line(', '.join(programs))}.",
            hint=f"Look at it, and if you trust it start it by its file: --agent-file {path}",
        )
    return spec


def _programs(spec: ResolvedAgentSpec, known: Collection[str], seen: set[Path]) -> Iterator[str]:
    seen.add(spec.path)
    for tool in spec.tools:
        if ":" in tool.reference:
            yield f"the code of {tool.reference}"
    if spec.mcp is not None:
        yield f"the MCP servers of {spec.mcp}"
    for subagent in spec.subagents.values():
        if subagent.path not in seen:
            with suppress(ConfigError):  # it can't be run either; told once it is asked for
                yield from _programs(load_agent_spec(subagent.path, known_tools=known), known, seen)
