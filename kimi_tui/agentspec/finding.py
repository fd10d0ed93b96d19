"""Finding agents by name: the user's, the bundled ones, the project's."""

import re
from pathlib import Path
from typing import Literal

from kimi_tui.agentspec.document import nearest
from kimi_tui.agentspec.loading import AGENT_FILE
from kimi_tui.base.assets import asset_path
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.terminal import plain_line
from kimi_tui.base.value import value

_NAME = re.compile(r"\w[\w.-]*")


@value
class FoundAgent:
    """An agent that can be named."""

    name: str
    path: Path
    origin: Literal["user", "bundled", "project"]


def list_agents(*, work_dir: Path, share_dir: Path) -> tuple[FoundAgent, ...]:
    """All agents that `find_agent` finds, by name.

    The user's own come first, then the bundled ones, then the project's: who clones a project gets no other
    agent under a name that was known before.
    """
    found: dict[str, FoundAgent] = {}
    for folder, origin in _folders(work_dir, share_dir):
        for path in sorted(folder.glob(f"*/{AGENT_FILE}")):
            found.setdefault(path.parent.name, FoundAgent(path.parent.name, path, origin))
    return tuple(found[name] for name in sorted(found))


def find_agent(name: str, *, work_dir: Path, share_dir: Path) -> Path:
    """The file of the agent called `name`. Raises ConfigError that lists near names, or all."""
    if _NAME.fullmatch(name):
        for folder, _ in _folders(work_dir, share_dir):
            path = folder / name / AGENT_FILE
            if path.is_file():
                return path
    known = [agent.name for agent in list_agents(work_dir=work_dir, share_dir=share_dir)]
    hint = nearest(name, known, what="agents")
    if "/" in name or name.endswith((".yaml", ".yml")):
        hint = "Give the path of a file with --agent-file."
    raise ConfigError(f"There is no agent “{plain_line(name)}”.", hint=hint)


def is_of_project(path: Path, *, work_dir: Path, share_dir: Path) -> bool:
    """Whether the agent file at `path` came with the project, by where it was found."""
    return path.is_relative_to(_of_project(work_dir)) and not path.is_relative_to(share_dir)


def _of_project(work_dir: Path) -> Path:
    return work_dir / ".kimi-tui" / "agents"


def _folders(
    work_dir: Path, share_dir: Path
) -> tuple[tuple[Path, Literal["user", "bundled", "project"]], ...]:
    return (
        (share_dir / "agents", "user"),
        (asset_path("agents"), "bundled"),
        (_of_project(work_dir), "project"),
    )
