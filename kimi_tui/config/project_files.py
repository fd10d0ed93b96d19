"""Files of a project that configure kimi-tui: settings, MCP servers, agents, commands and skills.

They come with a cloned repository, so each takes effect only if the user trusts it (`project_trust`).
`AGENTS.md` isn't among them: it is text for the model.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.config.project_config import dirs_up_to_repository, project_config_path
from kimi_tui.config.project_mcp import has_servers, project_mcp_paths

ProjectFileKind = Literal["settings", "mcp", "agent", "command", "skill"]
AGENTS_FOLDER = ".kimi-tui/agents"
COMMANDS_FOLDER = ".kimi-tui/commands"
SKILL_FOLDERS = (".kimi-tui/skills", ".kimi/skills", ".claude/skills", ".codex/skills", ".agents/skills")
"""Directories with a project's skills, the most important one first."""
USER_SKILL_FOLDERS = (
    ".kimi/skills", ".claude/skills", ".codex/skills", ".config/agents/skills", ".agents/skills",
)  # fmt: skip
"""Directories with the user's skills in the home directory, apart from the data directory."""
AGENT_FILE = "agent.yaml"
SKILL_FILE = "SKILL.md"
MAX_COMMAND_DEPTH = 4
"""Levels of subdirectories that are searched for commands."""


@frozen
class ProjectFile:
    """A file or directory of a project that configures kimi-tui."""

    kind: ProjectFileKind
    path: Path
    """Absolute, as found. For an agent, its directory."""
    name: str
    """Name of the agent, command or skill; the file's name for settings and MCP servers."""


def find_project_files(
    work_dir: Path, *, data_dir: Path, home: Path, extra_skill_dirs: Iterable[str] = ()
) -> tuple[ProjectFile, ...]:
    """Return the project's files for the working directory.

    They are searched up to the root of the repository. The user's own directories aren't part of a project,
    even if the project is the home directory. `extra_skill_dirs` is the setting: relative directories in it
    are in the project.
    """
    user_folders = {data_dir.resolve(), *(_resolve(home / name) for name in USER_SKILL_FOLDERS)}

    def is_in_project(path: Path) -> bool:
        resolved = _resolve(path)
        return not any(resolved.is_relative_to(folder) for folder in user_folders)

    return tuple(
        file
        for file in dict.fromkeys(_candidates(work_dir, data_dir, extra_skill_dirs))
        if is_in_project(file.path)
    )


def raw_skill_dirs(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return `extra_skill_dirs` in settings that aren't validated yet. Invalid values are ignored."""
    value = data.get("extra_skill_dirs")
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def project_skill_folders(work_dir: Path) -> tuple[Path, ...]:
    """Return the directories with the project's skills, the most important one first."""
    return tuple(folder / name for folder in dirs_up_to_repository(work_dir) for name in SKILL_FOLDERS)


def project_command_folders(work_dir: Path) -> tuple[Path, ...]:
    """Return the directories with the project's commands, the most important one first."""
    return tuple(folder / COMMANDS_FOLDER for folder in dirs_up_to_repository(work_dir))


def find_command_files(folder: Path) -> Iterator[Path]:
    """Yield the Markdown files in `folder` and its subdirectories, in order."""
    for dir_path, subfolders, files in os.walk(folder):
        depth = len(Path(dir_path).relative_to(folder).parts)
        subfolders[:] = (
            sorted(it for it in subfolders if not it.startswith(".")) if depth < MAX_COMMAND_DEPTH else []
        )
        yield from (Path(dir_path, name) for name in sorted(files) if name.endswith(".md"))


def find_skill_files(folder: Path) -> list[Path]:
    """Return the SKILL.md files of the skills in `folder`, in order."""
    return _glob(folder, f"*/{SKILL_FILE}")


def _candidates(work_dir: Path, data_dir: Path, extra_skill_dirs: Iterable[str]) -> Iterator[ProjectFile]:
    if (settings := project_config_path(work_dir, data_dir)) is not None:
        yield ProjectFile("settings", settings, settings.name)
    for servers in filter(has_servers, project_mcp_paths(work_dir, data_dir)):
        yield ProjectFile("mcp", servers, servers.name)
    for file in _glob(work_dir / AGENTS_FOLDER, f"*/{AGENT_FILE}"):
        yield ProjectFile("agent", file.parent, file.parent.name)
    for folder in project_command_folders(work_dir):
        for file in find_command_files(folder):
            name = ":".join(file.relative_to(folder).with_suffix("").parts)
            yield ProjectFile("command", file, name)
    relative = (Path(each) for each in extra_skill_dirs if not each.startswith(("~", "/")))
    for folder in (*project_skill_folders(work_dir), *(work_dir / each for each in relative)):
        for file in find_skill_files(folder):
            yield ProjectFile("skill", file, file.parent.name)


def _glob(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _resolve(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
