"""Which MCP servers a session has: from which files, and which of them are trusted."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.value import value
from kimi_tui.config.project_mcp import is_trusted_mcp, mcp_source, project_mcp_path
from kimi_tui.tools.mcp.config_file import servers_in, source_of_text
from kimi_tui.tools.mcp.server_config import ServerEntry


@value
class McpWish:
    """What the command line and a client ask for."""

    texts: tuple[str, ...] = ()
    """Configs as JSON, over all others."""
    files: tuple[Path, ...] = ()
    """Configs to read in place of the user's and the project's."""
    servers: tuple[ServerEntry, ...] = ()
    """Servers that a client brings along, over all others."""


@value
class FoundServers:
    """The servers of a session, each name once, and what of the configs is not used, and why."""

    entries: tuple[ServerEntry, ...] = ()
    problems: tuple[str, ...] = ()


def user_mcp_path(share_dir: Path) -> Path:
    """The user's MCP config."""
    return share_dir / "mcp.json"


def find_servers(
    *, share_dir: Path, work_dir: Path, agent_file: Path | None = None, wish: McpWish = McpWish()
) -> FoundServers:
    """The servers of every place: later ones replace earlier ones of the same name.

    The user's file, the project's when it is trusted, the agent's, those of the command line. A file of the
    first three that can't be read costs itself. Raises ConfigError for what the command line names.
    """
    entries: dict[str, ServerEntry] = {}
    problems: list[str] = []
    user, project = user_mcp_path(share_dir), project_mcp_path(work_dir, share_dir)
    standing = [] if wish.files else [user if user.is_file() else None, project]
    for path in filter(None, (*standing, agent_file)):
        try:
            source = mcp_source(path)
            found = _by_name(servers_in(source))
            if path is project and found and not is_trusted_mcp(source, share_dir):
                problems.append(_untrusted(path, found))
            else:
                entries |= found
        except ConfigError as error:
            problems.append(str(error))
    for path in wish.files:
        entries |= _by_name(servers_in(mcp_source(path)))
    for text in wish.texts:
        entries |= _by_name(servers_in(source_of_text(text)))
    entries |= _by_name(wish.servers)
    return FoundServers(tuple(entries.values()), tuple(problems))


def _untrusted(path: Path, names: Iterable[str]) -> str:
    return (
        f"{path} names servers ({', '.join(names)}), which are not used: you haven't said that you trust it."
        " Start kimi-tui here once in a terminal to look at it."
    )


def _by_name(entries: Sequence[ServerEntry]) -> dict[str, ServerEntry]:
    return {entry.name: entry for entry in entries}
