"""Discovery of the user's, the bundled and the project's agents by name."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from kimi_tui.agentspec.yaml_document import suggestion_hint
from kimi_tui.base.assets import asset_path
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.config.project_files import AGENT_FILE, AGENTS_FOLDER

_NAME = re.compile(r"\w[\w.-]*")


@frozen
class DiscoveredAgent:
    """An agent that was found by name."""

    name: str
    path: Path
    origin: Literal["user", "bundled", "project"]


def list_agents(
    *, work_dir: Path, data_dir: Path, untrusted: Collection[Path] = ()
) -> tuple[DiscoveredAgent, ...]:
    """Return all agents that `find_agent` finds, sorted by name.

    The user's agents take precedence over bundled agents, and bundled agents over the project's. So a cloned
    project can't replace a known agent. Agents in `untrusted` directories are left out.
    """
    agents: dict[str, DiscoveredAgent] = {}
    for folder, origin in _search_path(work_dir, data_dir):
        for path in sorted(folder.glob(f"*/{AGENT_FILE}")):
            if path.parent not in untrusted:
                agents.setdefault(path.parent.name, DiscoveredAgent(path.parent.name, path, origin))
    return tuple(agents[name] for name in sorted(agents))


def find_agent(name: str, *, work_dir: Path, data_dir: Path) -> Path:
    """Return the file of the agent `name`. Raises ConfigError with a similar name or all names."""
    if _NAME.fullmatch(name):
        for folder, _ in _search_path(work_dir, data_dir):
            path = folder / name / AGENT_FILE
            if path.is_file():
                return path
    known = [agent.name for agent in list_agents(work_dir=work_dir, data_dir=data_dir)]
    hint = suggestion_hint(name, known, what="agents")
    if "/" in name or name.endswith((".yaml", ".yml")):
        hint = "Use --agent-file for the path of a file."
    raise ConfigError(msg("Unknown agent “{name}”.", name=sanitize_line(name)), hint=hint)


def is_project_agent(path: Path, *, work_dir: Path, data_dir: Path) -> bool:
    """Return whether the agent file at `path` is in the project's directory for agents."""
    return path.is_relative_to(_project_agents_dir(work_dir)) and not path.is_relative_to(data_dir)


def _project_agents_dir(work_dir: Path) -> Path:
    return work_dir / AGENTS_FOLDER


def _search_path(
    work_dir: Path, data_dir: Path
) -> tuple[tuple[Path, Literal["user", "bundled", "project"]], ...]:
    return (
        (data_dir / "agents", "user"),
        (asset_path("agents"), "bundled"),
        (_project_agents_dir(work_dir), "project"),
    )
