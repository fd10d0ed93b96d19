"""Loading of agents by name. A project's agents must not run external programs if loaded by name."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from kimi_tui.agentspec.discovery import find_agent, is_project_agent
from kimi_tui.agentspec.loader import load_agent_spec
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line


def load_agent_by_name(
    name: str,
    *,
    work_dir: Path,
    data_dir: Path,
    known_tools: Collection[str],
    untrusted: Collection[Path] = (),
) -> ResolvedAgentSpec:
    """Load the agent `name`.

    A project's agents may refer to each other, so none of them is loaded if any of their directories is
    `untrusted`. Agents that run external programs must be loaded by path: in a cloned project, the user may
    not know which programs a name loads.

    Raises: ConfigError, also for a project's agent that runs external programs.
    """
    path = find_agent(name, work_dir=work_dir, data_dir=data_dir)
    if not is_project_agent(path, work_dir=work_dir, data_dir=data_dir):
        return load_agent_spec(path, known_tools=known_tools)
    if any(each.parent == path.parents[1] for each in untrusted):
        raise ConfigError(
            msg("The agent “{name}” belongs to this project, and you don't trust its agents yet.", name=name),
            hint=msg("Review {folder}, then run `kimi-tui trust add`.", folder=path.parents[1]),
        )
    spec = load_agent_spec(path, known_tools=known_tools)
    programs = list(dict.fromkeys(_external_programs(spec, known_tools, set())))
    if programs:
        raise ConfigError(
            msg(
                "The agent “{name}” belongs to this project and runs {programs}.",
                name=name,
                programs=sanitize_line(", ".join(programs)),
            ),
            hint=msg("If you trust it after a review, start it with --agent-file {path}", path=path),
        )
    return spec


def _external_programs(spec: ResolvedAgentSpec, known: Collection[str], seen: set[Path]) -> Iterator[str]:
    seen.add(spec.path)
    for tool in spec.tools:
        if ":" in tool.reference:
            yield f"code from {tool.reference}"
    if spec.mcp is not None:
        yield f"MCP servers from {spec.mcp}"
    for subagent in spec.subagents.values():
        if subagent.path not in seen:
            with suppress(ConfigError):  # it can't run either; the error is reported when it is started
                yield from _external_programs(load_agent_spec(subagent.path, known_tools=known), known, seen)
