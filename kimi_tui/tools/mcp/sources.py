"""Which MCP servers a session has: from which files, and which of them are trusted."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.project import project_file
from kimi_tui.config.source import Source
from kimi_tui.config.trust import Trust
from kimi_tui.tools.mcp.config_file import server_table, servers_in, source_of_file, source_of_text
from kimi_tui.tools.mcp.server_config import ServerEntry

PROJECT_FILE = ".mcp.json"


@dataclass(frozen=True, slots=True)
class McpWish:
    """What the command line asks for."""

    text: str | None = None
    """A config as JSON, over all others."""
    files: tuple[Path, ...] = ()
    """Configs to read in place of the user's and the project's."""


@dataclass(frozen=True, slots=True)
class FoundServers:
    """The servers of a session, each name once, and what could not be read."""

    entries: tuple[ServerEntry, ...] = ()
    problems: tuple[str, ...] = ()


def user_mcp_path(share_dir: Path) -> Path:
    """The user's MCP config."""
    return share_dir / "mcp.json"


def project_mcp(work_dir: Path, share_dir: Path) -> Path | None:
    """`.mcp.json` of the work dir or of the repository around it."""
    return project_file(work_dir, share_dir, PROJECT_FILE)


def untrusted_project_mcp(work_dir: Path, share_dir: Path) -> Source | None:
    """The project's MCP config when it names servers that the user hasn't said yes to.

    One that can't be read is none: that is told when the session looks for servers.
    """
    path = project_mcp(work_dir, share_dir)
    if path is None:
        return None
    try:
        source = source_of_file(path)
        names_servers = bool(server_table(source))
    except ConfigError:
        return None
    return source if names_servers and not _is_trusted(source, share_dir) else None


def find_servers(
    *, share_dir: Path, work_dir: Path, agent_file: Path | None = None, wish: McpWish = McpWish()
) -> FoundServers:
    """The servers of every place: later ones replace earlier ones of the same name.

    The user's file, the project's when it is trusted, the agent's, those of the command line. A file of the
    first three that can't be read costs itself. Raises ConfigError for what the command line names.
    """
    entries: dict[str, ServerEntry] = {}
    problems: list[str] = []
    user, project = user_mcp_path(share_dir), project_mcp(work_dir, share_dir)
    standing = [] if wish.files else [user if user.is_file() else None, project]
    for path in filter(None, (*standing, agent_file)):
        try:
            source = source_of_file(path)
            if path is not project or _is_trusted(source, share_dir):
                entries |= _by_name(servers_in(source))
        except ConfigError as error:
            problems.append(str(error))
    for path in wish.files:
        entries |= _by_name(servers_in(source_of_file(path)))
    if wish.text is not None:
        entries |= _by_name(servers_in(source_of_text(wish.text)))
    return FoundServers(tuple(entries.values()), tuple(problems))


def _is_trusted(project: Source, share_dir: Path) -> bool:
    return project.path is not None and Trust(share_dir).covers(project.path, project.text)


def _by_name(entries: Sequence[ServerEntry]) -> dict[str, ServerEntry]:
    return {entry.name: entry for entry in entries}
